#pragma once
// The life of one key as a pure function of the set of what was said about it. No order of arrival
// enters: the observations are put in the order in which they were said before they are folded.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace clawmark {

// kReplaced: another fact of the same holder was said to be in place of `value`.
enum class ObservationKind { kStated, kExtracted, kForgotten, kExpired, kReplaced };
// Of a row of fact_observations: "stated", "forgotten", "expired"; else extracted.
ObservationKind observation_kind(std::string_view name);

// One thing said (or decided) about a key. `message` and `messages` are its evidence that counts
// now.
struct Observation {
  std::int64_t seq = 0;      // of its event
  std::int64_t ordinal = 0;  // within the event
  ObservationKind kind = ObservationKind::kExtracted;
  std::string value;
  double confidence = 0;
  TimeMs said;      // message's own time; of kExpired: the last observation that it ends
  TimeMs recorded;  // of commands: shows a clock that jumped back
  std::optional<TimeMs> due;
  std::vector<std::int64_t> messages;
  std::int64_t message = 0;  // newest of them
  std::string quote;
};

// A value and the time in which it held. `to` is empty for the present one.
struct Validity {
  std::string value, source, quote;
  TimeMs from;
  std::optional<TimeMs> to;
  std::int64_t message = 0;
};

struct KeyState {
  enum class Life { kNone, kLive, kForgotten, kExpired, kReplaced };
  Life life = Life::kNone;
  std::string value, source;
  double confidence = 0;
  TimeMs created, updated, last_observed;
  std::optional<TimeMs> due;
  std::int64_t observations = 0;  // distinct statements of the present value
  std::int64_t message = 0;
  std::vector<Validity> history;
};

// Sorts by time said, then by place in the log. Commands keep the log's order where the recording
// clock went back.
void sort_observations(std::vector<Observation>& observations);
// Of sorted observations: true where a forgetting takes the text away for good.
std::vector<bool> buried(const std::vector<Observation>& observations);
// Folds sorted observations. Those that are buried count for nothing, whatever their value.
KeyState fold_key(const std::vector<Observation>& observations);

bool same_fact_value(std::string_view a, std::string_view b);  // trimmed, NFKC case folded
double decayed_confidence(std::string_view source, double confidence, TimeMs last_observed,
                          TimeMs as_of);

}  // namespace clawmark
