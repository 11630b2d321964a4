#pragma once
// POST /v1/admin/{command}: for the command line, with the operator's eyes (`as`), and without a
// daemon for those that only read.

#include <string_view>

#include "serve/serving.h"

namespace clawmark {

// Whose eyes: `agent` (default: "main", or the only one there is) and `as` (sight_as(); default:
// everything of the agent, writing as its owner).
Result<Sight> operator_sight(Database& db, const json::object& params);

// The answer's members, without `protocol`. Errors: not_found for another command, invalid for bad
// parameters.
Result<json::object> run_admin(Serving& serving, Database& db, std::string_view command,
                               const json::object& params);

}  // namespace clawmark
