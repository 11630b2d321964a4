#pragma once
// When what was in the way of a task is out of it, though nobody said so of the task itself. Inside
// projections/ only.

#include <optional>
#include <string_view>

#include "projections/graph.h"

namespace clawmark {

// As it was said by whoever is in sight, also of what only a status was spoken of.
Result<std::optional<GraphNodeRow>> node_as_said(Database& db, const GraphScope& scope,
                                                 std::string_view type, std::string_view key);

// Whether the blocker at the other end was said to be done, or given up, since it was in the way:
// when. As a thing of its own type or as a task: "blocked by the quota", "the quota is solved".
Result<std::optional<TimeMs>> lifted_at(Database& db, const GraphScope& scope,
                                        const GraphEdgeRow& edge);

// A task that is called blocked goes on ("active") when all that it was blocked by is over.
Status free_up(Database& db, const GraphScope& scope, GraphNodeRow& row);

}  // namespace clawmark
