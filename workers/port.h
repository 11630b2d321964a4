#pragma once
// A worker's hands: what a machine asks for, done on the store. All calls come from the writer's
// thread; no transaction is open before or after any of them.

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "log/cursor.h"
#include "workers/machine.h"

namespace clawmark {

class Port {
 public:
  virtual ~Port() = default;
  virtual WorkerId id() const = 0;
  virtual Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) = 0;
  // One transaction: the answer and, with `last`, the cursor.
  virtual Status commit(const Commit& commit, TimeMs now) = 0;
  virtual Status park(const Park&, TimeMs) { return Ok{}; }
  // Before a call is made: reserves what it takes at most of the day's budget.
  virtual Result<Allowance> reserve(const CallModel&, TimeMs) { return Allowance{}; }
  // The call has ended; not answered: it took nothing.
  virtual Status called(const CallModel&, bool, TimeMs) { return Ok{}; }
  // What its answer says that it took counts instead of what was reserved.
  virtual Status settle(const HttpResponse&) { return Ok{}; }
  // What is left to do now: messages, events or streams.
  virtual Result<std::int64_t> pending(TimeMs now) = 0;
  // Until the next time that nothing is left, do not wait for windows to fill.
  virtual void drain(bool) {}
  // Others work in turn with it: pieces are to be so small that nobody waits long.
  virtual void share() {}
};

}  // namespace clawmark
