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
//   query_reserve {owner, turn_ms, model, input_tokens, output_tokens, query_cap_micro_usd,
//                 turn_cap_micro_usd, daily_tokens_max, daily_usd_max}
//                 → {"ok", "micro_usd", "left_micro_usd", "price_known", "turn_ms",
//                 "reserved_ms"}, or "why":
//                 "query", "turn", "day"; a newer turn_ms begins a new turn. What is held counts
//                 as spent in table spend, as "query"
//   query_settle  {owner, turn_ms, reserved_micro_usd, reserved_ms, reserved_input_tokens,
//                 reserved_output_tokens, model, input_tokens, output_tokens, micro_usd}
//                 → {"micro_usd"}: what was really spent instead
// `owner` is made by the service from who asks and where, never by the model.
Result<json::object> run_history_command(Database& db, std::string_view command,
                                         const json::object& params, TimeMs now);

}  // namespace clawmark
