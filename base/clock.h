#pragma once
// Time enters only here: the rest of the tree takes a Clock (a test walks the sources for other
// reads).

#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace clawmark {

// Milliseconds since 1970-01-01T00:00:00Z. Zero means "not known".
struct TimeMs {
  std::int64_t value = 0;
  auto operator<=>(const TimeMs&) const = default;
};

constexpr std::int64_t kSecondMs = 1000;
constexpr std::int64_t kMinuteMs = 60 * kSecondMs;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimeMs now() const = 0;              // wall clock, UTC; may jump
  virtual std::int64_t steady_ms() const = 0;  // never goes back; only differences mean anything
};

class SystemClock final : public Clock {
 public:
  TimeMs now() const override;
  std::int64_t steady_ms() const override;
};

// For tests and simulation. Safe to read from several threads.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimeMs start = {1'795'000'000'000}) : now_(start.value) {}
  TimeMs now() const override { return {now_.load()}; }
  std::int64_t steady_ms() const override { return steady_.load(); }
  void advance(std::int64_t ms) {
    now_ += ms;
    steady_ += ms;
  }
  void set(TimeMs to) { now_ = to.value; }  // a jump: the steady clock does not follow

 private:
  std::atomic<std::int64_t> now_;
  std::atomic<std::int64_t> steady_{0};
};

// "2026-11-29T19:17:24.316Z"
std::string format_iso(TimeMs time);
// ISO 8601 with 'T' or a blank, optional fraction, optional Z or ±HH[:MM]; without a zone it is
// UTC.
std::optional<TimeMs> parse_iso(std::string_view text);
// Date of a time in an IANA zone, "2026-01-06"; unknown zone: UTC.
std::string format_date(TimeMs time, std::string_view zone);
// "2026-01-06 08:30 +09:00" in an IANA zone; unknown zone: UTC.
std::string format_local(TimeMs time, std::string_view zone);
// Local wall time (days since epoch of the local date, minutes of the day) to UTC; nullopt: unknown
// zone.
std::optional<TimeMs> from_local(int year, int month, int day, int hour, int minute,
                                 std::string_view zone);
struct LocalTime {
  int year, month, day, hour, minute, second;
  int weekday;  // 0 = Sunday
  int offset_minutes;
};
LocalTime to_local(TimeMs time, std::string_view zone);
bool is_known_zone(std::string_view zone);

}  // namespace clawmark
