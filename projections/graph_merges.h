#pragma once
// Things that were made one, by a model or by a person.

#include <string>
#include <string_view>
#include <vector>

#include "projections/graph.h"

namespace clawmark {

struct GraphMergeRow {
  std::string holder, type;
  std::string from, into;  // keys of their names (name_key)
  std::string source;      // "model", "user"
};
// Those in force of what these holders know, newest first; `name` empty: all, else those of that
// name or into it. Error: retriable when the tables cannot be read.
Result<std::vector<GraphMergeRow>> list_merges(Database& db, const GraphScope& scope,
                                               std::string_view name, std::size_t limit);

}  // namespace clawmark
