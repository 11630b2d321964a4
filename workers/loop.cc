#include "workers/loop.h"

#include <algorithm>

#include "base/logging.h"

namespace clawmark {

WorkerLoop::WorkerLoop(std::unique_ptr<Machine> machine, std::unique_ptr<Port> port,
                       const Clock& clock)
    : machine_(std::move(machine)), port_(std::move(port)), clock_(clock) {}

void WorkerLoop::feed(const Input& input) {
  if (stopped_) return;
  if (const auto* answered = std::get_if<Answered>(&input)) {
    const auto& response = answered->response;
    if (response.ok() && response->status == 200) {
      // What cannot be settled stays spent as it was reserved.
      if (auto settled = port_->settle(*response); !settled.ok()) {
        log_warning("workers", describe(settled.error()));
      }
    }
  }
  action_ = machine_->resume(input, clock_.now());
  pay();
  stopped_ = std::holds_alternative<Stop>(action_);
  // A machine that cannot work does not load either, and knows nothing of what comes meanwhile.
  const bool waits = std::holds_alternative<Sleep>(action_) || stopped_;
  if (!waits || machine_->condition().state == "running") return;
  const auto left = port_->pending(clock_.now());
  waiting_ = left.ok() ? *left : 0;
}

Condition WorkerLoop::condition() const {
  Condition out = machine_->condition();
  if (out.state != "running") out.pending = std::max(out.pending, waiting_);
  return out;
}

// A call that the budget does not hold may become a smaller one, and that one is asked for too.
void WorkerLoop::pay() {
  while (const auto* call = std::get_if<CallModel>(&action_)) {
    auto allowance = port_->reserve(*call, clock_.now());
    if (allowance.ok() && !allowance->until) return;
    action_ = machine_->resume(Unpaid{std::move(allowance)}, clock_.now());
  }
}

bool WorkerLoop::is_storework() const {
  return std::holds_alternative<Load>(action_) || std::holds_alternative<Commit>(action_) ||
         std::holds_alternative<Park>(action_);
}

bool WorkerLoop::is_idle() const {
  const auto* sleep = std::get_if<Sleep>(&action_);
  return sleep != nullptr && sleep->idle;
}

void WorkerLoop::do_storework() {
  const TimeMs now = clock_.now();
  const Action action = std::move(action_);
  if (const auto* load = std::get_if<Load>(&action)) {
    feed(Loaded{port_->load(*load, now)});
  } else if (const auto* commit = std::get_if<Commit>(&action)) {
    ++commits_;
    feed(Committed{port_->commit(*commit, now)});
  } else if (const auto* park = std::get_if<Park>(&action)) {
    ++commits_;
    feed(Parked{port_->park(*park, now)});
  }
}

namespace {

// Runs one loop until it sleeps or stops. False: told to stop early.
Result<bool> run_loop(WorkerLoop& loop, const Clock& clock, const OnceOptions& options) {
  loop.feed(Woke{});
  for (;;) {
    if (options.slice && !options.slice()) return false;
    if (loop.is_storework()) {
      loop.do_storework();
    } else if (const auto* call = std::get_if<CallModel>(&loop.action())) {
      const CallModel made = *call;
      Result<HttpResponse> response =
          options.call ? options.call(made.request)
                       : make_error(ErrorKind::kRetriable, "transport", "no_transport",
                                    "no transport to call an endpoint with");
      const bool answered = response.ok() && response->status == 200;
      CLAWMARK_TRY(loop.port().called(made, answered, clock.now()));
      loop.feed(Answered{std::move(response)});
    } else if (const auto* local = std::get_if<RunLocal>(&loop.action())) {
      auto answer = local->run();
      loop.feed(Computed{std::move(answer)});
    } else {
      return true;
    }
  }
}

std::optional<TimeMs> soonest_wake(std::span<WorkerLoop* const> loops) {
  std::optional<TimeMs> soonest;
  for (WorkerLoop* loop : loops) {
    const auto* sleep = std::get_if<Sleep>(&loop->action());
    if (sleep == nullptr || sleep->idle || loop->is_stopped()) continue;
    if (!soonest || sleep->until < *soonest) soonest = sleep->until;
  }
  return soonest;
}

}  // namespace

Result<DrainReport> remaining_work(std::span<WorkerLoop* const> loops, TimeMs now) {
  DrainReport report;
  report.done = true;
  for (WorkerLoop* loop : loops) {
    WorkerRemaining row;
    row.worker = loop->name();
    const auto pending = loop->port().pending(now);
    row.remaining = pending.ok() ? *pending : 0;
    row.why = loop->machine().condition().failure;
    if (!pending.ok() && row.why.empty()) row.why = describe(pending.error());
    if (!pending.ok() || row.remaining > 0 || loop->is_stopped()) report.done = false;
    report.workers.push_back(std::move(row));
  }
  return report;
}

Result<DrainReport> run_until_idle(std::span<WorkerLoop* const> loops, const Clock& clock,
                                   const OnceOptions& options) {
  for (WorkerLoop* loop : loops) loop->port().drain(true);
  bool go_on = true;
  while (go_on) {
    const auto commits = [&] {
      std::int64_t sum = 0;
      for (WorkerLoop* loop : loops) sum += loop->commits();
      return sum;
    };
    const std::int64_t before = commits();
    for (WorkerLoop* loop : loops) {
      CLAWMARK_ASSIGN(go_on, run_loop(*loop, clock, options));
      if (!go_on) break;
    }
    if (!go_on || commits() != before) continue;
    const auto until = soonest_wake(loops);
    if (!until || !options.wait || !options.wait(*until)) break;
  }
  for (WorkerLoop* loop : loops) loop->port().drain(false);
  return remaining_work(loops, clock.now());
}

}  // namespace clawmark
