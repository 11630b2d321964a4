#pragma once
// What a person looks through: conversations, how facts came about, all relations at once. Each
// takes whose things may be seen, like every other reader.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "projections/graph.h"

namespace clawmark {

struct ConversationRow {
  std::string session_id, session_key, lane;
  std::int64_t messages = 0;  // first seen in it
  TimeMs first, last;
  std::vector<std::string> speakers;  // people, by name
};
// Sessions in which something was said that these audiences heard; the newest first.
Result<std::vector<ConversationRow>> list_conversations(Database& db, std::string_view agent,
                                                        const std::vector<std::string>& audiences,
                                                        std::size_t limit);

// One value that a fact had. View fact_history.
struct FactValueRow {
  std::string holder, subject, value, source, quote;
  TimeMs from;
  std::optional<TimeMs> to;  // none: it stands
  std::int64_t message = 0;
};
// Of a key, by all who hold it, oldest first.
Result<std::vector<FactValueRow>> fact_values(Database& db, std::string_view agent,
                                              const std::vector<std::string>& holders,
                                              std::string_view key);

// A line of the audit trail. View memory_events.
struct ChangeRow {
  std::int64_t id = 0, event = 0;
  std::string type, key, old_value, new_value, source, holder;
  TimeMs at, recorded;
};
struct ChangeQuery {
  std::string key;          // empty: all
  std::string type;         // empty: all
  std::int64_t before = 0;  // only those with a lower id; 0: the newest
  std::size_t limit = 50;
};
// Newest first. What belongs to nobody (a source that drifted) is shown with `all`.
Result<std::vector<ChangeRow>> list_changes(Database& db, std::string_view agent,
                                            const std::vector<std::string>& holders, bool all,
                                            const ChangeQuery& query);

// Relations that are in force, newest first.
Result<std::vector<GraphEdgeRow>> list_edges(Database& db, const GraphScope& scope,
                                             std::size_t limit);

}  // namespace clawmark
