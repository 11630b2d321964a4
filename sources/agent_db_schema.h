#pragma once
// What an agent database of OpenClaw (2026.8 and later) offers: probed by table and column, because
// its schema moved from version 1 to 23 within four months.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "sources/source.h"

namespace clawmark {

struct AgentDbSchema {
  std::int64_t user_version = 0;
  bool event_json = false, event_zstd = false;
  bool windows = false, window_channel = false, window_updated = false;
  bool watermarks = false, identities = false, active = false, archives = false, cold = false;
  bool tombstones = false;
  std::string fingerprint;
  std::vector<std::string> notes;
};

// Error: stage "source", reason "not_initialised" (retriable: no tables yet), "missing_table" or
// "missing_column".
Result<AgentDbSchema> probe_agent_db(Database& db);

}  // namespace clawmark
