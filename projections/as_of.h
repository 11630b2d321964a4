#pragma once
// A time in the past, or a place in the log: what was known then.

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "log/event.h"

namespace clawmark {

struct AsOf {
  TimeMs time;                 // for decay; of a place in the log: when it was written
  std::optional<Seq> through;  // only what the log knew at this place
  // What was said later, or recorded later, is left out.
  TimeMs last_said() const { return through ? TimeMs{INT64_MAX} : time; }
  std::int64_t last_seq() const { return through ? through->value : INT64_MAX; }
};

}  // namespace clawmark
