#include "base/secret_text.h"

#include <algorithm>
#include <string>

#include "base/secret_shapes.h"
#include "base/utf8.h"

namespace clawmark::secret {
namespace {

constexpr std::size_t kValueMax = 1024;  // bytes of one value that are looked at

}  // namespace

std::size_t Text::word_end(std::size_t at) const {
  while (at < text_.size() && is_word(text_[at])) ++at;
  return at;
}

std::size_t Text::skip_blanks(std::size_t at) const {
  const std::size_t end = at + 8;
  while (at < end && is_blank(peek(at))) ++at;
  return at;
}

std::size_t Text::skip_quote(std::size_t at) const {
  if (peek(at) == '\\' && (peek(at + 1) == '"' || peek(at + 1) == '\''))
    at += 2;
  else if (peek(at) == '"' || peek(at) == '\'' || peek(at) == '`')
    ++at;
  if (peek(at) == ']') ++at;
  for (int i = 0; i < 2 && peek(at) == '*'; ++i) ++at;
  return at;
}

bool Text::is_flag(std::size_t begin) const {
  std::size_t at = begin;
  while (at > 0 && begin - at < 40 && (is_word(text_[at - 1]) || text_[at - 1] == '-')) {
    --at;
  }
  return text_.substr(at, begin - at).starts_with("--");
}

Value Text::bare_value(std::size_t begin) const {
  Value value{begin, begin, false};
  const std::size_t limit = std::min(text_.size(), begin + kValueMax);
  while (value.end < limit) {
    const char c = text_[value.end];
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' ||
        c == '>' || c == '\\' || (c == '[' && rest(value.end).starts_with(kMark))) {
      break;
    }
    const char next = peek(value.end + 1);
    const bool last = static_cast<unsigned char>(next) <= ' ' || next == '"' || next == '\'';
    if ((c == ',' || c == ';' || c == ')' || c == '}' || c == ']' || c == '|') && last) break;
    if (c == '&' && rest(word_end(value.end + 1)).starts_with("=")) break;
    ++value.end;
  }
  const auto has_digit = [&] {
    return std::any_of(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                       text_.begin() + static_cast<std::ptrdiff_t>(value.end),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  while (value.end > begin &&
         std::string_view(".,;:!?)*}").find(text_[value.end - 1]) != std::string_view::npos) {
    if (text_[value.end - 1] == '!' && has_digit()) break;  // ends passwords as well as sentences
    --value.end;
  }
  return value;
}

Value Text::value_at(std::size_t at) const {
  const bool escaped = peek(at) == '\\' && (peek(at + 1) == '"' || peek(at + 1) == '\'');
  const char quote = escaped ? peek(at + 1) : peek(at);
  if (quote != '"' && quote != '\'' && quote != '`') return bare_value(at);
  const std::size_t begin = at + (escaped ? 2 : 1);
  const std::size_t limit = std::min(text_.size(), begin + kValueMax);
  for (std::size_t end = begin; end < limit && text_[end] != '\n'; ++end) {
    if (text_[end] == '\\' && !escaped) {
      ++end;
      continue;
    }
    if (escaped ? text_[end] == '\\' && peek(end + 1) == quote : text_[end] == quote) {
      return {begin, end, true};
    }
  }
  return bare_value(begin);
}

std::string_view Text::next_word(std::size_t at) const {
  while (at < text_.size() && !is_word(text_[at]) && is_blank(text_[at])) ++at;
  const std::size_t end = word_end(at);
  return text_.substr(at, std::min<std::size_t>(end - at, 16));
}

bool Text::ends_clause(std::size_t at) const {
  if (at >= text_.size() ||
      std::string_view(".,;!?)\"'\n\r").find(text_[at]) != std::string_view::npos) {
    return true;
  }
  const std::string word = lower_ascii(next_word(at));
  return word == "and" || word == "but" || word == "for" || word == "please" || word == "now";
}

}  // namespace clawmark::secret
