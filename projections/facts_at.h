#pragma once
// Facts as they stood at a time, or at a place in the log.

#include <string>
#include <string_view>
#include <vector>

#include "projections/as_of.h"
#include "projections/facts.h"

namespace clawmark {

// Live facts of these holders as of then, by what was said up to then and counts now; in the order
// of read_facts(). What has been forgotten since is not told of the past either.
Result<std::vector<Fact>> facts_at(Database& db, std::string_view agent,
                                   const std::vector<std::string>& holders, const AsOf& at);

}  // namespace clawmark
