#pragma once
// A worker is a pure machine: resume(input, now) says what to do next; whoever drives it does that
// and feeds the outcome back. No I/O, no clock, no randomness but a seeded generator handed in, so
// that a table of calls, or a seeded simulation, can play every fault.
//
//   Started ─► Load ─► Loaded ─┬─► CallModel | RunLocal ─► Answered | Computed ─┬─► Commit ─►
//   Committed ─► …
//                              └─► Sleep ─► Woke                                └─► Park ─► Parked
//
// A CallModel that the day's budget does not hold is not made: Unpaid.
//
// The port (workers/port.h) is a worker's other half: it performs Load, Commit and Park on the
// store.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "log/cursor.h"
#include "log/event.h"
#include "models/graph.h"
#include "models/model.h"
#include "models/summary.h"

namespace clawmark {

// One thing that wants a model: a chunk of text to embed, or a message of an extraction window.
struct WorkItem {
  std::int64_t message = 0;  // seq of its message.observed
  std::string text;          // presentable; for embed
  Hash256 hash;              // of the text; for embed
  WindowMessage window;      // for extract
};

// What one Load found.
struct Batch {
  std::vector<WorkItem> items;         // what the model is to be asked about; may be empty
  std::size_t passed = 0;              // things that need no model: Commit passes over them
  std::int64_t pending = 0;            // what would be left after this batch
  std::optional<TimeMs> ready_at;      // nothing is ready now; something will be then
  std::optional<TimeMs> budget_until;  // the day's budget is spent: no call before
  std::string hold;                    // not empty: the port holds back, and why ("decay_brake: …")
};

// What the model said about some items of a batch.
struct SpanAnswer {
  std::vector<std::optional<Vector>> vectors;  // embed: one per item; nullopt: ask again alone
  std::optional<ExtractAnswer> extraction;     // extract
  std::optional<GraphAnswer> graph;            // graph
  std::optional<SummaryAnswer> summary;        // condense
  bool cut = false;                            // too much was asked at once
  Usage usage;
};

// --- Actions -------------------------------------------------------------------------------------

struct Load {
  std::size_t items_max = 0;
  std::size_t text_bytes_max = 0;  // of one chunk
  bool first = false;              // since the start of this worker
};
struct CallModel {
  HttpRequest request;
  std::int64_t input_tokens = 0;  // estimate, for the budget
};
// Whether the day's budget holds a call (Port::reserve).
struct Allowance {
  std::optional<TimeMs> until;  // not before; nullopt: it is reserved, go on
  bool too_dear = false;        // nor would a day's budget of which nothing is spent
};
// A built-in model: CPU only, may run on any thread.
struct RunLocal {
  std::function<Result<SpanAnswer>()> run;
};
struct Commit {
  std::vector<std::size_t> items;  // of the batch, in order
  SpanAnswer answer;               // about them
  bool last = false;               // all of the batch is done: the cursor moves with it
};
struct Sleep {
  TimeMs until;
  bool idle = false;  // nothing to do, as opposed to waiting for a try or for tomorrow's budget
};
struct Park {
  std::size_t item = 0;  // of the batch
  std::string reason, detail;
  int attempts = 0;
};
struct Stop {
  Error why;
};
using Action = std::variant<Load, CallModel, RunLocal, Commit, Sleep, Park, Stop>;

// --- Inputs --------------------------------------------------------------------------------------

struct Started {};
struct Loaded {
  Result<std::shared_ptr<const Batch>> batch;
};
struct Answered {
  Result<HttpResponse> response;
};
// The call was not made.
struct Unpaid {
  Result<Allowance> why;
};
struct Computed {
  Result<SpanAnswer> answer;
};
struct Committed {
  Status status;
};
struct Parked {
  Status status;
};
struct Woke {};
using Input = std::variant<Started, Loaded, Answered, Unpaid, Computed, Committed, Parked, Woke>;

// What a worker shows of itself.
struct Condition {
  std::string state = "running";  // running, waiting, blocked, stopped
  std::string failure;            // "blocked: http_401 since 2026-…"; empty when well
  int attempts = 0;               // failed calls since the last good one
  TimeMs retry_at;                // zero: not waiting
  TimeMs since;                   // of this state
  std::int64_t pending = 0;       // as of the last load
  std::int64_t mismatches = 0;    // answers that did not fit what was asked
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual Action resume(const Input& input, TimeMs now) = 0;
  virtual const Condition& condition() const = 0;
};

template <class... Ts>
struct overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;

}  // namespace clawmark
