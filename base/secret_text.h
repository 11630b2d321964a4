#pragma once
// Reading of text in steps of words, quotes and values; used by base/secrets alone.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace clawmark::secret {

inline constexpr std::string_view kMark = "[secret:";  // how a placeholder begins

// Bytes [begin, end) of a value, without its quotes.
struct Value {
  std::size_t begin = 0, end = 0;
  bool quoted = false;
};

class Text {
 public:
  explicit Text(std::string_view text) : text_(text) {}

  char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  std::string_view rest(std::size_t at) const { return text_.substr(std::min(at, text_.size())); }
  std::string_view of(const Value& value) const {
    return text_.substr(value.begin, value.end - value.begin);
  }
  std::size_t word_end(std::size_t at) const;
  std::size_t skip_blanks(std::size_t at) const;  // at most eight
  // Over a closing quote, also one that is itself within a JSON string (\"), and "]" or "**".
  std::size_t skip_quote(std::size_t at) const;
  Value value_at(std::size_t at) const;  // quoted or bare
  Value bare_value(std::size_t begin) const;
  std::string_view next_word(std::size_t at) const;
  // Whether a clause ends here: a stop, a line's end, "and".
  bool ends_clause(std::size_t at) const;
  bool is_flag(std::size_t begin) const;  // "--api-key", seen from "key"

 protected:
  std::string_view text_;
};

}  // namespace clawmark::secret
