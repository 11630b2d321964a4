#include "serve/quote.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uspoof.h>

#include <array>
#include <memory>

#include "base/utf8.h"
#include "base/visible.h"

namespace clawmark {
namespace {

constexpr std::size_t kLookAhead =
    64;  // code points after a bracket in which a marker's words must begin

bool is_opening(char32_t c) {
  if (c < 0x80) return c == '[' || c == '{' || c == '<';
  return c != '(' && (u_charType(static_cast<UChar32>(c)) == U_START_PUNCTUATION || c == '<');
}

const USpoofChecker* spoof_checker() {
  static const std::unique_ptr<USpoofChecker, void (*)(USpoofChecker*)> checker = [] {
    UErrorCode code = U_ZERO_ERROR;
    return std::unique_ptr<USpoofChecker, void (*)(USpoofChecker*)>(uspoof_open(&code),
                                                                    uspoof_close);
  }();
  return checker.get();
}

// Letters only, case folded, and look-alikes of other scripts mapped together (UTS 39 skeleton).
icu::UnicodeString skeleton(const icu::UnicodeString& letters) {
  UErrorCode code = U_ZERO_ERROR;
  const auto* folding = icu::Normalizer2::getNFKCCasefoldInstance(code);
  icu::UnicodeString folded = U_SUCCESS(code) ? folding->normalize(letters, code) : letters;
  icu::UnicodeString out;
  code = U_ZERO_ERROR;
  if (spoof_checker() != nullptr) {
    uspoof_getSkeletonUnicodeString(spoof_checker(), 0, folded, out, &code);
    if (U_SUCCESS(code)) return out;
  }
  return folded;
}

bool reads_like_marker(std::string_view rest) {
  icu::UnicodeString letters;
  std::size_t at = 0;
  for (std::size_t n = 0; n < kLookAhead && at < rest.size(); ++n) {
    const char32_t c = next_code_point(rest, at);
    if (u_isalpha(static_cast<UChar32>(c))) letters.append(static_cast<UChar32>(c));
    if (letters.length() >= 16) break;
  }
  if (letters.length() < 6) return false;
  static const std::array<icu::UnicodeString, 7> kMarks = {
      skeleton("memory"),        skeleton("endofmemory"),   skeleton("endmemory"),
      skeleton("clawmark"),      skeleton("relevantmemor"), skeleton("activememory"),
      skeleton("hindsightmemor")};
  const icu::UnicodeString seen = skeleton(letters);
  for (const auto& mark : kMarks) {
    if (seen.startsWith(mark)) return true;
  }
  return false;
}

}  // namespace

namespace {

// On one line, without what cannot be seen. Tabs stay when blanks are kept.
std::string visible_line(std::string_view text, bool keep_blanks) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::size_t at = 0; at < valid.size();) {
    const char32_t c = next_code_point(valid, at);
    if (keep_blanks && c == '\t') {
      out.push_back('\t');
    } else if (is_space(c) || c == 0x2028 || c == 0x2029 || c == 0x85) {
      out.push_back(' ');
    } else if (!is_invisible(c)) {
      append_code_point(out, c);
    }
  }
  return keep_blanks ? out : collapse_space(out);
}

// Without what reads as one of our marks.
std::string unmarked(const std::string& visible) {
  std::string out;
  out.reserve(visible.size());
  for (std::size_t at = 0; at < visible.size();) {
    const char32_t c = next_code_point(visible, at);
    const std::string_view rest = std::string_view(visible).substr(at);
    if (is_opening(c) && reads_like_marker(rest)) {
      out.push_back('(');
    } else if (c == '<' && rest.starts_with('|')) {
      out.append("< ");
    } else {
      append_code_point(out, c);
    }
  }
  return out;
}

}  // namespace

std::string quote_inline(std::string_view text) {
  return unmarked(visible_line(text, false));
}

std::string quote_line(std::string_view text) {
  return unmarked(visible_line(text, true));
}

std::string shorten(std::string_view text, std::size_t chars_max) {
  if (count_code_points(text) <= chars_max) return std::string(text);
  if (chars_max == 0) return {};
  std::string out(prefix_code_points(text, chars_max - 1));
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out + "…";
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

bool is_volatile(std::string_view text) {
  static constexpr std::string_view kSigns[] = {
      "current",  "version", "latest",     "right now",  "at the moment", "today",
      "tomorrow", "tonight", "this week",  "next week",  "this month",    "next month",
      "temporar", "for now", "as of ",     "working on", "status",        "price",
      "balance",  "still ",  "these days", "lately",     "on call",       "now "};
  const std::string lower = " " + lower_ascii(text) + " ";
  for (const auto sign : kSigns) {
    const auto at = lower.find(sign);
    if (at != std::string::npos && at > 0 &&
        !std::isalnum(static_cast<unsigned char>(lower[at - 1]))) {
      return true;
    }
  }
  return false;
}

}  // namespace clawmark
