#include "base/clock.h"

#include <date/date.h>
#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace clawmark {
namespace {

using Millis = std::chrono::milliseconds;
using SysMs = date::sys_time<Millis>;

const date::time_zone* find_zone(std::string_view zone) {
  try {
    return date::locate_zone(std::string(zone));
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Years 1 to 9999: what lies outside is a mistake of the data and must not overflow the calendar.
TimeMs clamp(TimeMs time) {
  return {std::clamp<std::int64_t>(time.value, -62'135'596'800'000, 253'402'300'799'999)};
}

LocalTime split(date::local_time<Millis> local, int offset_minutes) {
  const auto day = date::floor<date::days>(local);
  const date::year_month_day ymd{day};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(local - day).count();
  return {static_cast<int>(ymd.year()),
          static_cast<int>(static_cast<unsigned>(ymd.month())),
          static_cast<int>(static_cast<unsigned>(ymd.day())),
          static_cast<int>(seconds / 3600),
          static_cast<int>(seconds / 60 % 60),
          static_cast<int>(seconds % 60),
          static_cast<int>(date::weekday{day}.c_encoding()),
          offset_minutes};
}

// Reads exactly `count` digits at `at`; -1 when they are not there.
int digits(std::string_view text, std::size_t& at, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i, ++at) {
    if (at >= text.size() || text[at] < '0' || text[at] > '9') return -1;
    value = value * 10 + (text[at] - '0');
  }
  return value;
}

bool take(std::string_view text, std::size_t& at, std::string_view any_of) {
  if (at >= text.size() || any_of.find(text[at]) == std::string_view::npos) return false;
  ++at;
  return true;
}

// "Z", "+09:00", "-0500", "+09" or nothing; nullopt when malformed.
std::optional<int> parse_offset(std::string_view text, std::size_t& at) {
  if (at == text.size() || take(text, at, "Zz")) return 0;
  if (text[at] != '+' && text[at] != '-') return std::nullopt;
  const int sign = text[at++] == '-' ? -1 : 1;
  const int hours = digits(text, at, 2);
  if (hours < 0 || hours > 23) return std::nullopt;
  int minutes = 0;
  if (at < text.size()) {
    take(text, at, ":");
    minutes = digits(text, at, 2);
    if (minutes < 0 || minutes > 59) return std::nullopt;
  }
  return sign * (hours * 60 + minutes);
}

}  // namespace

TimeMs SystemClock::now() const {
  return {std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

std::int64_t SystemClock::steady_ms() const {
  return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string format_iso(TimeMs time) {
  time = clamp(time);
  const auto t = split(date::local_time<Millis>(Millis(time.value)), 0);
  const auto ms = ((time.value % 1000) + 1000) % 1000;
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", t.year, t.month,
                t.day, t.hour, t.minute, t.second, static_cast<int>(ms));
  return buffer;
}

std::optional<TimeMs> parse_iso(std::string_view text) {
  std::size_t at = 0;
  const int year = digits(text, at, 4);
  if (year < 0 || !take(text, at, "-")) return std::nullopt;
  const int month = digits(text, at, 2);
  if (month < 1 || month > 12 || !take(text, at, "-")) return std::nullopt;
  const int day = digits(text, at, 2);
  if (day < 1 || day > 31 || !take(text, at, "T t")) return std::nullopt;
  const int hour = digits(text, at, 2);
  if (hour < 0 || hour > 24 || !take(text, at, ":")) return std::nullopt;
  const int minute = digits(text, at, 2);
  if (minute < 0 || minute > 59 || (hour == 24 && minute != 0)) return std::nullopt;
  int second = 0;
  std::int64_t ms = 0;
  if (take(text, at, ":")) {
    second = digits(text, at, 2);
    if (second < 0 || second > 60) return std::nullopt;
    if (take(text, at, ".,")) {
      std::int64_t scale = 100;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
        ms += (text[at++] - '0') * scale;
        scale /= 10;
      }
    }
  }
  const auto offset = parse_offset(text, at);
  if (!offset || at != text.size()) return std::nullopt;
  const date::year_month_day ymd{date::year(year), date::month(static_cast<unsigned>(month)),
                                 date::day(static_cast<unsigned>(day))};
  if (!ymd.ok()) return std::nullopt;
  const std::int64_t days = date::sys_days(ymd).time_since_epoch().count();
  return TimeMs{days * kDayMs + (hour * 60 + minute - *offset) * kMinuteMs + second * kSecondMs +
                ms};
}

LocalTime to_local(TimeMs time, std::string_view zone) {
  time = clamp(time);
  const SysMs sys{Millis(time.value)};
  const auto* tz = find_zone(zone);
  if (tz == nullptr) return split(date::local_time<Millis>(sys.time_since_epoch()), 0);
  const auto info = tz->get_info(sys);
  const auto offset = std::chrono::duration_cast<std::chrono::minutes>(info.offset).count();
  return split(tz->to_local(sys), static_cast<int>(offset));
}

std::string format_date(TimeMs time, std::string_view zone) {
  const auto t = to_local(time, zone);
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02d", t.year, t.month, t.day);
  return buffer;
}

std::string format_local(TimeMs time, std::string_view zone) {
  const auto t = to_local(time, zone);
  const int offset = t.offset_minutes < 0 ? -t.offset_minutes : t.offset_minutes;
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02d %02d:%02d %c%02d:%02d", t.year, t.month,
                t.day, t.hour, t.minute, t.offset_minutes < 0 ? '-' : '+', offset / 60,
                offset % 60);
  return buffer;
}

std::optional<TimeMs> from_local(int year, int month, int day, int hour, int minute,
                                 std::string_view zone) {
  const auto* tz = find_zone(zone);
  const date::year_month_day ymd{date::year(year), date::month(static_cast<unsigned>(month)),
                                 date::day(static_cast<unsigned>(day))};
  if (tz == nullptr || !ymd.ok()) return std::nullopt;
  const date::local_time<Millis> local =
      date::local_days(ymd) + std::chrono::hours(hour) + std::chrono::minutes(minute);
  const auto sys = tz->to_sys(local, date::choose::earliest);
  return TimeMs{std::chrono::duration_cast<Millis>(sys.time_since_epoch()).count()};
}

bool is_known_zone(std::string_view zone) {
  return find_zone(zone) != nullptr;
}

}  // namespace clawmark
