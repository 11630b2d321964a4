#pragma once
// What an LCM (lossless-claw) database offers. Its 43 versions cannot be told apart by number, so
// tables, columns and types are probed; what is missing is named, never guessed (LCM reference,
// sections 1.3, 1.4).

#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

struct LcmSchema {
  bool token_count = false, identity_hash = false, entry_id = false, sender = false;
  bool session_key = false, active = false, archive_cause = false;
  bool parts = false, large_files = false, bootstrap = false, sequence = false;
  std::string fingerprint;
  std::vector<std::string> notes;
};

// Error: stage "source", reason "not_initialised" (retriable), "missing_table", "missing_column",
// "column_type" or "corrupt".
Result<LcmSchema> probe_lcm(Database& db);

}  // namespace clawmark
