#pragma once
// A regular expression over history: RE2, so that no pattern takes longer than the text is long,
// with the literals that any match must hold, by which most texts are passed over unread.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "projections/history.h"

namespace clawmark {

struct PatternMatch {
  std::size_t begin = 0, end = 0;  // bytes
};

class HistoryPattern {
 public:
  // Without regard to case, ^ and $ at lines, unless the pattern says otherwise ("(?-i)…"). Error:
  // invalid, with what is wrong: syntax, or too costly.
  static Result<HistoryPattern> compile(const std::string& pattern);
  HistoryPattern(HistoryPattern&&) noexcept;
  HistoryPattern& operator=(HistoryPattern&&) noexcept;
  ~HistoryPattern();

  // Null when the pattern names no literal of three bytes. Lives no longer than the pattern.
  GramTest test() const;
  // The first match. Long texts are looked through window by window; `stop` is asked between two.
  std::optional<PatternMatch> find(std::string_view text, const std::function<bool()>& stop) const;

 private:
  struct Parts;
  explicit HistoryPattern(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace clawmark
