#pragma once
// rc_peek, rc_slice, rc_grep, rc_timeline: history outside the context, read on demand
// (docs/history.md).

#include "serve/tools.h"

namespace clawmark {

Result<ToolAnswer> tool_peek(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_slice(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_grep(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_timeline(const ToolCallContext& context, const json::object& params);

// The end of their answers: what makes one less than whole, in the text and as details' "notes".
// `unreadable`: texts that could not be had.
void close_with_notes(std::string& text, json::object& details, const ToolCallContext& context,
                      std::size_t unreadable);

}  // namespace clawmark
