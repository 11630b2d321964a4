#pragma once
// What the rc_* tools share: which conversation is meant, whose eyes look, texts within a deadline,
// and how a message is shown.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "projections/history.h"
#include "serve/tools.h"

namespace clawmark {

struct HistoryPlace {
  HistoryScope scope;
  std::string label;                  // "this conversation", "all conversations", …
  std::optional<ToolAnswer> refused;  // the wall is closed
};

// `sessionId`: empty or "current": the caller's conversation, which is all sessions under its
// session key; "all": everything in sight; else a session id or key. One that does not exist and
// one behind a wall look alike: both are empty.
Result<HistoryPlace> history_place(const ToolCallContext& context, std::string_view session_id);
// The same of the parameters of a tool; a `sessionId` that is no text is refused.
Result<HistoryPlace> history_place(const ToolCallContext& context, const json::object& params);

// Asked on the command line: answers then name commands and options, not tools and parameters.
bool by_person(const ToolCallContext& context);

struct HistoryText {
  HistoryRow row;
  std::int64_t index = -1;          // in its conversation; -1: not said
  std::optional<std::string> text;  // presentable; nullopt: gone, or not in time
};

// Rows and texts of these messages, in order; those that may not be shown are left out. `index` is
// not set.
Result<std::vector<HistoryText>> history_texts(const ToolCallContext& context,
                                               const HistoryScope& scope,
                                               std::span<const Seq> messages, std::int64_t wait_ms);

// Text of somebody else, fit to stand in an answer: quote_line line by line. A line ends at \n,
// \r\n or \r, and with \n in the answer.
std::string quote_lines(std::string_view text);
// "#12 2026-01-06 08:30 +09:00, Ada, message 345"
std::string history_heading(const HistoryText& message, std::string_view zone);
json::object history_json(const HistoryText& message, std::string_view zone);
// "Times are in UTC: no time zone is configured …"; empty when one is.
std::string zone_note(const Config& config);

// A time that a model says: ISO 8601, or a date, local to `zone` unless it names one. nullopt: none
// of that.
std::optional<TimeMs> parse_when(std::string_view text, std::string_view zone);
// `since` and `before` of the parameters; a bad one is a refusal.
struct TimeRange {
  TimeMs since, before;  // zero: open
  std::optional<ToolAnswer> refused;
};
TimeRange time_range(const json::object& params, std::string_view zone);

// An integer parameter, also given as text or as a whole double; refused when it is none, or out of
// range.
struct IntParam {
  std::int64_t value = 0;
  std::optional<ToolAnswer> refused;
};
IntParam int_param(const json::object& params, std::string_view name,
                   std::optional<std::int64_t> fallback, std::int64_t min, std::int64_t max);

}  // namespace clawmark
