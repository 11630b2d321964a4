#include "log/cursor.h"

#include "log/event_log.h"

namespace clawmark {
namespace {

CursorState read_row(const Statement& row) {
  CursorState out;
  out.worker = {row.string(0), static_cast<int>(row.integer(1))};
  out.position = {row.integer(2)};
  out.state = row.string(3);
  out.failure = row.string(4);
  out.attempts = static_cast<int>(row.integer(5));
  out.retry_at = row.time(6);
  out.advanced_at = row.time(7);
  out.beat_at = row.time(8);
  return out;
}

Result<std::optional<CursorState>> find_cursor(Database& db, const WorkerId& worker) {
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT worker, generation, pos, state, failure, attempts,"
                                         " retry_ms, advanced_ms, beat_ms FROM cursors"
                                         " WHERE worker = ? AND generation = ?"));
  CLAWMARK_ASSIGN(const bool found, query->with(worker.name, worker.generation).step());
  std::optional<CursorState> out;
  if (found) out = read_row(*query);
  query->reset();
  return out;
}

Error cursor_error(ErrorKind kind, const char* reason, const WorkerId& worker,
                   const std::string& what) {
  return make_error(
      kind, "cursor", reason,
      "cursor " + worker.name + " (generation " + std::to_string(worker.generation) + ") " + what);
}

}  // namespace

Result<CursorState> load_cursor(Database& db, const WorkerId& worker) {
  CLAWMARK_ASSIGN(auto found, find_cursor(db, worker));
  if (found) {
    CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
    if (found->position <= head) return *std::move(found);
    return cursor_error(ErrorKind::kFatal, "beyond_head", worker,
                        "is at " + std::to_string(found->position.value) +
                            ", but the log ends at " + std::to_string(head.value) +
                            ": events were lost, or the row was changed by hand; `clawmark "
                            "doctor` says more");
  }
  CLAWMARK_TRY(db.run("INSERT OR IGNORE INTO cursors(worker, generation, pos) VALUES (?, ?, 0)",
                      worker.name, worker.generation));
  CLAWMARK_ASSIGN(found, find_cursor(db, worker));
  if (found) return *std::move(found);
  return cursor_error(ErrorKind::kFatal, "missing", worker, "cannot be made");
}

Result<std::vector<CursorState>> list_cursors(Database& db) {
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT worker, generation, pos, state, failure, attempts,"
                                         " retry_ms, advanced_ms, beat_ms FROM cursors"
                                         " ORDER BY worker, generation"));
  std::vector<CursorState> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back(read_row(*query));
  }
  query->reset();
  return out;
}

Status advance_cursor(Transaction& txn, const WorkerId& worker, Seq from, Seq to, TimeMs now) {
  if (to < from) {
    return cursor_error(
        ErrorKind::kFatal, "backwards", worker,
        "may not go back from " + std::to_string(from.value) + " to " + std::to_string(to.value));
  }
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(txn.db()));
  if (to > head) {
    return cursor_error(ErrorKind::kFatal, "beyond_head", worker,
                        "may not go to " + std::to_string(to.value) + ": the log ends at " +
                            std::to_string(head.value));
  }
  CLAWMARK_TRY(
      txn.db().run("UPDATE cursors SET pos = ?, state = 'running', failure = '',"
                   " attempts = 0, retry_ms = 0, advanced_ms = ?, beat_ms = ?"
                   " WHERE worker = ? AND generation = ? AND pos = ?",
                   to.value, now, now, worker.name, worker.generation, from.value));
  if (txn.db().changes() != 1) {
    return cursor_error(ErrorKind::kConflict, "lost_race", worker,
                        "is not at " + std::to_string(from.value) + ": another writer is at work");
  }
  return Ok{};
}

Status note_cursor(Database& db, const WorkerId& worker, const CursorState& condition) {
  return db.run(
      "INSERT INTO cursors(worker, generation, pos, state, failure, attempts, retry_ms,"
      " beat_ms) VALUES (?, ?, 0, ?, ?, ?, ?, ?) ON CONFLICT(worker, generation)"
      " DO UPDATE SET state = excluded.state, failure = excluded.failure,"
      " attempts = excluded.attempts, retry_ms = excluded.retry_ms,"
      " beat_ms = excluded.beat_ms",
      worker.name, worker.generation, condition.state, condition.failure, condition.attempts,
      condition.retry_at, condition.beat_at);
}

}  // namespace clawmark
