#pragma once
// Event types of the world model, as in schema/events.md.

#include "log/event.h"

namespace clawmark::event_type {

inline constexpr char kGraphCompleted[] = "graph.completed";
inline constexpr char kGraphMerged[] = "graph.merged";
inline constexpr char kGraphUnmerged[] = "graph.unmerged";
inline constexpr char kSummaryCompleted[] = "summary.completed";
inline constexpr char kFileExplored[] = "file.explored";
inline constexpr char kSummaryDissolved[] = "summary.dissolved";

}  // namespace clawmark::event_type
