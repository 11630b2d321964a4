#pragma once
// Queries of the agent database reader: rows of a session, the check of a saved position, the
// branch that is active, the sessions and archives that there are. All run inside the caller's read
// transaction.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/sqlite.h"
#include "sources/agent_db_schema.h"
#include "sources/source.h"

namespace clawmark {

// One row of transcript_events, still as stored.
struct AgentDbRow {
  std::int64_t seq = 0;
  bool zstd = false;
  std::string payload;
};

Result<std::string> decode(const AgentDbRow& row);  // its JSON text
Result<std::optional<AgentDbRow>> row_at(Database& db, const AgentDbSchema& schema,
                                         std::string_view session_id, std::int64_t seq);

// What one read transaction gives.
struct SessionRead {
  bool there = false;
  std::string generation;
  std::int64_t from = -1, max_seq = -1;
  std::optional<EpochChange> epoch;
  std::vector<AgentDbRow> rows;
  std::optional<std::vector<std::string>> inactive;
};

Result<SessionRead> read_session_rows(Database& db, const AgentDbSchema& schema,
                                      const StreamInfo& stream, const StreamPosition& after,
                                      std::size_t items_max, const Clock& clock);

// Sessions with rows, archives, cold archives, tombstones.
Result<std::vector<StreamInfo>> list_agent_db(Database& db, const AgentDbSchema& schema,
                                              const std::string& agent);

}  // namespace clawmark
