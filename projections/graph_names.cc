#include "projections/graph_names.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr double kSameWords = 0.6;  // of the shorter quote

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  const std::string folded = fold_case(text);
  std::string word;
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t start = at;
    const char32_t c = next_code_point(folded, at);
    const bool ascii_mark = c < 0x80 && !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'));
    if (ascii_mark || is_space(c)) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word.append(folded, start, at - start);
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool has_digit(std::string_view word) {
  return word.find_first_of("0123456789") != std::string_view::npos;
}

// What tells names apart that look alike: numbers, single letters, roman numerals.
std::vector<std::string> marks_of(std::string_view name) {
  std::vector<std::string> marks;
  for (const auto& word : words_of(name)) {
    const bool roman = word.size() <= 4 && word.find_first_not_of("ivx") == std::string::npos;
    const bool single = count_code_points(word) == 1;
    if (has_digit(word) || single || roman) marks.push_back(word);
  }
  return marks;
}

}  // namespace

std::string name_key(std::string_view name) {
  std::string key = collapse_space(fold_case(name));
  constexpr std::array<std::string_view, 14> kEnds = {"\"",
                                                      "'",
                                                      "`",
                                                      "*",
                                                      ".",
                                                      ",",
                                                      ";",
                                                      ":",
                                                      "!",
                                                      "?",
                                                      "\xE2\x80\x9C",
                                                      "\xE2\x80\x9D",
                                                      "\xE2\x80\x98",
                                                      "\xE2\x80\x99"};
  for (bool again = true; again && !key.empty();) {
    again = false;
    for (const auto mark : kEnds) {
      // A single mark is a name ("C", ".") only when something is left without it.
      if (key.size() <= mark.size()) continue;
      if (key.ends_with(mark)) {
        key.erase(key.size() - mark.size());
        again = true;
      } else if (key.starts_with(mark) && mark != ".") {
        key.erase(0, mark.size());
        again = true;
      }
    }
    key = std::string(trim(key));
  }
  for (const std::string_view article : {"the ", "a ", "an ", "our "}) {
    if (key.starts_with(article) && key.size() > article.size() + 1) {
      key.erase(0, article.size());
      break;
    }
  }
  return key;
}

bool may_merge_names(std::string_view a, std::string_view b) {
  return marks_of(a) == marks_of(b);
}

bool quotes_overlap(std::string_view a, std::string_view b) {
  const std::string x = collapse_space(fold_case(a)), y = collapse_space(fold_case(b));
  if (x.empty() || y.empty()) return true;  // nothing tells them apart
  if (x.find(y) != std::string::npos || y.find(x) != std::string::npos) return true;
  const auto first = words_of(x), second = words_of(y);
  const std::set<std::string> left(first.begin(), first.end());
  const std::set<std::string> right(second.begin(), second.end());
  const std::size_t least = std::min(left.size(), right.size());
  if (least == 0) return true;
  std::size_t shared = 0;
  for (const auto& word : left) shared += right.contains(word);
  return static_cast<double>(shared) >= kSameWords * static_cast<double>(least);
}

}  // namespace clawmark
