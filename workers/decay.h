#pragma once
// decay: once a day, the irreversible decision only: extracted facts that nothing has reinforced
// for kExpireAfterDays expire. Computed confidence needs no events.
//
// Two brakes. Time runs at most kDecayAheadMs past what was said last, so a clock that jumps ahead
// expires nothing. A pass that would expire more than kExpireShareMax of all extracted facts (and
// more than a few) halts and says so.

#include <string>
#include <vector>

#include "log/store.h"
#include "workers/port.h"

namespace clawmark {

class DecayPort final : public Port {
 public:
  explicit DecayPort(Store& store) : store_(store) {}
  WorkerId id() const override { return {"decay", 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;

 private:
  Result<TimeMs> last_pass();
  Status collect(TimeMs now, std::int64_t& extracted);

  Store& store_;
  std::vector<NewEvent> due_;
};

}  // namespace clawmark
