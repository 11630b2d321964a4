#pragma once
// One line per event to stderr, "<N>component: message" with the sd-daemon(3) priority, so that
// journald files it rightly. Message text and secrets never go here: callers log ids, counts and
// reasons.

#include <string>
#include <string_view>

namespace clawmark {

enum class LogLevel { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6, kDebug = 7 };

void set_log_level(LogLevel level);
void log_line(LogLevel level, std::string_view component, std::string_view message);
inline void log_error(std::string_view c, std::string_view m) {
  log_line(LogLevel::kError, c, m);
}
inline void log_warning(std::string_view c, std::string_view m) {
  log_line(LogLevel::kWarning, c, m);
}
inline void log_info(std::string_view c, std::string_view m) {
  log_line(LogLevel::kInfo, c, m);
}
inline void log_debug(std::string_view c, std::string_view m) {
  log_line(LogLevel::kDebug, c, m);
}

}  // namespace clawmark
