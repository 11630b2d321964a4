#pragma once
// What a purge leaves of graph.completed: items that rest on something else, and no summary of a
// chunk of which a message is gone, as nobody can tell which sentence it fed.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

struct GraphGone {
  std::set<std::tuple<std::int64_t, std::string, std::int64_t>> claims;  // event, kind, ordinal
  std::unordered_set<std::int64_t> whole;    // messages that nothing may rest on
  std::unordered_set<std::int64_t> sources;  // messages out of which a fact was forgotten
  std::vector<std::string> values;           // of forgotten facts, case folded
};

// Adds the claims that the world model has let go.
Status find_forgotten_claims(Database& db, GraphGone& gone);

// The event as it would have been without what was forgotten; nullopt: it holds none of it.
std::optional<NewEvent> amended_graph(const Event& event, const GraphGone& gone);

// A summary goes as a whole; what stands below it is joined again. So does what was seen of a large
// content.
bool speaks_of_gone(const Event& event, const GraphGone& gone);
// What was seen of a content that stands, without the summary when that tells what was forgotten.
std::optional<NewEvent> amended_file(const Event& event, const GraphGone& gone);

}  // namespace clawmark
