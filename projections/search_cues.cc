#include "projections/search_cues.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <unordered_set>

#include "base/utf8.h"
#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::size_t kScannedMax = 4000;  // bytes of one text
constexpr std::size_t kNameBytesMax = 40;
constexpr std::size_t kNameWordsMax = 3;

// "may" is a month only beside a number; "second" and "march" only as what they mostly are.
constexpr std::string_view kTimeWords =
    "yesterday today tonight tomorrow ago last next week weeks weekend month months year years day "
    "days morning evening afternoon night monday tuesday wednesday thursday friday saturday sunday "
    "january february april june july august september october november december jan feb mar apr "
    "jun jul aug sept sep oct nov dec recently lately earlier soon since until deadline date "
    "o'clock am pm noon midnight spring summer autumn winter christmas easter birthday hour hours "
    "minute minutes ";
constexpr std::string_view kNumberWords =
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million dozen couple few several once twice both half ";
constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

const std::unordered_set<std::string_view>& words_of(std::string_view list) {
  const auto make = [](std::string_view text) {
    std::unordered_set<std::string_view> words;
    while (!text.empty()) {
      const std::size_t end = text.find(' ');
      words.insert(text.substr(0, end));
      text.remove_prefix(std::min(text.size(), end + 1));
    }
    return words;
  };
  static const auto times = make(kTimeWords);
  static const auto numbers = make(kNumberWords);
  return list.data() == kTimeWords.data() ? times : numbers;
}

// Words and numbers of a lower-case text, in order.
std::vector<std::string_view> plain_words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const bool digit = is_digit(text[at]);
    if (!digit && !is_letter(text[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    while (at < text.size() && (digit ? is_digit(text[at]) : is_letter(text[at]))) ++at;
    out.push_back(text.substr(start, at - start));
  }
  return out;
}

std::optional<int> number_of(std::string_view word) {
  if (word.empty() || word.size() > 4 || !is_digit(word.front())) return std::nullopt;
  int value = 0;
  for (const char c : word) value = value * 10 + (c - '0');
  return value;
}

std::optional<int> month_of(std::string_view word) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    const bool shortened = word.size() >= 3 && word.size() <= 4 && kMonths[i].starts_with(word);
    if (word == kMonths[i] || (shortened && word != "marc")) return static_cast<int>(i) + 1;
  }
  return word == "sept" ? std::optional<int>(9) : std::nullopt;
}

bool is_ordinal_ending(std::string_view word) {
  return word == "st" || word == "nd" || word == "rd" || word == "th";
}

bool is_year(std::optional<int> value) {
  return value && *value >= 1900 && *value < 2100;
}

constexpr std::array<std::string_view, 8> kStandingStarts = {
    "always ",        "never ",        "from now on", "whenever ",
    "please always ", "please never ", "make sure ",  "remember to "};
constexpr std::array<std::string_view, 6> kStandingWithin = {
    " when i ask ", " whenever i ", " if i ask ", " every time i ", " from now on", " always use "};
constexpr std::array<std::string_view, 16> kPreferences = {
    "i prefer ",    "i'd prefer ", "i always ",      "i usually ",   "i like ",       "i love ",
    "i hate ",      "i dislike ",  "i can't stand ", "i avoid ",     "i've decided ", "i decided ",
    "i've chosen ", "i chose ",    "my favorite ",   "my favourite "};

// Whether a sentence begins here.
bool starts_sentence(std::string_view text, std::size_t at) {
  while (at > 0 && text[at - 1] == ' ') --at;
  return at == 0 || text[at - 1] == '.' || text[at - 1] == '!' || text[at - 1] == '?' ||
         text[at - 1] == '\n' || text[at - 1] == ':';
}

bool states_a_rule(std::string_view lower) {
  for (const std::string_view start : kStandingStarts) {
    for (std::size_t at = lower.find(start); at != std::string_view::npos;
         at = lower.find(start, at + 1)) {
      if (starts_sentence(lower, at)) return true;
    }
  }
  return std::any_of(kStandingWithin.begin(), kStandingWithin.end(),
                     [&](std::string_view part) { return lower.find(part) != lower.npos; });
}

bool states_a_preference(std::string_view lower) {
  return std::any_of(kPreferences.begin(), kPreferences.end(), [&](std::string_view part) {
    for (std::size_t at = lower.find(part); at != lower.npos; at = lower.find(part, at + 1)) {
      if (at == 0 || !is_letter(lower[at - 1])) return true;
    }
    return false;
  });
}

// No text's token begins with this.
constexpr char kMark = '\x01';

std::string term(char kind, int year, int month, int day) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%c%c%04d%02d%02d", kMark, kind, year, month, day);
  return out.data();
}

}  // namespace

unsigned text_cues(std::string_view text) {
  const std::string_view trimmed = trim(text);
  unsigned flags = 0;
  if (trimmed.ends_with('?') || trimmed.ends_with("？") || trimmed.ends_with("؟")) {
    flags |= kCueAsks;
  }
  const std::string lower = lower_ascii(prefix_bytes(text, kScannedMax));
  if (states_a_rule(lower)) flags |= kCueStanding;
  if (states_a_preference(lower)) flags |= kCuePrefers;
  const auto words = plain_words(lower);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto number = number_of(words[i]);
    if (is_digit(words[i].front())) flags |= kCueNumber;
    if (is_year(number) || words_of(kTimeWords).contains(words[i])) flags |= kCueTime;
    if (words_of(kNumberWords).contains(words[i])) flags |= kCueNumber;
    const bool beside_number =
        (i > 0 && number_of(words[i - 1])) || (i + 1 < words.size() && number_of(words[i + 1]));
    if (month_of(words[i]) && beside_number) flags |= kCueTime;
  }
  return flags;
}

std::string_view speaker_prefix(std::string_view text) {
  const std::size_t colon = text.substr(0, kNameBytesMax).find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 >= text.size()) return {};
  if (text[colon + 1] != ' ') return {};
  const std::string_view name = text.substr(0, colon);
  std::size_t words = 1;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool starts = i == 0 || name[i - 1] == ' ';
    if (c == ' ') {
      ++words;
    } else if (starts && !(c >= 'A' && c <= 'Z') && static_cast<unsigned char>(c) < 0x80) {
      return {};
    } else if (!is_letter(c) && !(c >= 'A' && c <= 'Z') && c != '-' && c != '\'' && c != '.') {
      return {};
    }
  }
  return words <= kNameWordsMax ? name : std::string_view{};
}

std::string speaker_tokens(std::string_view name) {
  std::string out;
  for (const std::string& token : search_tokens(prefix_bytes(name, kNameBytesMax))) {
    if (!out.empty()) out += ' ';
    out += token;
  }
  return out;
}

std::vector<std::string> day_terms(std::int64_t day) {
  if (day <= 0) return {};
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}}};
  const int year = static_cast<int>(date.year());
  const int month = static_cast<int>(static_cast<unsigned>(date.month()));
  const int of_month = static_cast<int>(static_cast<unsigned>(date.day()));
  return {term('d', year, month, of_month), term('m', year, month, 0), term('n', 0, month, 0),
          term('y', year, 0, 0)};
}

namespace {

// A day of the user's is a part of two in the index, whose days are UTC's.
void add_local_day(int year, int month, int day, std::string_view zone,
                   std::vector<std::string>& out) {
  const auto first = from_local(year, month, day, 0, 0, zone);
  const auto last = from_local(year, month, day, 23, 59, zone);
  if (!first || !last) return out.push_back(term('d', year, month, day));
  for (const TimeMs end : {*first, *last}) {
    const LocalTime utc = to_local(end, "UTC");
    out.push_back(term('d', utc.year, utc.month, utc.day));
  }
}

}  // namespace

std::vector<std::string> named_day_terms(std::string_view query, std::string_view zone) {
  const std::string lower = lower_ascii(query);
  const auto words = plain_words(lower);
  std::vector<std::string> out;
  const auto number_at = [&](std::size_t i) {
    return i < words.size() ? number_of(words[i]) : std::nullopt;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = number_at(i);
    // 2024-01-05
    if (is_year(value)) {
      out.push_back(term('y', *value, 0, 0));
      const auto month = number_at(i + 1), day = number_at(i + 2);
      if (month && day && *month >= 1 && *month <= 12 && *day >= 1 && *day <= 31 &&
          words[i + 1].size() == 2 && words[i + 2].size() == 2) {
        out.push_back(term('m', *value, *month, 0));
        add_local_day(*value, *month, *day, zone, out);
      }
    }
    const auto month = month_of(words[i]);
    if (!month) continue;
    std::size_t next = i + 1;
    std::size_t before = i;  // 8 May, 8th May, 8th of May
    if (before > 0 && words[before - 1] == "of") --before;
    if (before > 1 && is_ordinal_ending(words[before - 1])) --before;
    int day = before > 0 ? number_at(before - 1).value_or(0) : 0;
    if (day == 0 && !is_year(number_at(next))) {
      day = number_at(next).value_or(0);
      if (day > 0) ++next;
    }
    if (next < words.size() && is_ordinal_ending(words[next])) ++next;  // May 8th
    const bool with_year = is_year(number_at(next));
    const bool ambiguous = words[i] == "may" || words[i] == "march" || words[i] == "mar";
    const bool in = i > 0 && (words[i - 1] == "in" || words[i - 1] == "during" ||
                              words[i - 1] == "of" || words[i - 1] == "last");
    if (ambiguous && day == 0 && !with_year && !in) continue;
    out.push_back(term('n', 0, *month, 0));
    if (!with_year) continue;
    const int year = *number_at(next);
    out.push_back(term('m', year, *month, 0));
    if (day >= 1 && day <= 31) add_local_day(year, *month, day, zone, out);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace clawmark
