#pragma once
// One worker: its machine and its port, one action at a time. What concerns the store is done here;
// calls of models, sleeping and stopping are left to whoever drives (driver.h with threads,
// run_until_idle without).

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "models/model.h"
#include "workers/machine.h"
#include "workers/port.h"

namespace clawmark {

class WorkerLoop {
 public:
  WorkerLoop(std::unique_ptr<Machine> machine, std::unique_ptr<Port> port, const Clock& clock);
  // Feeds an input, then holds the action that it led to. What a call takes is reserved here,
  // before whoever drives makes it.
  void feed(const Input& input);
  // The action at hand concerns the store only.
  bool is_storework() const;
  // Does it and feeds the outcome. Only when is_storework().
  void do_storework();
  const Action& action() const { return action_; }
  Machine& machine() { return *machine_; }
  Port& port() { return *port_; }
  std::string name() const { return port_->id().name; }
  std::int64_t commits() const { return commits_; }
  // The machine's, with what waits for it while it cannot work.
  Condition condition() const;
  bool is_idle() const;
  bool is_stopped() const { return std::holds_alternative<Stop>(action_) || stopped_; }

 private:
  void pay();

  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Port> port_;
  const Clock& clock_;
  Action action_ = Sleep{};
  std::int64_t commits_ = 0;
  std::int64_t waiting_ = 0;  // as of the last time that it could not work
  bool stopped_ = false;
};

struct WorkerRemaining {
  std::string worker;
  std::int64_t remaining = 0;
  std::string
      why;  // "waiting until …: timeout", "blocked: http_401 since …"; empty when nothing remains
};

// What a drain left behind.
struct DrainReport {
  bool done = false;  // nothing remains
  std::vector<WorkerRemaining> workers;
  std::int64_t parked = 0;
};

struct OnceOptions {
  // Asks an endpoint and waits for the answer. Empty: every call fails as retriable,
  // "no_transport".
  std::function<Result<HttpResponse>(const HttpRequest&)> call;
  // Waits until then (or moves a manual clock there); false: wait no more, report what remains.
  std::function<bool(TimeMs until)> wait;
  // After each slice: for progress and for stopping early (false stops).
  std::function<bool()> slice;
};

// Runs the loops in this order, each until it sleeps, again and again until none has anything to
// do. One thread.
Result<DrainReport> run_until_idle(std::span<WorkerLoop* const> loops, const Clock& clock,
                                   const OnceOptions& options);
// What is left now, and why.
Result<DrainReport> remaining_work(std::span<WorkerLoop* const> loops, TimeMs now);

}  // namespace clawmark
