#pragma once
// The machine of every worker that asks a model (embed, extract): three kinds of failure, one way
// each.
//   retriable  never skips: backs off with jitter, honours Retry-After, opens the circuit after 5
//   in a row poison     bisected down to the one item, which is parked after kIsolatedTries tries
//   alone fatal      this worker stops
// A retriable failure that sticks to one item while the server answers others (or a tiny canary
// request) is treated as poison: one stuck text must not block the rest for ever. No item is parked
// before the canary fared better than it: a login page or a wrong model's name makes every request
// look like poison.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workers/backoff.h"
#include "workers/machine.h"

namespace clawmark {

// What the machine needs to know of its model.
class ModelWork {
 public:
  virtual ~ModelWork() = default;
  virtual bool is_local() const = 0;
  virtual bool needs_probe() const = 0;  // ask the canary before the first load
  virtual std::size_t items_per_load() const = 0;
  virtual std::size_t items_per_request() const = 0;
  virtual std::size_t text_bytes_max() const = 0;
  virtual HttpRequest plan(std::span<const WorkItem> items) const = 0;
  virtual Result<SpanAnswer> interpret(const Result<HttpResponse>& response,
                                       std::span<const WorkItem> items) = 0;
  virtual Result<SpanAnswer> run_local(std::span<const WorkItem> items) = 0;  // any thread
  virtual std::vector<WorkItem> canary() const = 0;                           // a harmless question
  virtual bool may_split() const { return true; }  // an answer about half of the items is one
};

// Servers that asked for silence, by origin ("https://api.example:443"), shared by all machines.
struct QuietBoard {
  std::map<std::string, TimeMs> until;
};

struct MachineOptions {
  std::uint64_t seed = 1;
  std::int64_t poll_ms = 0;           // 0: kPollMs
  std::string origin;                 // of the endpoint; empty: local
  std::shared_ptr<QuietBoard> quiet;  // may be null
};

class ModelMachine final : public Machine {
 public:
  ModelMachine(std::shared_ptr<ModelWork> work, MachineOptions options);
  Action resume(const Input& input, TimeMs now) override;
  const Condition& condition() const override { return condition_; }

 private:
  struct Span {
    std::vector<std::size_t> items;
    int failures = 0;                  // retriable ones
    std::int64_t good_calls_then = 0;  // good_calls_ when it failed first
    bool server_alive = false;         // proven since
    TimeMs not_before;
  };
  enum class Asking { kSpan, kProbe, kCanary };

  Action on_loaded(const Loaded& loaded, TimeMs now);
  Action on_answer(Result<SpanAnswer> answer, bool http_ok, TimeMs now);
  Action on_unpaid(const Result<Allowance>& why, TimeMs now);
  Action on_committed(const Status& status, TimeMs now);
  Action on_woke(TimeMs now);
  Action load(TimeMs now);
  Action next(TimeMs now);
  std::optional<TimeMs> silent_until(TimeMs now) const;
  void note_quiet(TimeMs now);
  Action ask(Asking what, TimeMs now);
  Action good(SpanAnswer answer, TimeMs now);
  Action bad(const Error& error, bool http_ok, TimeMs now);
  Action content_failure(const Error& error, TimeMs now);
  Action retriable_failure(const Error& error, TimeMs now);
  Action sticking(const Error& error, TimeMs now);
  Action failed_alone(const Error& error, TimeMs now);
  Action park(const Error& error);
  Action after_probe(const Result<SpanAnswer>& answer, bool http_ok, TimeMs now);
  Action after_canary(const Result<SpanAnswer>& answer, bool http_ok, TimeMs now);
  Action blame(TimeMs now);
  Action after_blame(const Result<SpanAnswer>& answer, bool http_ok, TimeMs now);
  Action wait(TimeMs until, TimeMs now);
  Action wait_for_budget(TimeMs until, bool too_dear, TimeMs now);
  Action stop(const Error& error, TimeMs now);
  void split(Span span);
  void note_failure(const Error& error, TimeMs now);
  void be_well(TimeMs now);
  std::vector<WorkItem> items_of(const Span& span) const;
  std::size_t items_per_load() const;

  std::shared_ptr<ModelWork> work_;
  MachineOptions options_;
  Backoff backoff_;
  Condition condition_;
  std::shared_ptr<const Batch> batch_;
  std::deque<Span> queue_;
  Span current_;
  Asking asking_ = Asking::kSpan;
  std::optional<Commit> pending_commit_;
  std::map<std::size_t, int> tries_;  // item → tries alone
  Error last_error_;
  std::int64_t good_calls_ = 0;
  int failures_in_a_row_ = 0;   // of calls, without a good one between them
  std::size_t window_max_ = 0;  // learnt from cut answers; 0: as the work says
  int windows_since_cut_ = 0;
  bool first_load_ = true;
  bool idle_ = false;
  bool probed_ = false;
  bool canary_due_ = false;      // current_ waits for it
  bool blames_content_ = false;  // the canary decides whether current_ is parked
  TimeMs wake_at_;
};

// "blocked: http_401 since …" and the like.
std::string blocked_text(std::string_view reason, TimeMs since);
std::string url_origin(std::string_view url);

}  // namespace clawmark
