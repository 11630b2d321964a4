#pragma once
// clawmark_set, clawmark_forget, clawmark_reconcile, clawmark_review.

#include "serve/tools.h"

namespace clawmark {

Result<ToolAnswer> tool_set(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_forget(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_reconcile(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_review(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_search(const ToolCallContext& context, const json::object& params);

// What a caller behind a closed wall is told.
ToolAnswer closed_answer(const Sight& sight);

}  // namespace clawmark
