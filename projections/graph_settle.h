#pragma once
// From what was said of things to how they stand. Pure: the same claims give the same state,
// whatever order they were read in; time is when something was said. Also used as of a time, on the
// claims up to then.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"

namespace clawmark {

// One statement about a thing, with its newest evidence.
struct NodeClaim {
  std::string key;  // canonical, as said (before merges)
  std::string name, description, status, reason;
  std::string slot, choice, replaces;  // canonical
  std::string choice_name;
  std::vector<std::string> aliases;
  double confidence = 0;
  bool stated = false, only_status = false;
  std::optional<TimeMs> due;
  TimeMs said;
  std::int64_t message = 0;
  std::string entry_id, quote;
};

struct NodeState {
  bool visible = false;  // false: only its status was spoken of
  std::string name, description, status, reason, slot, choice, replaces;
  std::vector<std::string> aliases;  // sorted
  double confidence = 0;
  bool stated = false;
  std::optional<TimeMs> due;
  TimeMs first, last, status_at;
  std::int64_t mentions = 0, message = 0;
  std::string quote;
  // Where description and reason were said; 0: nowhere.
  std::int64_t description_message = 0, reason_message = 0;
};

// Newest word wins per member; what is empty says nothing. nullopt: no claims.
std::optional<NodeState> settle_node(std::vector<NodeClaim> claims);

// One at a time: of decisions and dated constraints that settle the same thing. Intervals by the
// key of the node.
struct SlotState {
  TimeMs from;
  std::optional<TimeMs> to;
  std::string superseded_by;  // key
  std::string slot;           // also one taken over from what it replaces
};
std::map<std::string, SlotState> settle_slots(std::vector<NodeClaim> claims);

struct EdgeClaim {
  std::string to_type, to;  // canonical, after merges
  std::string to_name;
  bool closes = false;
  TimeMs at;
  std::optional<TimeMs> until;
  double confidence = 0;
  TimeMs said;
  std::int64_t message = 0, event = 0;
  std::string entry_id, quote;
};

struct EdgeInterval {
  std::string to_type, to;
  TimeMs from;
  std::optional<TimeMs> until;
  double confidence = 0;
  TimeMs last;
  std::int64_t message = 0;
  std::string quote;
  std::int64_t event = 0;                   // the first that told of it
  std::optional<std::int64_t> until_event;  // and of its end
};

// Intervals of one relation. `single`: a beginning ends what went on with another end before it.
std::vector<EdgeInterval> settle_edges(std::vector<EdgeClaim> claims, bool single);

// Something that happened, as it was told once.
struct EpisodeClaim {
  std::string title, description, quote, entry_id, body;
  double salience = 0;
  TimeMs said;
  std::int64_t message = 0, event = 0;
  std::vector<std::string> nodes;
};

struct EpisodeState {
  std::string title, description, quote;
  double salience = 0;
  TimeMs occurred, last;
  std::int64_t message = 0;
  std::int64_t event = 0;  // the first that told of it
  std::set<std::string> nodes;
};

// What is told again soon is the same episode; told after a longer silence, it happened again.
std::vector<EpisodeState> settle_episodes(std::vector<EpisodeClaim> claims);

// Relations that have one end at a time by themselves.
bool is_single_valued(const std::string& type, const std::string& from_type,
                      const std::string& slot);

}  // namespace clawmark
