#pragma once
// Summaries as a graph without rings: of a chunk (depth 0: the prose of graph.completed), and of
// summaries (summary.completed). One stands while all messages below it do; one that another
// covers stays readable below it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

struct SummaryRow {
  std::int64_t event = 0;  // sum_<event>
  std::string agent, holder, session_id, text, method;
  int depth = 0;
  std::vector<std::int64_t> sources;  // events of the summaries below; empty: a chunk of messages
  TimeMs said;                        // of the newest message below
};

// All of a holder that stand, oldest first.
Result<std::vector<SummaryRow>> read_summaries(Database& db, std::string_view agent,
                                               std::string_view holder);
// Of these, the ones that no other covers.
std::vector<SummaryRow> top_summaries(const std::vector<SummaryRow>& all);

// What stands for a part of a conversation: summaries of whose messages all belong to it, none of
// them below another, by time.
struct ConversationSummary {
  std::int64_t event = 0;  // sum_<event>
  int depth = 0;
  std::string text;
  TimeMs from, until;         // of the first and last message below it
  std::int64_t messages = 0;  // below it
};
struct ConversationPart {
  std::string agent;
  std::vector<std::string> holders;   // in sight
  std::vector<std::string> sessions;  // one conversation
  TimeMs from, before;                // summaries that begin in [from, before)
};
Result<std::vector<ConversationSummary>> conversation_summaries(Database& db,
                                                                const ConversationPart& part);

// Summaries of one depth and holder that are due to be joined, oldest first; empty: none are.
// Those that once were joined and set free again stay so.
Result<std::vector<SummaryRow>> due_to_condense(Database& db);

}  // namespace clawmark
