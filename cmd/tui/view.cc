#include "cmd/tui/view.h"

#include "base/clock.h"
#include "base/utf8.h"

namespace clawmark::tui {

Request admin(std::string_view command, json::object params) {
  return {"POST", "/v1/admin/" + std::string(command), {{"params", std::move(params)}}};
}

std::string short_time(std::string_view iso, std::string_view zone) {
  const auto time = parse_iso(iso);
  return time ? format_local(*time, zone).substr(0, 16) : std::string();
}

std::string flat(std::string_view text) {
  return collapse_space(text);
}

std::optional<std::string> failure_of(const Answers& answers) {
  for (const auto& answer : answers) {
    if (!answer.ok()) return answer.error().message;
    if (!get_bool(*answer, "ok", true)) return get_string(*answer, "text");
  }
  return std::nullopt;
}

std::vector<const json::object*> objects_of(const json::object& answer, std::string_view key) {
  std::vector<const json::object*> out;
  if (const auto* list = find_array(answer, key)) {
    for (const auto& item : *list) {
      if (item.is_object()) out.push_back(&item.get_object());
    }
  }
  return out;
}

Page text_page(std::string title, Request request) {
  Page page;
  page.title = std::move(title);
  page.load = {{std::move(request)}, [](const Answers& answers, Page& here) {
                 here.text.clear();
                 if (const auto failure = failure_of(answers)) {
                   here.error = *failure;
                 } else {
                   here.text = get_string(*answers.front(), "text");
                 }
                 return std::optional<Load>{};
               }};
  return page;
}

}  // namespace clawmark::tui
