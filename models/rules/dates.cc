#include "models/rules/dates.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace clawmark::rules {
namespace {

using Words = std::vector<Word>;

constexpr std::array<std::string_view, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                                   "thursday", "friday", "saturday"};
constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 10> kCounts = {"one", "two",   "three", "four", "five",
                                                      "six", "seven", "eight", "nine", "ten"};

// Index of a full name, or of an abbreviation of three letters or more ("tues", "sept").
template <std::size_t N>
std::optional<int> named(const std::array<std::string_view, N>& names, std::string_view word) {
  if (word.size() < 3) return std::nullopt;
  for (std::size_t i = 0; i < N; ++i) {
    const bool shortened = word.size() <= 5 && names[i].starts_with(word);
    if (word == names[i] || shortened) return static_cast<int>(i);
  }
  return std::nullopt;
}

// A weekday; "sun", "sat", "mon", "wed" alone are words of their own and count only after this,
// next, on.
std::optional<int> weekday_of(std::string_view word, bool after_cue) {
  const auto day = named(kDays, word);
  if (day && !after_cue && word.size() < 6) return std::nullopt;
  return day;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<int> count_of(std::string_view word) {
  if (word == "a") return 1;
  for (std::size_t i = 0; i < kCounts.size(); ++i) {
    if (word == kCounts[i]) return static_cast<int>(i) + 1;
  }
  return number(word);
}

// "5", "5th", "1st".
std::optional<int> day_number(std::string_view word) {
  for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
    if (word.size() > 2 && word.ends_with(ending)) {
      word.remove_suffix(2);
      break;
    }
  }
  const auto day = word.size() <= 2 ? number(word) : std::nullopt;
  return day && *day >= 1 && *day <= 31 ? day : std::nullopt;
}

struct Day {
  int year = 0, month = 0, day = 0;
};

std::string two(int n) {
  return (n < 10 ? "0" : "") + std::to_string(n);
}
std::string iso(const Day& day) {
  return std::to_string(day.year) + "-" + two(day.month) + "-" + two(day.day);
}

// `days` after a local day, through noon so that no change of the clocks matters.
Day plus_days(const LocalTime& from, int days) {
  const std::string noon = iso({from.year, from.month, from.day}) + "T12:00:00Z";
  const auto base = parse_iso(noon);
  const LocalTime t = to_local({base->value + days * kDayMs}, "UTC");
  return {t.year, t.month, t.day};
}

bool is_real(const Day& day) {
  return parse_iso(iso(day) + "T00:00:00Z").has_value();
}

class DateReader {
 public:
  DateReader(const Words& words, const LocalTime& said) : words_(words), said_(said) {}

  // A day that starts at word `at`; moves `at` past it.
  std::optional<Day> day(std::size_t& at) const {
    std::size_t i = at;
    const bool on = is(i, "on") || is(i, "by") || is(i, "until");
    if (on) ++i;
    std::optional<Day> found = relative(i);
    if (!found) found = weekday(i, on);
    if (!found) found = calendar(i);
    if (found) at = i;
    return found;
  }

  // "at 9", "9:30", "at 5 pm", "at noon": minutes of the day; moves `at` past it.
  std::optional<int> time(std::size_t& at) const {
    std::size_t i = at;
    if (i < words_.size() && words_[i].is_pause) ++i;
    const bool cue = is(i, "at") || is(i, "from") || is(i, "around") || is(i, "@");
    if (cue) ++i;
    if (i >= words_.size()) return std::nullopt;
    if (is(i, "noon") || is(i, "midday")) return taken(at, i + 1, 12 * 60);
    if (is(i, "midnight")) return taken(at, i + 1, 0);
    std::string word = words_[i].lower;
    std::size_t after = i + 1;
    bool am = false, pm = false;
    if (const std::size_t tail = word.find_first_not_of("0123456789:.");
        tail != std::string::npos) {
      am = is_am(std::string_view(word).substr(tail));
      pm = is_pm(std::string_view(word).substr(tail));
      if (!am && !pm) return std::nullopt;
      word.resize(tail);
    } else if (after < words_.size() &&
               (is_am(words_[after].lower) || is_pm(words_[after].lower))) {
      am = is_am(words_[after].lower);
      pm = !am;
      ++after;
    }
    std::replace(word.begin(), word.end(), '.', ':');
    const std::size_t colon = word.find(':');
    const auto hour = number(word.substr(0, colon));
    const auto minute =
        colon == std::string::npos ? std::optional(0) : number(word.substr(colon + 1));
    const bool clock_like = cue || am || pm || colon != std::string::npos;
    if (!clock_like || !hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
    if ((am || pm) && (*hour < 1 || *hour > 12)) return std::nullopt;
    int h = *hour;
    if (am || pm) h = h % 12 + (pm ? 12 : 0);
    const bool two_digits = colon == 2;  // "03:00" means what it says
    if (!am && !pm && h >= 1 && h <= 6 && !two_digits) h += 12;
    if (is(after, "o'clock") || is(after, "sharp")) ++after;
    return taken(at, after, h * 60 + *minute);
  }

 private:
  bool is(std::size_t i, std::string_view word) const {
    return i < words_.size() && words_[i].lower == word;
  }
  static bool is_am(std::string_view w) { return w == "am" || w == "a.m"; }
  static bool is_pm(std::string_view w) { return w == "pm" || w == "p.m"; }
  static int taken(std::size_t& at, std::size_t to, int minutes) {
    at = to;
    return minutes;
  }

  std::optional<Day> relative(std::size_t& i) const {
    if (is(i, "today") || is(i, "tonight")) {
      ++i;
      return plus_days(said_, 0);
    }
    if (is(i, "tomorrow")) {
      ++i;
      return plus_days(said_, 1);
    }
    if (is(i, "the") && is(i + 1, "day") && is(i + 2, "after") && is(i + 3, "tomorrow")) {
      i += 4;
      return plus_days(said_, 2);
    }
    if (!is(i, "in") || i + 2 >= words_.size()) return std::nullopt;
    const auto count = count_of(words_[i + 1].lower);
    const std::string& unit = words_[i + 2].lower;
    if (!count || *count > 400) return std::nullopt;
    const int days = unit == "day" || unit == "days"     ? *count
                     : unit == "week" || unit == "weeks" ? *count * 7
                                                         : 0;
    if (days == 0) return std::nullopt;
    i += 3;
    return plus_days(said_, days);
  }

  std::optional<Day> weekday(std::size_t& i, bool on) const {
    std::size_t at = i;
    const bool is_this = is(at, "this") || (is(at, "coming"));
    const bool next = is(at, "next");
    if (is_this || next) ++at;
    if (at >= words_.size()) return std::nullopt;
    const auto day = weekday_of(words_[at].lower, on || is_this || next);
    if (!day) return std::nullopt;
    int ahead = (*day - said_.weekday + 7) % 7;
    if (next) {
      // Of the week after, weeks beginning on Monday.
      const int today = (said_.weekday + 6) % 7, wanted = (*day + 6) % 7;
      ahead = 7 - today + wanted;
    } else if (ahead == 0 && !is_this) {
      ahead = 7;
    }
    i = at + 1;
    return plus_days(said_, ahead);
  }

  std::optional<Day> calendar(std::size_t& i) const {
    if (i >= words_.size()) return std::nullopt;
    const std::string& word = words_[i].lower;
    if (word.size() == 10 && word[4] == '-' && word[7] == '-') {
      const auto y = number(word.substr(0, 4)), m = number(word.substr(5, 2)),
                 d = number(word.substr(8, 2));
      if (!y || !m || !d || !is_real({*y, *m, *d})) return std::nullopt;
      ++i;
      return Day{*y, *m, *d};
    }
    std::size_t at = i;
    if (is(at, "the")) ++at;
    if (at + 1 >= words_.size()) return std::nullopt;
    auto day = day_number(words_[at].lower);
    std::optional<int> month;
    if (day) {
      at += is(at + 1, "of") ? 2 : 1;
      if (at < words_.size()) month = named(kMonths, words_[at].lower);
    } else {
      month = named(kMonths, words_[at].lower);
      ++at;
      if (month && at < words_.size()) day = day_number(words_[at].lower);
    }
    if (!day || !month) return std::nullopt;
    ++at;
    return with_year(at, i, *month + 1, *day);
  }

  std::optional<Day> with_year(std::size_t at, std::size_t& i, int month, int day) const {
    std::size_t year_at = at;
    if (year_at < words_.size() && words_[year_at].is_pause) ++year_at;
    const auto year = year_at < words_.size() && words_[year_at].lower.size() == 4
                          ? number(words_[year_at].lower)
                          : std::nullopt;
    Day found{said_.year, month, day};
    if (year && *year >= 1900 && *year <= 2200) {
      found.year = *year;
      at = year_at + 1;
    } else if (std::pair(month, day) < std::pair(said_.month, said_.day)) {
      ++found.year;
    }
    if (!is_real(found)) return std::nullopt;
    i = at;
    return found;
  }

  const Words& words_;
  LocalTime said_;
};

std::string offset_text(int minutes) {
  const int size = minutes < 0 ? -minutes : minutes;
  return (minutes < 0 ? "-" : "+") + two(size / 60) + ":" + two(size % 60);
}

// "was moved to 8 December": what was done is past, not the date.
bool is_moved(const Words& words, std::size_t at) {
  constexpr std::array<std::string_view, 10> kMoves = {
      "moved",   "postponed", "delayed", "rescheduled", "pushed",
      "shifted", "deferred",  "brought", "extended",    "just"};
  return at < words.size() &&
         std::find(kMoves.begin(), kMoves.end(), words[at].lower) != kMoves.end();
}

bool is_past(const Words& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at].lower;
    if (word == "last" || word == "ago" || word == "yesterday" || word == "every" ||
        word == "each") {
      return true;
    }
    if ((word == "was" || word == "were") && !is_moved(words, at + 1)) return true;
  }
  return false;
}

}  // namespace

std::optional<FoundDate> find_date(const Clause& clause, std::size_t from, TimeMs said,
                                   std::string_view zone) {
  if (said.value == 0 || is_past(clause.words)) return std::nullopt;
  const std::string tz(is_known_zone(zone) ? zone : "UTC");
  const DateReader reader(clause.words, to_local(said, tz));
  for (std::size_t start = from; start < clause.words.size(); ++start) {
    std::size_t at = start;
    std::optional<int> minutes;
    auto day = reader.day(at);
    if (day) {
      minutes = reader.time(at);
    } else {
      minutes = reader.time(at);
      if (minutes) day = reader.day(at);  // "at 9 on Friday"
    }
    if (!day) continue;
    const int m = minutes.value_or(0);
    const auto utc = from_local(day->year, day->month, day->day, m / 60, m % 60, tz);
    if (!utc) return std::nullopt;
    FoundDate found{*utc, minutes.has_value(), iso(*day), {start, at}};
    if (minutes) found.text += " " + two(m / 60) + ":" + two(m % 60);
    found.text += " " + offset_text(to_local(*utc, tz).offset_minutes);
    return found;
  }
  return std::nullopt;
}

}  // namespace clawmark::rules
