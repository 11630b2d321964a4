#pragma once
// The machine of workers that need no model: load, commit, and so on until nothing is left; then
// sleep.

#include "workers/backoff.h"
#include "workers/machine.h"

namespace clawmark {

class PollMachine final : public Machine {
 public:
  PollMachine(std::uint64_t seed, std::int64_t poll_ms);
  Action resume(const Input& input, TimeMs now) override;
  const Condition& condition() const override { return condition_; }

 private:
  Action loaded(const Loaded& loaded, TimeMs now);
  Action committed(const Status& status, TimeMs now);
  Action failed(const Error& error, TimeMs now);
  Action load();
  void set_state(std::string state, std::string failure, TimeMs now);

  std::int64_t poll_ms_;
  Backoff backoff_;
  Condition condition_;
  bool first_ = true;
};

}  // namespace clawmark
