#pragma once
// The answer of `verify`, and of `doctor --fix`: everything in the store looked at, and what can be
// put right without a decision put right.

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "workers/pipeline.h"

namespace clawmark {

// Folds one projection anew, by its name.
using RebuildOne = std::function<Status(const std::string& projection)>;

// With `rebuild`, what is wrong is mended first, and the answer says in "mended" what was done;
// what it then says of the store is how it stands afterwards.
Result<json::object> verify_store(Pipeline& pipeline, const Clock& clock,
                                  const RebuildOne& rebuild);

}  // namespace clawmark
