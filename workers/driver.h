#pragma once
// Drives the loops with threads: one writer thread owns the store's connection and runs every slice
// of store work, so that commands of users come between two slices; a network thread speaks to
// endpoints, with no transaction open; one more thread computes built-in models. Polling alone is
// correct: wakes are hints.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "log/store.h"
#include "models/transport.h"
#include "workers/loop.h"

namespace clawmark {

struct WorkerStatus {
  std::string name;
  int generation = 0;
  Seq position;  // of the cursor, as of the last note
  Condition condition;
  std::int64_t pending = 0;      // as of the last look
  std::int64_t commits = 0;      // since start
  double per_second = 0;         // of pending work done lately; 0: not known
  std::int64_t beat_age_ms = 0;  // steady time since the loop last moved
};

class Driver {
 public:
  Driver(Store& store, const Clock& clock, std::vector<WorkerLoop*> loops);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void start(const TransportOptions& transport);
  // Cancels calls in flight, ends after the slice at hand; < 5 s. Called from any thread but the
  // writer's.
  void stop();
  // Runs on the writer's thread before the next slice; never inside a transaction. Not after
  // stop().
  void post(std::function<void(Store&)> work);
  void wake();  // any thread; a hint that there may be something new
  // Calls `done` on the writer's thread when nothing is left to do, or what is left cannot be done
  // now.
  void drain(bool unripe, std::function<void(DrainReport)> done);
  std::vector<WorkerStatus> status() const;  // any thread
  // Steady time since the writer's thread last came round: for the watchdog.
  std::int64_t beat_age_ms() const;
  bool running() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace clawmark
