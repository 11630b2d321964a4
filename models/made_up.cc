#include "models/made_up.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/utf8.h"
#include "models/static_table.h"
#include "models/text_words.h"

namespace clawmark {
namespace {

constexpr std::uint32_t kCommonRank = 400;     // as a name these words say nothing
constexpr std::uint32_t kOrdinaryRank = 8000;  // a sentence may begin with these
constexpr std::size_t kNumberDigits = 2;       // less is counted on one hand
constexpr std::size_t kSameBeginning = 5;      // letters that two forms of a word share

// Abbreviated or whole.
constexpr std::array<std::string_view, 38> kCalendar = {
    "january",   "february", "march",     "april",    "may",    "june",     "july",   "august",
    "september", "october",  "november",  "december", "jan",    "feb",      "mar",    "apr",
    "jun",       "jul",      "aug",       "sep",      "sept",   "oct",      "nov",    "dec",
    "monday",    "tuesday",  "wednesday", "thursday", "friday", "saturday", "sunday", "mon",
    "tue",       "wed",      "thu",       "fri",      "sat",    "sun"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool in_calendar(std::string_view word) {
  return std::find(kCalendar.begin(), kCalendar.end(), word) != kCalendar.end();
}

struct Token {
  std::string word;  // lower case
  bool capital = false;
  bool starts = false;  // a sentence
};

bool is_capital(std::string_view word) {
  std::size_t at = 0;
  next_code_point(word, at);
  const std::string_view first = word.substr(0, at);
  return fold_case(first) != first;
}

// Words between blanks, without the marks around them.
std::vector<Token> tokens(std::string_view text) {
  constexpr std::string_view kAround = "\"'`*_()[]{}<>,;:.!?\u2014\u2013";
  std::vector<Token> out;
  bool starts = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    std::string_view word = text.substr(begin, at - begin);
    const bool ends = word.find_last_of(".!?:") == word.size() - 1;
    while (!word.empty() && kAround.find(word.front()) != std::string_view::npos) {
      word.remove_prefix(1);
    }
    while (!word.empty() && kAround.find(word.back()) != std::string_view::npos) {
      word.remove_suffix(1);
    }
    for (const std::string_view own : {"'s", "\u2019s"}) {
      if (word.ends_with(own)) word.remove_suffix(own.size());
    }
    if (!word.empty()) out.push_back({fold_for_words(word), is_capital(word), starts});
    starts = ends || (starts && word.empty());
  }
  return out;
}

// "1,000" → "1000".
std::string digits_of(std::string_view word) {
  std::string out;
  for (const char c : word) {
    if (is_digit(c)) out += c;
  }
  return out;
}

// A day, a year or a time of day.
bool is_time(const std::vector<Token>& all, std::size_t at) {
  const std::string& word = all[at].word;
  if (word.find_first_of("-/:") != std::string::npos) return true;
  const std::string digits = digits_of(word);
  if (digits.size() == 4 && word.size() == 4 &&
      (digits.starts_with("19") || digits.starts_with("20")))
    return true;
  return (at > 0 && in_calendar(all[at - 1].word)) ||
         (at + 1 < all.size() && in_calendar(all[at + 1].word));
}

bool is_number(std::string_view word) {
  const bool begins =
      is_digit(word.front()) || (word.size() > 1 && !is_digit(word.front()) && is_digit(word[1]));
  return begins && digits_of(word).size() >= kNumberDigits;
}

std::uint32_t rank_of(std::string_view word) {
  const auto entry = find_word(word);
  const auto stem = find_word(light_stem(word));
  return std::min(entry ? entry->rank : UINT32_MAX, stem ? stem->rank : UINT32_MAX);
}

// Most of its longer words begin with a capital letter: "Payment Provider Changed".
bool is_headline(const std::vector<Token>& all) {
  std::size_t capital = 0, longer = 0;
  for (const Token& token : all) {
    if (token.word.size() < 4) continue;
    ++longer;
    capital += token.capital;
  }
  return longer >= 2 && capital * 3 >= longer * 2;
}

}  // namespace

std::set<std::string> identifiers(std::string_view text) {
  std::set<std::string> out;
  std::string word;
  const auto end_word = [&] {
    while (!word.empty() && (word.back() == '.' || word.back() == '-')) word.pop_back();
    const bool digit = word.find_first_of("0123456789") != std::string::npos;
    const auto letters =
        std::count_if(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (digit && letters >= 2 && word.size() >= 5) out.insert(word);
    word.clear();
  };
  for (const char c : lower_ascii(text)) {
    const bool part =
        (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '/';
    if (part) {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return out;
}

void SaidWords::add(std::string_view text) {
  text_ += lower_ascii(text) + "\n";
  const std::string folded = fold_for_words(text);
  for (const TextWord& word : split_words(folded)) {
    words_.emplace(word.text);
    stems_.insert(light_stem(word.text));
  }
  for (const Token& token : tokens(text)) {
    if (const std::string digits = digits_of(token.word); !digits.empty()) numbers_.insert(digits);
  }
}

bool SaidWords::has_unsaid_identifier(std::string_view text) const {
  const auto all = identifiers(text);
  return std::any_of(all.begin(), all.end(), [&](const std::string& name) {
    return text_.find(name) == std::string::npos;
  });
}

bool SaidWords::said(std::string_view word) const {
  if (words_.contains(word) || stems_.contains(light_stem(word))) return true;
  if (word.size() < kSameBeginning) return false;
  const auto near = words_.lower_bound(word.substr(0, kSameBeginning));
  return near != words_.end() && near->starts_with(word.substr(0, kSameBeginning));
}

std::string SaidWords::made_up(std::string_view text) const {
  for (const auto& name : identifiers(text)) {
    if (text_.find(name) == std::string::npos) return name;
  }
  const auto all = tokens(text);
  const bool headline = is_headline(all);
  // German: every noun begins with a capital letter.
  std::size_t articles = 0;
  for (const char* word : {"der", "die", "das", "und", "nicht", "ein", "eine", "ist"}) {
    articles += words_.contains(word);
  }
  const bool nouns_like_names = articles >= 3;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const Token& token = all[at];
    if (is_number(token.word)) {
      if (!is_time(all, at) && !numbers_.contains(digits_of(token.word))) return token.word;
      continue;
    }
    if (!token.capital || nouns_like_names || in_calendar(token.word)) continue;
    // "Tariq-led", "Jonas/Mira": each of its words.
    for (const TextWord& word : split_words(token.word)) {
      const std::uint32_t limit = token.starts || headline ? kOrdinaryRank : kCommonRank;
      if (word.kind == WordKind::kUnspaced || rank_of(word.text) < limit || said(word.text))
        continue;
      return std::string(word.text);
    }
  }
  return {};
}

}  // namespace clawmark
