#pragma once
// What the rc_* tools write down: values that scripts store, and the money that questions to a
// model cost in the turn at hand. Tables repl_values and query_turns.

#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

// Whether run_history_command() knows it.
bool is_history_command(std::string_view command);

// In one transaction each, on the writer's connection:
//   repl_store    {owner, agent, name, value}  → {"ok":true}, or {"ok":false,"message"} over a
//   limit repl_get      {owner, name}                → {"value"}: null when there is none
//   repl_forget   {agent}                      → {}: after something was forgotten
//   query_reserve {owner, turn_ms, micro_usd, cap_micro_usd}
//                 → {"ok":bool,"left_micro_usd"}: a newer turn_ms begins a new turn
//   query_settle  {owner, reserved_micro_usd, model, input_tokens, output_tokens, micro_usd}
//                 → {}: what was really spent instead; also in table spend, as "query"
// `owner` is made by the service from who asks and where, never by the model.
Result<json::object> run_history_command(Database& db, std::string_view command,
                                         const json::object& params, TimeMs now);

}  // namespace clawmark
