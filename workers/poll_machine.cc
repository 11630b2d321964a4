#include "workers/poll_machine.h"

#include <algorithm>

#include "base/limits.h"

namespace clawmark {

PollMachine::PollMachine(std::uint64_t seed, std::int64_t poll_ms)
    : poll_ms_(poll_ms > 0 ? poll_ms : kPollMs), backoff_(seed) {}

Action PollMachine::resume(const Input& input, TimeMs now) {
  if (condition_.state == "stopped") return Sleep{{now.value + poll_ms_}, true};
  return std::visit(overloaded{
                        [&](const Started&) -> Action { return load(); },
                        [&](const Loaded& l) -> Action { return loaded(l, now); },
                        [&](const Committed& c) -> Action { return committed(c.status, now); },
                        [&](const Woke&) -> Action {
                          if (!backoff_.may_try(now)) return Sleep{backoff_.retry_at(), false};
                          return load();
                        },
                        [&](const auto&) -> Action { return load(); },
                    },
                    input);
}

Action PollMachine::load() {
  return Load{kSourceBatchItems, 0, first_};
}

Action PollMachine::loaded(const Loaded& loaded, TimeMs now) {
  if (!loaded.batch.ok()) return failed(loaded.batch.error(), now);
  first_ = false;
  const Batch& batch = **loaded.batch;
  condition_.pending = batch.pending + static_cast<std::int64_t>(batch.passed);
  if (!batch.hold.empty()) {
    set_state("blocked", "blocked: " + batch.hold, now);
  } else {
    set_state("running", "", now);
  }
  backoff_.success();
  if (batch.passed > 0) return Commit{{}, {}, true};
  std::int64_t until = now.value + poll_ms_;
  if (batch.ready_at) until = std::clamp(batch.ready_at->value, now.value + 1, until);
  return Sleep{{until}, true};
}

Action PollMachine::committed(const Status& status, TimeMs now) {
  return status.ok() ? load() : failed(status.error(), now);
}

Action PollMachine::failed(const Error& error, TimeMs now) {
  if (error.kind != ErrorKind::kRetriable) {
    set_state("stopped", "stopped: " + describe(error), now);
    return Stop{error};
  }
  const TimeMs until = backoff_.failure(now, error.retry_after_ms);
  condition_.attempts = backoff_.failures();
  condition_.retry_at = until;
  set_state("waiting", "waiting until " + format_iso(until) + ": " + describe(error), now);
  return Sleep{until, false};
}

void PollMachine::set_state(std::string state, std::string failure, TimeMs now) {
  if (condition_.state != state || condition_.since.value == 0) condition_.since = now;
  if (state == "running") {
    condition_.attempts = 0;
    condition_.retry_at = {};
  }
  condition_.state = std::move(state);
  condition_.failure = std::move(failure);
}

}  // namespace clawmark
