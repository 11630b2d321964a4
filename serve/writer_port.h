#pragma once
// What serving asks of the one writer. Implemented in cmd/ over the workers' pipeline; serve/ may
// not know it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "log/event.h"
#include "serve/caller.h"

namespace clawmark {

struct WorkerState {
  std::string name;   // "ingest", "embed", "extract", "facts", …
  std::string state;  // "running", "waiting", "blocked", "stopped"
  std::string failure;
  Seq position;
  std::int64_t lag = 0;  // events (ingest: messages, as far as known) still before it
  int attempts = 0;
  TimeMs retry_at, beat_at;
};

struct Remaining {
  std::int64_t ingest = 0, embed = 0, extract = 0, graph = 0;
};

// A stage with work left that cannot be done as things are, and why.
struct BlockedStage {
  std::string worker, why;
};

struct ReconcileAnswer {
  bool done = false;
  bool stuck = false;  // all that is left is blocked: waiting does not help
  Remaining remaining;
  std::vector<BlockedStage> blocked = {};
};

// Safe from several threads.
class WriterPort {
 public:
  virtual ~WriterPort() = default;
  // Appends the events, commits at FULL and folds facts up to them; when it returns Ok, every new
  // reader sees it.
  virtual Status submit(std::vector<NewEvent> events) = 0;
  // Wakes all workers and waits at most `wait_ms` until nothing is left; drain: also what is not
  // yet ripe (windows below their size). Goes on in the background when the time is over.
  virtual Result<ReconcileAnswer> reconcile(bool drain, std::int64_t wait_ms) = 0;
  virtual std::vector<WorkerState> workers() = 0;
  // A hint from the host: "transcript", "session_end", "reset", "shutdown". Returns at once.
  virtual void notify(const Caller& caller, std::string_view kind) = 0;
  // "rebuild" {projection?}, "verify", "purge", "estimate", "parked_retry" {event?}: the answer of
  // the command's --json. "serve_context" {ours}: whether the host builds requests from what we
  // keep; answers {keeps_all}.
  virtual Result<json::object> run(std::string_view command, const json::object& params) = 0;
  // Extra members for /v1/status, as the pipeline sees fit; may be empty.
  virtual json::object describe() { return {}; }
};

}  // namespace clawmark
