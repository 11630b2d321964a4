#pragma once
// Which SQLite is linked: "3.46.1".

#include <string_view>

namespace clawmark {

std::string_view sqlite_version();

}  // namespace clawmark
