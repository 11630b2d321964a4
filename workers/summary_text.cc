#include "workers/summary_text.h"

#include "base/limits_world.h"
#include "models/summary.h"
#include "projections/facts.h"
#include "projections/graph_screen.h"

namespace clawmark {

std::string why_no_summary(std::string_view summary, std::span<const std::string> texts,
                           std::size_t tokens_max) {
  std::string source;
  for (const auto& text : texts) source += text + "\n";
  std::string why = check_summary(summary, source, tokens_max);
  if (why.empty() && !screen_for_injection(summary).empty()) why = "injection";
  return why;
}

std::string cut_of(std::span<const std::string> texts) {
  std::string cut = screened_lines(cut_summary(texts, kCutChars));
  if (cut.empty()) {
    cut = "Not repeated here: the words of " + std::to_string(texts.size()) +
          (texts.size() == 1 ? " text." : " texts.");
  }
  return cut;
}

}  // namespace clawmark
