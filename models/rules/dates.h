#pragma once
// Dates in words, resolved from the time of the message in the speaker's zone.

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "models/rules/clause.h"
#include "models/rules/pattern.h"

namespace clawmark::rules {

struct FoundDate {
  TimeMs at;  // start of the day when no time was said
  bool has_time = false;
  std::string text;  // "2026-03-06 09:00 +09:00" or "2026-03-06 +09:00"
  Span words;        // the words that said it, with "on", "at" and the like
};

// The first date at or after word `from`: today, tonight, tomorrow, weekdays (with this, next, on),
// "in 3 days", "March 5", "5th of March 2026", 2026-03-05; then perhaps a time: "at 9", "9:30", "5
// pm", "noon". Without a.m. or p.m., 1 to 6 o'clock is the afternoon. "this Friday" and "Friday"
// are the next one on or after the day it was said
// ("Friday" alone said on a Friday: a week later), "next Friday" is Friday of the week after. A day
// without a year is the next such day. Dates in the past ("last", "ago", "yesterday") are not
// found.
std::optional<FoundDate> find_date(const Clause& clause, std::size_t from, TimeMs said,
                                   std::string_view zone);

}  // namespace clawmark::rules
