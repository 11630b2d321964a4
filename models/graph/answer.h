#pragma once
// Reads what a chat model wrote when it was asked for prose and JSON. Pure; any bytes are safe.

#include <string>
#include <string_view>

#include "models/graph.h"

namespace clawmark {

struct ParsedGraph {
  GraphAnswer answer;       // evidence not yet checked
  bool found_json = false;  // deltas were there, perhaps none
};

// The largest object that may be ours is the answer. Prose is what stands before it, else its
// member "prose", else what stands behind it; nothing of any JSON is ever in it, whole, cut, or
// fenced otherwise. Items of unknown types are dropped and counted, as are merges with bad indices:
// {"merge":[{"id":0,"duplicate_of":1}]} names places in "nodes".
ParsedGraph parse_graph_answer(std::string_view text);

// Without what looks like JSON (to the end, when it cannot be read), fences and thinking.
std::string clean_prose(std::string_view text);

}  // namespace clawmark
