#pragma once
// The five clawmark_* tools: what a model (or a person, through a slash command) may ask. The walls
// are those of the prompt: a caller finds, changes and forgets only what it may see.

#include <string>
#include <string_view>
#include <vector>

#include "projections/as_of.h"
#include "serve/serving.h"

namespace clawmark {

constexpr std::int64_t kOperatorMs = 5000;         // of a search by a person, who can wait
constexpr std::int64_t kToolMs = 250;              // of a search, wall time
constexpr std::int64_t kReconcileWaitMs = 20'000;  // then it goes on in the background

struct ToolAnswer {
  bool ok = true;  // false: refused by rule; `text` says which and what to do
  std::string text;
  json::object details;
};

struct ToolCallContext {
  Serving& serving;
  Database& db;
  const Sight& sight;
  std::string session_id;
  std::string by = "tool";  // or "cli": people's own hands, not a model's
  bool withhold_orders = true;
};

bool is_tool(std::string_view name);
std::vector<std::string_view> tool_names();
// Error: not_found for another name; what the store or the writer says when it cannot.
Result<ToolAnswer> call_tool(const ToolCallContext& context, std::string_view name,
                             const json::object& params);

// Of params.at: a time, or a position of the log (a number); nullopt: now. Error: invalid, with the
// remedy.
Result<std::optional<AsOf>> parse_as_of(Database& db, const json::object& params);

// How far the background work has come, for an answer that could be incomplete: "Index 42% complete
// …"; empty when all is done.
std::string progress_note(Database& db);

// The same for facts: how many messages nobody looked through yet; empty when all is done.
std::string facts_note(Database& db);

}  // namespace clawmark
