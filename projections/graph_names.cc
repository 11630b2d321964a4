#include "projections/graph_names.h"

#include <algorithm>
#include <array>
#include <iterator>
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

struct Mark {
  std::string_view word, means;
};

// Words that count things, or tell the like of them apart.
constexpr Mark kMarks[] = {
    {"zero", "0"},       {"one", "1"},           {"two", "2"},           {"three", "3"},
    {"four", "4"},       {"five", "5"},          {"six", "6"},           {"seven", "7"},
    {"eight", "8"},      {"nine", "9"},          {"ten", "10"},          {"eleven", "11"},
    {"twelve", "12"},    {"thirteen", "13"},     {"fourteen", "14"},     {"fifteen", "15"},
    {"sixteen", "16"},   {"seventeen", "17"},    {"eighteen", "18"},     {"nineteen", "19"},
    {"first", "1"},      {"second", "2"},        {"third", "3"},         {"fourth", "4"},
    {"fifth", "5"},      {"sixth", "6"},         {"seventh", "7"},       {"eighth", "8"},
    {"ninth", "9"},      {"tenth", "10"},        {"eleventh", "11"},     {"twelfth", "12"},
    {"twentieth", "20"}, {"sept", "sep"},        {"tues", "tue"},        {"thur", "thu"},
    {"thurs", "thu"},    {"production", "prod"}, {"development", "dev"}, {"testing", "test"},
};

// Names of which one is never the other; those that begin alike are one.
constexpr std::string_view kTelling[] = {
    "twenty",    "thirty",   "forty",    "fifty",    "sixty",   "seventy",  "eighty",    "ninety",
    "hundred",   "thousand", "million",  "last",     "next",    "previous", "final",     "initial",
    "january",   "february", "march",    "april",    "may",     "june",     "july",      "august",
    "september", "october",  "november", "december", "monday",  "tuesday",  "wednesday", "thursday",
    "friday",    "saturday", "sunday",   "spring",   "summer",  "autumn",   "winter",    "morning",
    "evening",   "alpha",    "beta",     "gamma",    "delta",   "epsilon",  "zeta",      "eta",
    "theta",     "iota",     "kappa",    "lambda",   "mu",      "nu",       "xi",        "omicron",
    "pi",        "rho",      "sigma",    "tau",      "upsilon", "phi",      "chi",       "psi",
    "omega",     "rc",       "ga",       "canary",   "nightly", "stable",   "lts",       "preview",
    "draft",     "prod",     "staging",  "dev",      "test",    "qa",       "old",       "new",
    "legacy",    "north",    "south",    "east",     "west",    "left",     "right",     "upper",
    "lower",     "front",    "back",     "frontend", "backend", "internal", "external",  "primary",
    "secondary", "major",    "minor",    "senior",   "junior"};

constexpr std::string_view kShort[] = {"jan", "feb", "mar", "apr", "jun", "jul",
                                       "aug", "sep", "oct", "nov", "dec", "mon",
                                       "tue", "wed", "thu", "fri", "sat", "sun"};

std::string telling(const std::string& word) {
  for (const Mark& mark : kMarks) {
    if (word == mark.word) return std::string(mark.means);
  }
  for (const auto begin : kShort) {
    const bool whole =
        std::find(std::begin(kTelling), std::end(kTelling), word) != std::end(kTelling);
    if (word == begin || (whole && word.starts_with(begin))) return std::string(begin);
  }
  const bool tells =
      std::find(std::begin(kTelling), std::end(kTelling), word) != std::end(kTelling);
  return tells ? word : std::string();
}

// "1st", "22nd" → the number.
std::string without_ordinal(const std::string& word) {
  const std::size_t end = word.find_first_not_of("0123456789");
  if (end == std::string::npos || end == 0 || word.size() != end + 2) return word;
  const std::string_view rest = std::string_view(word).substr(end);
  const bool ordinal = rest == "st" || rest == "nd" || rest == "rd" || rest == "th";
  return ordinal ? word.substr(0, end) : word;
}

// What tells names apart that look alike: numbers, single letters (Greek ones, too), roman
// numerals, and words for such.
std::vector<std::string> marks_of(std::string_view name) {
  std::vector<std::string> marks;
  for (const auto& word : words_of(name)) {
    const bool roman = word.size() <= 4 && word.find_first_not_of("ivx") == std::string::npos;
    const bool single = count_code_points(word) == 1;
    if (has_digit(word)) {
      marks.push_back(without_ordinal(word));
    } else if (std::string mark = telling(word); !mark.empty()) {
      marks.push_back(std::move(mark));
    } else if (single || roman) {
      marks.push_back(word);
    }
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

std::string words_said(std::string_view description, std::string_view quote) {
  const std::string wanted = collapse_space(fold_case(description));
  if (wanted.empty()) return {};
  if (collapse_space(fold_case(quote)).find(wanted) != std::string::npos) {
    return std::string(description);
  }
  return collapse_space(quote);
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
