#pragma once
// Whether the search index is whole. Inside projections/ only.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

// Whether a message.observed event gets a row in the index.
bool is_search_candidate(const Event& observed);

// What does not fit: rows against the log up to the cursor, sums against rows, and the words of the
// full-text index against what is counted of them. Empty: whole. Reads the log's messages and the
// whole index, no text of a message. Also on a connection that may only read.
Result<std::vector<std::string>> check_search(Database& db, int generation);

}  // namespace clawmark
