#pragma once
// How far a worker has come, moved by compare-and-swap in the transaction of the writes it covers.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

struct WorkerId {
  std::string name;    // "embed"
  int generation = 1;  // of the projection it builds
  bool operator==(const WorkerId&) const = default;
};

struct CursorState {
  WorkerId worker;
  Seq position;
  std::string state;    // "running", "waiting", "blocked", "stopped"
  std::string failure;  // last error, described; empty when well
  int attempts = 0;     // since the last success
  TimeMs retry_at;      // zero: not waiting
  TimeMs advanced_at;   // last time the position moved
  TimeMs beat_at;       // last sign of life
};

// The row is made at position 0 when it is not there. Error: fatal "beyond_head" when the log ends
// before it.
Result<CursorState> load_cursor(Database& db, const WorkerId& worker);
Result<std::vector<CursorState>> list_cursors(Database& db);
// Exactly one row must change, else conflict "lost_race": another writer is there; the worker must
// stop. Refuses to go backwards or beyond the log's head (fatal).
Status advance_cursor(Transaction& txn, const WorkerId& worker, Seq from, Seq to, TimeMs now);
// Heartbeat and condition; does not touch the position.
Status note_cursor(Database& db, const WorkerId& worker, const CursorState& condition);

}  // namespace clawmark
