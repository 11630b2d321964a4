#include "sources/json_sanitizer.h"

#include <algorithm>
#include <optional>

#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::string_view kLone = "\\uFFFD";

std::optional<unsigned> hex4(std::string_view text) {
  unsigned value = 0;
  for (const char c : text.substr(0, 4)) {
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A' + 10)
                                                  : 16u;
    if (digit == 16u) return std::nullopt;
    value = value * 16 + digit;
  }
  return value;
}

// Bytes at the end that may begin a code point which the next piece completes.
std::size_t open_tail(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if (c < 0x80) return 0;
    if (c >= 0xC0) {
      const std::size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      return need > back ? back : 0;
    }
  }
  return 0;
}

}  // namespace

std::string_view JsonSanitizer::feed(std::string_view piece) {
  if (held_.empty() && piece.find("\\u") == std::string_view::npos && !piece.ends_with('\\') &&
      is_valid_utf8(piece)) {
    return piece;
  }
  joined_.assign(held_).append(piece);
  held_.clear();
  run(joined_, false);
  return out_;
}

std::string_view JsonSanitizer::finish() {
  joined_ = std::move(held_);
  held_.clear();
  run(joined_, true);
  return out_;
}

void JsonSanitizer::run(std::string_view text, bool last) {
  out_.clear();
  std::size_t at = 0;
  const auto hold = [&] { held_.assign(text.substr(at)); };
  while (at < text.size()) {
    const auto slash = std::min(text.find('\\', at), text.size());
    if (slash > at) {
      auto plain = text.substr(at, slash - at);
      if (slash == text.size() && !last) plain.remove_suffix(open_tail(plain));
      is_valid_utf8(plain) ? out_.append(plain) : out_.append(to_valid_utf8(plain));
      at += plain.size();
      if (at < slash) return hold();
      continue;
    }
    const auto rest = text.substr(at);
    if (rest.size() < 2 || (rest[1] == 'u' && rest.size() < 6)) {
      if (!last) return hold();
      out_.append(rest);
      return;
    }
    const auto unit = rest[1] == 'u' ? hex4(rest.substr(2)) : std::nullopt;
    if (!unit || *unit < 0xD800 || *unit > 0xDFFF) {
      const std::size_t length = rest[1] == 'u' && unit ? 6 : 2;
      out_.append(rest.substr(0, length));
      at += length;
      continue;
    }
    if (*unit < 0xDC00) {
      const auto next = rest.substr(6, 6);
      const bool may_pair = std::string_view("\\u").starts_with(next.substr(0, 2));
      if (may_pair && next.size() < 6 && !last) return hold();
      const auto low = next.size() == 6 && may_pair ? hex4(next.substr(2)) : std::nullopt;
      if (low && *low >= 0xDC00 && *low <= 0xDFFF) {
        out_.append(rest.substr(0, 12));
        at += 12;
        continue;
      }
    }
    out_.append(kLone);
    at += 6;
  }
}

}  // namespace clawmark
