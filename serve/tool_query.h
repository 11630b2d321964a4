#pragma once
// rc_query: a question answered from the history by a cheap model, with the messages it rests on
// (docs/history.md).

#include "serve/tools.h"

namespace clawmark {

Result<ToolAnswer> tool_query(const ToolCallContext& context, const json::object& params);

// llm_query of a script: prompts as they are, under the caller's budget. {prompts, context?} → list
// of texts. Error: invalid, with what to tell the script.
Result<json::value> ask_for_script(const ToolCallContext& context, const json::object& params);

}  // namespace clawmark
