#include "serve/history_pattern.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <algorithm>
#include <vector>

#include "base/limits_history.h"
#include "projections/history_grams.h"

namespace clawmark {
namespace {

constexpr int kAtomMin = 3;  // bytes: a group of a signature

RE2::Options options() {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_case_sensitive(false);
  out.set_max_mem(kPatternMemory);
  return out;
}

Error bad_pattern(std::string message) {
  return make_error(ErrorKind::kInvalid, "pattern", "bad_pattern", std::move(message));
}

}  // namespace

struct HistoryPattern::Parts {
  Parts(const std::string& pattern) : expression(pattern, options()), filter(kAtomMin) {}

  RE2 expression;
  re2::FilteredRE2 filter;
  std::vector<GramNeedle> atoms;
};

HistoryPattern::HistoryPattern(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HistoryPattern::HistoryPattern(HistoryPattern&&) noexcept = default;
HistoryPattern& HistoryPattern::operator=(HistoryPattern&&) noexcept = default;
HistoryPattern::~HistoryPattern() = default;

Result<HistoryPattern> HistoryPattern::compile(const std::string& pattern) {
  if (pattern.empty()) return bad_pattern("the pattern is empty");
  if (pattern.size() > kPatternMax) {
    return bad_pattern("the pattern is too costly: it has " + std::to_string(pattern.size()) +
                       " bytes, and " + std::to_string(kPatternMax) + " are the most");
  }
  auto parts = std::make_unique<Parts>("(?m)" + pattern);
  if (!parts->expression.ok()) {
    const auto code = parts->expression.error_code();
    if (code == RE2::ErrorPatternTooLarge || code == RE2::ErrorRepeatSize) {
      return bad_pattern("the pattern is too costly: make it smaller");
    }
    const RE2 as_given(pattern, options());  // its complaint does not show our flags
    return bad_pattern("this is no regular expression (RE2 syntax): " +
                       (as_given.ok() ? parts->expression.error() : as_given.error()));
  }
  int id = 0;
  if (parts->filter.Add("(?m)" + pattern, options(), &id) == RE2::NoError) {
    std::vector<std::string> atoms;
    parts->filter.Compile(&atoms);
    for (const std::string& atom : atoms) parts->atoms.emplace_back(atom);
  }
  return HistoryPattern(std::move(parts));
}

GramTest HistoryPattern::test() const {
  std::vector<int> potential;
  // A pattern that may match without any of its literals is not helped by them.
  if (parts_->atoms.empty()) return nullptr;
  parts_->filter.AllPotentials({}, &potential);
  if (!potential.empty()) return nullptr;
  return [parts = parts_.get(), held = std::vector<int>(),
          found = std::vector<int>()](std::span<const std::uint8_t> signature) mutable {
    held.clear();
    for (std::size_t i = 0; i < parts->atoms.size(); ++i) {
      if (parts->atoms[i].may_be_in(signature)) held.push_back(static_cast<int>(i));
    }
    if (held.empty()) return false;
    if (held.size() == parts->atoms.size()) return true;
    found.clear();
    parts->filter.AllPotentials(held, &found);
    return !found.empty();
  };
}

std::optional<PatternMatch> HistoryPattern::find(std::string_view text,
                                                 const std::function<bool()>& stop) const {
  const re2::StringPiece whole(text.data(), text.size());
  for (std::size_t at = 0; at == 0 || at < text.size();) {
    const std::size_t end = std::min(text.size(), at + kPatternWindow);
    re2::StringPiece match;
    // The whole text with bounds, not a piece of it: what stands beside a window decides whether
    // ^, $ and \b hold at its edges.
    if (parts_->expression.Match(whole, at, end, RE2::UNANCHORED, &match, 1)) {
      const auto begin = static_cast<std::size_t>(match.data() - whole.data());
      return PatternMatch{begin, begin + match.size()};
    }
    if (end == text.size() || (stop && stop())) return std::nullopt;
    at = end - kPatternWindowOverlap;
  }
  return std::nullopt;
}

}  // namespace clawmark
