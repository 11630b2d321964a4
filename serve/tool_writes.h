#pragma once
// clawmark_set, clawmark_forget, clawmark_reconcile, clawmark_review, and what they share.

#include <vector>

#include "projections/facts.h"
#include "serve/tools.h"

namespace clawmark {

Result<ToolAnswer> tool_set(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_forget(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_reconcile(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_review(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_search(const ToolCallContext& context, const json::object& params);

ToolAnswer refusal(std::string text, json::object details = {});
// What was asked for makes no sense as it stands, whoever asks: `details.invalid` says so.
ToolAnswer bad_request(std::string text, json::object details = {});
// An event about a fact on the caller's behalf, with a dedupe key of its own.
NewEvent fact_event(const ToolCallContext& context, const char* type, std::string_view prefix,
                    json::object payload);
// To the one writer. Error: retriable when there is none.
Status submit(const ToolCallContext& context, std::vector<NewEvent> events);
// Live facts under `key` in what this caller may change.
Result<std::vector<Fact>> changeable(const ToolCallContext& context, std::string_view key);
// What a caller behind a closed wall is told.
ToolAnswer closed_answer(const Sight& sight);

}  // namespace clawmark
