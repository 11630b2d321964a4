#include "projections/porter.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace clawmark {
namespace {

bool is_consonant(std::string_view w, std::size_t i) {
  switch (w[i]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
      return false;
    case 'y':
      return i == 0 || !is_consonant(w, i - 1);
    default:
      return true;
  }
}

// Number of vowel-consonant sequences.
int measure(std::string_view stem) {
  int count = 0;
  bool vowel = false;
  for (std::size_t i = 0; i < stem.size(); ++i) {
    const bool consonant = is_consonant(stem, i);
    if (consonant && vowel) ++count;
    vowel = !consonant;
  }
  return count;
}

bool has_vowel(std::string_view stem) {
  for (std::size_t i = 0; i < stem.size(); ++i) {
    if (!is_consonant(stem, i)) return true;
  }
  return false;
}

bool double_consonant(std::string_view w) {
  return w.size() >= 2 && w[w.size() - 1] == w[w.size() - 2] && is_consonant(w, w.size() - 1);
}

// consonant-vowel-consonant where the last is not w, x or y
bool cvc(std::string_view w) {
  const std::size_t n = w.size();
  if (n < 3 || !is_consonant(w, n - 1) || is_consonant(w, n - 2) || !is_consonant(w, n - 3)) {
    return false;
  }
  return w[n - 1] != 'w' && w[n - 1] != 'x' && w[n - 1] != 'y';
}

struct Suffix {
  std::string_view from, to;
};

std::string_view stem_of(const std::string& word, std::string_view suffix) {
  return std::string_view(word).substr(0, word.size() - suffix.size());
}

// The first suffix that fits decides, whether or not its condition holds.
void replace_first(std::string& word, std::span<const Suffix> suffixes, int measure_min) {
  for (const auto& [from, to] : suffixes) {
    if (!word.ends_with(from)) continue;
    if (measure(stem_of(word, from)) > measure_min) {
      word.resize(word.size() - from.size());
      word += to;
    }
    return;
  }
}

void step_1a(std::string& w) {
  if (w.ends_with("sses") || w.ends_with("ies")) {
    w.resize(w.size() - 2);
  } else if (w.ends_with("s") && !w.ends_with("ss")) {
    w.pop_back();
  }
}

void step_1b(std::string& w) {
  if (w.ends_with("eed")) {
    if (measure(stem_of(w, "eed")) > 0) w.pop_back();
    return;
  }
  if (w.ends_with("ed") && has_vowel(stem_of(w, "ed"))) {
    w.resize(w.size() - 2);
  } else if (w.ends_with("ing") && has_vowel(stem_of(w, "ing"))) {
    w.resize(w.size() - 3);
  } else {
    return;
  }
  if (w.ends_with("at") || w.ends_with("bl") || w.ends_with("iz")) {
    w += 'e';
  } else if (double_consonant(w) && w.back() != 'l' && w.back() != 's' && w.back() != 'z') {
    w.pop_back();
  } else if (measure(w) == 1 && cvc(w)) {
    w += 'e';
  }
}

void step_1c(std::string& w) {
  if (w.ends_with("y") && has_vowel(stem_of(w, "y"))) w.back() = 'i';
}

constexpr Suffix kStep2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
    {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
    {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"},
    {"logi", "log"}};
constexpr Suffix kStep3[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                             {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
constexpr std::string_view kStep4[] = {"al",  "ance",  "ence", "er",  "ic",  "able", "ible",
                                       "ant", "ement", "ment", "ent", "ion", "ou",   "ism",
                                       "ate", "iti",   "ous",  "ive", "ize"};

void step_4(std::string& w) {
  for (const auto suffix : kStep4) {
    if (!w.ends_with(suffix)) continue;
    const auto stem = stem_of(w, suffix);
    const bool fits =
        suffix != "ion" || (!stem.empty() && (stem.back() == 's' || stem.back() == 't'));
    if (fits && measure(stem) > 1) w.resize(stem.size());
    return;
  }
}

void step_5(std::string& w) {
  if (w.ends_with("e")) {
    const auto stem = stem_of(w, "e");
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !cvc(stem))) w.pop_back();
  }
  if (w.ends_with("ll") && measure(w) > 1) w.pop_back();
}

}  // namespace

void porter_stem(std::string& word) {
  if (word.size() < 3) return;
  if (!std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; })) return;
  step_1a(word);
  step_1b(word);
  step_1c(word);
  replace_first(word, kStep2, 0);
  replace_first(word, kStep3, 0);
  step_4(word);
  step_5(word);
}

}  // namespace clawmark
