#pragma once
// rc_repl: a script over the history, in a process that can do nothing else (docs/history.md).

#include "serve/tools.h"

namespace clawmark {

Result<ToolAnswer> tool_repl(const ToolCallContext& context, const json::object& params);

// Under which what a script stores is kept: the caller's agent, conversation and person.
std::string repl_owner(const Sight& sight);

}  // namespace clawmark
