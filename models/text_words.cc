#include "models/text_words.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace clawmark {
namespace {

struct Range {
  char32_t first, last;
};

// Beyond ASCII: what parts words. Everything else counts as a letter.
constexpr Range kSeparators[] = {
    {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},     {0xBB, 0xBF},        {0xD7, 0xD7},
    {0xF7, 0xF7},     {0x37E, 0x37E},   {0x387, 0x387},   {0x55A, 0x55F},      {0x589, 0x58F},
    {0x5BE, 0x5BE},   {0x5C0, 0x5C0},   {0x5C3, 0x5C3},   {0x5F3, 0x5F4},      {0x600, 0x60F},
    {0x61B, 0x61F},   {0x66A, 0x66D},   {0x6D4, 0x6D4},   {0x964, 0x965},      {0xDF4, 0xDF4},
    {0xE2F, 0xE2F},   {0xE3F, 0xE3F},   {0xE46, 0xE46},   {0xE4F, 0xE4F},      {0xE5A, 0xE5B},
    {0x104A, 0x104F}, {0x10FB, 0x10FB}, {0x1360, 0x1368}, {0x17D4, 0x17DA},    {0x2000, 0x206F},
    {0x20A0, 0x20CF}, {0x2190, 0x24FF}, {0x2500, 0x25FF}, {0x2E00, 0x2E7F},    {0x2FF0, 0x3004},
    {0x3008, 0x3020}, {0x3030, 0x3030}, {0x303D, 0x303F}, {0x30FB, 0x30FB},    {0xD800, 0xF8FF},
    {0xFE10, 0xFE1F}, {0xFE30, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF00, 0xFF0F},    {0xFF1A, 0xFF20},
    {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}, {0xE0000, 0x10FFFF},
};
constexpr Range kUnspacedScripts[] = {
    {0xE00, 0xEFF},   {0x1000, 0x109F}, {0x1100, 0x11FF}, {0x1780, 0x17FF}, {0x2E80, 0x2FDF},
    {0x3005, 0x3007}, {0x3021, 0x302F}, {0x3031, 0x303C}, {0x3040, 0x31FF}, {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF}, {0xA960, 0xA97F}, {0xAC00, 0xD7FF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF},
};
constexpr Range kPictures[] = {{0x2600, 0x27BF}, {0x2B00, 0x2BFF}, {0x1F000, 0x1FAFF}};
// Vowel signs and joiners that are often left out in writing: no part of the word.
constexpr Range kIgnored[] = {{0xAD, 0xAD},     {0x591, 0x5BD},   {0x610, 0x61A},
                              {0x640, 0x640},   {0x64B, 0x65F},   {0x670, 0x670},
                              {0x200B, 0x200F}, {0xFE00, 0xFE0F}, {0x1F3FB, 0x1F3FF}};

template <std::size_t N>
bool in(const Range (&ranges)[N], char32_t c) {
  const auto after = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                      [](char32_t x, const Range& r) { return x < r.first; });
  return after != std::begin(ranges) && c <= std::prev(after)->last;
}

enum class Class { kSeparator, kLetter, kDigit, kUnspaced, kPicture };

Class class_of(char32_t c) {
  if (c < 0x80) {
    if (c >= '0' && c <= '9') return Class::kDigit;
    const char32_t lower = c | 0x20;
    return lower >= 'a' && lower <= 'z' ? Class::kLetter : Class::kSeparator;
  }
  if (c < 0x250) return in(kSeparators, c) ? Class::kSeparator : Class::kLetter;
  if (in(kUnspacedScripts, c)) return Class::kUnspaced;
  if (in(kPictures, c)) return Class::kPicture;
  return in(kSeparators, c) ? Class::kSeparator : Class::kLetter;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

}  // namespace

std::string fold_for_words(std::string_view text) {
  if (is_ascii(text)) return lower_ascii(text);
  const std::string folded = fold_case(text);
  std::string out;
  out.reserve(folded.size());
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t start = at;
    char32_t c = next_code_point(folded, at);
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else if (c == 0x2019 || c == 0x02BC) {
      out.push_back('\'');
    } else if (!in(kIgnored, c)) {
      out.append(folded, start, at - start);
    }
  }
  return out;
}

std::vector<TextWord> split_words(std::string_view folded) {
  std::vector<TextWord> words;
  words.reserve(folded.size() / 5 + 1);
  std::size_t start = std::string_view::npos;  // of the open word
  WordKind kind = WordKind::kLetters;
  const auto close = [&](std::size_t end) {
    if (start != std::string_view::npos) words.push_back({folded.substr(start, end - start), kind});
    start = std::string_view::npos;
  };
  const auto open = [&](std::size_t at, WordKind as) {
    start = at;
    kind = as;
  };
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t here = at;
    const char32_t c = next_code_point(folded, at);
    switch (class_of(c)) {
      case Class::kDigit:
        if (start != std::string_view::npos && kind == WordKind::kUnspaced) close(here);
        if (start == std::string_view::npos) open(here, WordKind::kNumber);
        break;
      case Class::kLetter:
        if (start != std::string_view::npos && kind == WordKind::kUnspaced) close(here);
        if (start == std::string_view::npos) open(here, WordKind::kLetters);
        kind = WordKind::kLetters;
        break;
      case Class::kUnspaced:
        if (start != std::string_view::npos && kind != WordKind::kUnspaced) close(here);
        if (start == std::string_view::npos) open(here, WordKind::kUnspaced);
        break;
      case Class::kPicture:
        close(here);
        words.push_back({folded.substr(here, at - here), WordKind::kSymbol});
        break;
      case Class::kSeparator: {
        const bool inside = c == '\'' && start != std::string_view::npos &&
                            kind == WordKind::kLetters && at < folded.size() &&
                            (folded[at] | 0x20) >= 'a' && (folded[at] | 0x20) <= 'z';
        if (!inside) close(here);
        break;
      }
    }
  }
  close(folded.size());
  return words;
}

std::string light_stem(std::string_view word) {
  std::string stem(word.substr(0, word.find('\'')));
  const auto ends = [&](std::string_view tail) { return stem.ends_with(tail); };
  const auto letters = [](char c) { return c >= 'a' && c <= 'z'; };
  if (stem.size() < 4 || !std::all_of(stem.begin(), stem.end(), letters)) return stem;
  if (ends("ies") && stem.size() > 4) {
    stem.replace(stem.size() - 3, 3, "y");
  } else if (ends("sses") || ends("shes") || ends("ches") || ends("xes")) {
    stem.resize(stem.size() - 2);
  } else if (ends("s") && !ends("ss") && !ends("us") && !ends("is")) {
    stem.pop_back();
  }
  if (ends("ing") && stem.size() > 5) {
    stem.resize(stem.size() - 3);
  } else if (ends("ed") && stem.size() > 4) {
    stem.resize(stem.size() - 2);
  } else if (ends("ly") && stem.size() > 5) {
    stem.resize(stem.size() - 2);
  }
  if (stem.size() > 3 && stem[stem.size() - 1] == stem[stem.size() - 2] && !ends("ss") &&
      !ends("ll") && !ends("ee")) {
    stem.pop_back();
  }
  if (ends("e") && stem.size() > 3) stem.pop_back();
  return stem;
}

}  // namespace clawmark
