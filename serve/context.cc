#include "serve/context.h"

#include <algorithm>

#include "base/limits.h"
#include "base/read_snapshot.h"
#include "base/utf8.h"
#include "log/event_log.h"
#include "log/graph_events.h"
#include "projections/history.h"
#include "projections/rebuild.h"
#include "projections/summaries.h"
#include "serve/block.h"
#include "serve/history.h"
#include "serve/quote.h"
#include "serve/tool_world.h"

namespace clawmark {
namespace {

constexpr std::size_t kStateLines = 5;
constexpr std::size_t kStateLineChars = 400;
constexpr std::int64_t kCharsMax = 400'000;

// After one of these, text that was made earlier may hold what must not be shown.
const std::vector<std::string_view> kTakesBack = {
    event_type::kFactForgotten,   event_type::kMessageForgotten, event_type::kSessionForgotten,
    event_type::kPersonForgotten, event_type::kSessionDeleted,   event_type::kEventRedacted,
    event_type::kSummaryDissolved};

Result<bool> taken_back_since(Database& db, Seq as_of) {
  if (as_of.value <= 0) return false;
  CLAWMARK_ASSIGN(const auto events, EventLog::read(db, as_of, 1, kTakesBack));
  return !events.empty();
}

std::string summary_entry(const ConversationSummary& summary, std::string_view zone) {
  const std::string from = format_date(summary.from, zone);
  const std::string until = format_date(summary.until, zone);
  return "- sum_" + std::to_string(summary.event) + ", " + std::to_string(summary.messages) +
         " messages, " + from + (from == until ? "" : " to " + until) + ": \"" +
         quote_inline(summary.text) + "\"";
}

// Summaries by time, then the state; the state and what is newest matter most.
Status add_block(Serving& serving, Database& db, const GraphScope& scope,
                 const std::vector<ConversationSummary>& summaries, std::size_t chars,
                 ContextAnswer& answer) {
  const std::string zone = serving.config()->timezone;
  std::vector<std::string> entries;
  for (const auto& summary : summaries) entries.push_back(summary_entry(summary, zone));
  CLAWMARK_ASSIGN(const auto lines, state_lines(db, scope, kStateLines));
  std::size_t used = 0;
  for (const StateLine& line : lines) {
    const std::string text = shorten(quote_inline(line.text), kStateLineChars);
    used += count_code_points(text);
    if (used > static_cast<std::size_t>(std::max(0, serving.config()->state_chars))) break;
    entries.push_back("- where things stand, " + format_date(line.said, zone) + ": \"" + text +
                      "\"");
  }
  std::vector<std::size_t> rank(entries.size());
  for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = rank.size() - 1 - i;
  Block block = context_block(entries, rank, zone, chars);
  answer.block = std::move(block.text);
  answer.left_out = static_cast<std::int64_t>(block.left_out);
  return Ok{};
}

}  // namespace

ContextRequest parse_context(const json::object& body) {
  ContextRequest request;
  request.world = get_string(body, "mode") == "world";
  request.from = TimeMs{get_int(body, "from_ms")};
  request.before = TimeMs{get_int(body, "before_ms")};
  request.chars =
      static_cast<std::size_t>(std::clamp<std::int64_t>(get_int(body, "chars"), 0, kCharsMax));
  request.as_of = Seq{get_int(body, "as_of")};
  return request;
}

Result<ContextAnswer> conversation_context(Serving& serving, Database& db, const Sight& sight,
                                           const std::string& session_id,
                                           const ContextRequest& request) {
  ContextAnswer answer;
  const ReadSnapshot snapshot(db);
  const ToolCallContext context{serving, db, sight, session_id, "tool", true};
  CLAWMARK_ASSIGN(const HistoryPlace place, history_place(context, ""));
  answer.open = !place.refused && place.scope.sessions.has_value();
  if (!answer.open) return answer;
  CLAWMARK_ASSIGN(answer.stored, history_count(db, place.scope));
  CLAWMARK_ASSIGN(answer.held, session_held(db, sight.scope.agent, session_id));
  if (!request.world) return answer;
  CLAWMARK_ASSIGN(answer.as_of, folded_through(db, "graph"));
  CLAWMARK_ASSIGN(answer.stale, taken_back_since(db, request.as_of));
  const auto config = serving.config();
  answer.summarised = !config->extract_url.empty() || !config->summary_url.empty();
  const GraphScope scope = scope_of(sight, serving.clock.now());
  ConversationPart part{scope.agent, scope.holders, *place.scope.sessions, request.from,
                        request.before};
  if (part.before.value == 0) part.before = TimeMs{INT64_MAX};
  CLAWMARK_ASSIGN(const auto summaries, conversation_summaries(db, part));
  for (const auto& summary : summaries) answer.covered = std::max(answer.covered, summary.until);
  answer.summaries = static_cast<std::int64_t>(summaries.size());
  CLAWMARK_TRY(add_block(serving, db, scope, summaries, request.chars, answer));
  return answer;
}

json::object to_json(const ContextAnswer& answer) {
  json::object out = protocol_object();
  out["open"] = answer.open;
  out["stored"] = answer.stored;
  out["held"] = answer.held;
  out["summarised"] = answer.summarised;
  out["covered_ms"] = answer.covered.value;
  out["block"] = answer.block;
  out["summaries"] = answer.summaries;
  out["left_out"] = answer.left_out;
  out["as_of"] = answer.as_of.value;
  out["stale"] = answer.stale;
  return out;
}

}  // namespace clawmark
