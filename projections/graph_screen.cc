#include "projections/graph_screen.h"

#include <algorithm>

#include "projections/facts.h"

namespace clawmark {

std::string screened_lines(std::string_view text) {
  if (screen_for_injection(text).empty()) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (const char* mark : {"", "- "}) {
      const std::string with = out + (out.empty() ? "" : "\n") + mark + std::string(line);
      if (line.empty() || !screen_for_injection(with).empty()) continue;
      out = with;
      break;
    }
  }
  return out;
}

}  // namespace clawmark
