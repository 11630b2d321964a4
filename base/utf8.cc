#include "base/utf8.h"

#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <cstdint>
#include <cstring>

namespace clawmark {
namespace {

struct Lead {
  int length;
  unsigned char second_min, second_max;
};

Lead lead_of(unsigned char b) {
  if (b < 0x80) return {1, 0, 0};
  if (b >= 0xC2 && b <= 0xDF) return {2, 0x80, 0xBF};
  if (b == 0xE0) return {3, 0xA0, 0xBF};
  if (b == 0xED) return {3, 0x80, 0x9F};
  if (b >= 0xE1 && b <= 0xEF) return {3, 0x80, 0xBF};
  if (b == 0xF0) return {4, 0x90, 0xBF};
  if (b >= 0xF1 && b <= 0xF3) return {4, 0x80, 0xBF};
  if (b == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

bool is_ascii_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// Where the run of ASCII that starts at `at` ends, or some bytes before it.
std::size_t skip_ascii(std::string_view text, std::size_t at) {
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  return at;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// One code point at `at`; sets `valid`.
char32_t decode(std::string_view text, std::size_t& at, bool& valid) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const Lead lead = lead_of(first);
  valid = true;
  if (lead.length == 1) {
    ++at;
    return first;
  }
  if (lead.length == 0) {
    ++at;
    valid = false;
    return kReplacement;
  }
  char32_t value = first & (0xFF >> (lead.length + 1));
  const std::size_t start = at++;
  for (int i = 1; i < lead.length; ++i) {
    const unsigned char low = i == 1 ? lead.second_min : 0x80;
    const unsigned char high = i == 1 ? lead.second_max : 0xBF;
    if (at >= text.size() || byte(at) < low || byte(at) > high) {
      at = start + static_cast<std::size_t>(i);
      valid = false;
      return kReplacement;
    }
    value = value << 6 | (byte(at++) & 0x3F);
  }
  return value;
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& at) {
  bool valid = true;
  return decode(text, at, valid);
}

void append_code_point(std::string& out, char32_t c) {
  const auto push = [&](char32_t b) { out.push_back(static_cast<char>(b)); };
  if (c < 0x80) {
    push(c);
  } else if (c < 0x800) {
    push(0xC0 | c >> 6);
    push(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    push(0xE0 | c >> 12);
    push(0x80 | (c >> 6 & 0x3F));
    push(0x80 | (c & 0x3F));
  } else {
    push(0xF0 | c >> 18);
    push(0x80 | (c >> 12 & 0x3F));
    push(0x80 | (c >> 6 & 0x3F));
    push(0x80 | (c & 0x3F));
  }
}

bool is_valid_utf8(std::string_view text) {
  bool valid = true;
  for (std::size_t at = skip_ascii(text, 0); at < text.size() && valid;) {
    decode(text, at, valid);
    at = skip_ascii(text, at);
  }
  return valid;
}

std::string to_valid_utf8(std::string_view text) {
  if (is_valid_utf8(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) append_code_point(out, next_code_point(text, at));
  return out;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const std::size_t plain = skip_ascii(text, at);
    count += plain - at;
    at = plain;
    if (at == text.size()) break;
    next_code_point(text, at);
  }
  return count;
}

std::string_view prefix_bytes(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && is_continuation(text[end])) --end;
  return text.substr(0, end);
}

std::string_view prefix_code_points(std::string_view text, std::size_t count_max) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < count_max && at < text.size(); ++i) next_code_point(text, at);
  return text.substr(0, at);
}

std::string_view suffix_bytes(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t start = text.size() - bytes_max;
  while (start < text.size() && is_continuation(text[start])) ++start;
  return text.substr(start);
}

bool is_space(char32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_ascii_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ascii_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string collapse_space(std::string_view text) {
  std::string out;
  bool gap = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_space(c)) {
      gap = !out.empty();
      continue;
    }
    if (gap) out.push_back(' ');
    gap = false;
    append_code_point(out, c);
  }
  return out;
}

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

std::string fold_case(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* nfkc = icu::Normalizer2::getNFKCCasefoldInstance(status);
  auto input = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  std::string out;
  if (U_FAILURE(status)) {
    input.foldCase();
    input.toUTF8String(out);
    return out;
  }
  nfkc->normalize(input, status).toUTF8String(out);
  return out;
}

bool starts_with_ci(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         lower_ascii(text.substr(0, prefix.size())) == lower_ascii(prefix);
}

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace clawmark
