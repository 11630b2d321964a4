#include "cmd/tui/glyphs.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace clawmark::tui {
namespace {

constexpr std::size_t kMarksMax = 3;
constexpr char32_t kDottedCircle = 0x25CC;

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
}

bool is_mark(char32_t c) {
  const int type = u_charType(static_cast<UChar32>(c));
  return type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK;
}

// Takes no column and says nothing that a terminal shows the same way everywhere.
bool is_dropped(char32_t c) {
  const auto code = static_cast<UChar32>(c);
  return u_charType(code) == U_FORMAT_CHAR || (c >= 0x1F3FB && c <= 0x1F3FF) ||
         u_hasBinaryProperty(code, UCHAR_VARIATION_SELECTOR) != 0 ||
         u_hasBinaryProperty(code, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0;
}

bool is_unknown(char32_t c) {
  const int type = u_charType(static_cast<UChar32>(c));
  return type == U_UNASSIGNED || type == U_PRIVATE_USE_CHAR || type == U_SURROGATE;
}

// Vowels and finals of Hangul join the syllable before them.
bool joins(char32_t c) {
  const int type = u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_HANGUL_SYLLABLE_TYPE);
  return type == U_HST_VOWEL_JAMO || type == U_HST_TRAILING_JAMO;
}

struct Cut {
  std::string text;
  int width = 0;
};

Cut cut(const std::vector<Glyph>& glyphs, int columns) {
  Cut out;
  for (const Glyph& glyph : glyphs) {
    if (out.width + glyph.width > columns) break;
    out.text += glyph.bytes;
    out.width += glyph.width;
  }
  return out;
}

int sum(const std::vector<Glyph>& glyphs) {
  int out = 0;
  for (const Glyph& glyph : glyphs) out += glyph.width;
  return out;
}

}  // namespace

int width_of(char32_t c) {
  if (is_mark(c) || is_dropped(c) || joins(c)) return 0;
  const int wide = u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_EAST_ASIAN_WIDTH);
  return wide == U_EA_WIDE || wide == U_EA_FULLWIDTH ? 2 : 1;
}

std::vector<Glyph> to_glyphs(std::string_view text) {
  std::vector<Glyph> out;
  std::size_t marks = 0;
  for (std::size_t at = 0; at < text.size();) {
    char32_t c = next_code_point(text, at);
    if (is_control(c)) c = U' ';
    if (is_dropped(c)) continue;
    if (is_unknown(c)) c = kReplacement;
    if (is_mark(c) || joins(c)) {
      if (out.empty() || out.back().bytes == " ") {
        out.push_back({});
        append_code_point(out.back().bytes, kDottedCircle);
        marks = 0;
      }
      if (++marks <= kMarksMax) append_code_point(out.back().bytes, c);
      continue;
    }
    out.push_back({{}, width_of(c)});
    append_code_point(out.back().bytes, c);
    marks = 0;
  }
  return out;
}

int width_of(std::string_view text) {
  return sum(to_glyphs(text));
}

std::string fit(std::string_view text, int columns) {
  // No more is looked at than could be shown, with all the marks it may carry.
  const auto looked = static_cast<std::size_t>(std::max(columns, 0)) * 8 + 64;
  const auto glyphs = to_glyphs(prefix_code_points(text, looked));
  if (sum(glyphs) <= columns) return cut(glyphs, columns).text;
  return columns < 1 ? std::string() : cut(glyphs, columns - 1).text + "…";
}

std::string pad(std::string_view text, int columns, bool right) {
  const std::string shown = fit(text, columns);
  const auto blanks = static_cast<std::size_t>(std::max(0, columns - width_of(shown)));
  return right ? std::string(blanks, ' ') + shown : shown + std::string(blanks, ' ');
}

namespace {

void wrap_line(std::string_view line, int columns, std::vector<std::string>& out) {
  const auto glyphs = to_glyphs(line);
  std::size_t indent = 0;
  while (indent < glyphs.size() && glyphs[indent].bytes == " ") ++indent;
  const auto third = static_cast<std::size_t>(columns) / 3;
  const bool listed =
      indent + 1 < glyphs.size() && glyphs[indent].bytes == "-" && glyphs[indent + 1].bytes == " ";
  const std::size_t hang = std::min(indent + (listed ? 2 : 0), third);
  std::string row(std::min(indent, third), ' ');
  int width = static_cast<int>(row.size());
  bool begun = false;  // the row has a word
  const auto flush = [&] {
    while (row.ends_with(' ')) row.pop_back();
    out.push_back(std::exchange(row, std::string(hang, ' ')));
    width = static_cast<int>(hang);
    begun = false;
  };
  for (std::size_t at = indent; at < glyphs.size();) {
    std::size_t end = at;
    int word = 0;
    for (; end < glyphs.size() && glyphs[end].bytes != " "; ++end) word += glyphs[end].width;
    if (begun && width + word > columns) flush();
    for (; at < end; ++at) {
      if (width + glyphs[at].width > columns) flush();
      row += glyphs[at].bytes;
      width += glyphs[at].width;
    }
    begun = true;
    for (; at < glyphs.size() && glyphs[at].bytes == " "; ++at) {
      if (width >= columns) continue;
      row += ' ';
      ++width;
    }
  }
  flush();
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, int columns) {
  std::vector<std::string> out;
  columns = std::max(columns, 4);
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    wrap_line(text.substr(at, end - at), columns, out);
    at = end + 1;
  }
  return out;
}

std::string to_ascii(const Glyph& glyph) {
  constexpr std::array<std::pair<std::string_view, char>, 20> kLike = {
      {{"…", '~'},  {"·", '*'}, {"–", '-'}, {"—", '-'}, {"“", '"'}, {"”", '"'}, {"‘", '\''},
       {"’", '\''}, {"→", '>'}, {"←", '<'}, {"↑", '^'}, {"↓", 'v'}, {"│", '|'}, {"─", '-'},
       {"●", 'o'},  {"▲", '!'}, {"▸", '+'}, {"▾", '-'}, {"▮", '#'}, {"▯", '.'}}};
  if (glyph.bytes.size() == 1) return glyph.bytes;
  for (const auto& [from, to] : kLike) {
    if (glyph.bytes == from) return {to};
  }
  return std::string(static_cast<std::size_t>(glyph.width), '?');
}

}  // namespace clawmark::tui
