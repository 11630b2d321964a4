#pragma once
// The files of cmd/web/page, built in.

#include <string_view>

namespace clawmark {

std::string_view web_index_html();
std::string_view web_style_css();
std::string_view web_app_js();
std::string_view web_dom_js();
std::string_view web_memory_js();
std::string_view web_world_js();
std::string_view web_recall_js();
std::string_view web_health_js();

}  // namespace clawmark
