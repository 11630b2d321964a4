#pragma once
// Hands of the workers that ask endpoints. What a call takes at most is put down as spent before
// it is made, so that all calls in flight together stay within the day's cap and a crash in the
// middle gives nothing back; what the answer says that it took corrects it. One call at a time.

#include <string>

#include "log/store.h"
#include "workers/budget.h"
#include "workers/port.h"

namespace clawmark {

class PaidPort : public Port {
 public:
  Result<Allowance> reserve(const CallModel& call, TimeMs now) override;
  Status called(const CallModel& call, bool answered, TimeMs now) override;
  Status settle(const HttpResponse& response) override;

 protected:
  PaidPort(Store& store, BudgetLimits limits) : store_(store), limits_(limits) {}
  virtual std::string paid_model() const = 0;  // as it names itself
  // Set when nothing is left of the day: the next one.
  Result<std::optional<TimeMs>> spent_until(TimeMs now);

  Store& store_;

 private:
  Status correct(std::int64_t input_tokens, std::int64_t output_tokens);

  BudgetLimits limits_;
  std::string model_;  // of the call in flight
  Spent reserved_;     // for it; of no call: zero
  std::size_t question_bytes_ = 0;
  TimeMs reserved_at_;  // a call belongs to the day that it was made on
};

}  // namespace clawmark
