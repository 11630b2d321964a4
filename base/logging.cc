#include "base/logging.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/secrets.h"

namespace clawmark {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kNotice};
// systemd says so when stderr is its journal, which reads a level from the front of a line.
const bool g_journal = std::getenv("JOURNAL_STREAM") != nullptr;

}  // namespace

void set_log_level(LogLevel level) {
  g_level = level;
}

void log_line(LogLevel level, std::string_view component, std::string_view message) {
  if (level > g_level.load()) return;
  std::string line;
  if (g_journal) line = "<" + std::to_string(static_cast<int>(level)) + ">";
  line.append(component).append(": ");
  for (const char c : redact_secrets(message))
    line.push_back(static_cast<unsigned char>(c) < ' ' ? ' ' : c);
  line.push_back('\n');
  // One write, so that lines of several threads do not mix. Nothing can be done if it fails.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace clawmark
