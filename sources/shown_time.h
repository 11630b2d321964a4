#pragma once
// A time as a carrier shows it, made usable by one rule for all carriers (docs/sources.md).

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace clawmark {

struct ShownTime {
  TimeMs time;        // 0: not usable, whoever reads it falls back
  bool as_is = true;  // false: in another unit than milliseconds, or not usable
};

// Numbers of 9 to 11 digits are seconds, of 15 to 16 microseconds, of 18 to 19 nanoseconds. What is
// then before 2000 or after 2100 is no time of a conversation: 0, negative, year 9999.
ShownTime shown_time(std::int64_t number);
// ISO 8601, or such a number in digits.
ShownTime shown_time(std::string_view text);

}  // namespace clawmark
