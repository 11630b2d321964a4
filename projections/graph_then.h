#pragma once
// The graph as of a time or a position of the log, from the claims that were known then: what was
// said or recorded later is no evidence of how things stood. Names that were made one since are one
// then, too. Inside projections/ only.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "projections/graph.h"
#include "projections/graph_settle.h"

namespace clawmark {

// Relations from a thing, or to it, as one holder knew them; ended ones too when asked.
Result<std::vector<GraphEdgeRow>> edges_then(Database& db, const GraphScope& scope,
                                             const std::string& holder, const std::string& type,
                                             const std::string& key, bool from_it, bool ended,
                                             std::size_t limit);

// All tellings of what is told under one title, oldest first.
Result<std::vector<GraphEpisodeRow>> episodes_then(Database& db, const GraphScope& scope,
                                                   const std::string& holder,
                                                   const std::string& type, const std::string& key);

// Decisions (or constraints) of a holder that followed one another, by key.
Result<std::map<std::string, SlotState>> slots_then(Database& db, const GraphScope& scope,
                                                    const std::string& holder,
                                                    const std::string& type);

// The names that a thing goes by, its own first.
Result<std::vector<std::string>> names_of_thing(Database& db, const GraphScope& scope,
                                                const std::string& holder, const std::string& type,
                                                const std::string& key);

}  // namespace clawmark
