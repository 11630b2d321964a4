#pragma once
// What model calls cost, per UTC day, and where the day's cap is. Table spend.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "workers/machine.h"

namespace clawmark {

struct BudgetLimits {
  std::int64_t daily_tokens = 0;  // 0: no cap
  double daily_usd = 0;           // 0: no cap
};

struct Spent {
  std::int64_t calls = 0, input_tokens = 0, output_tokens = 0, micro_usd = 0;
};

// What the tokens cost by the model's price (prices.h) is added to what is given.
Status add_spend(Database& db, std::string_view worker, std::string_view model, const Spent& spent,
                 TimeMs now);
Result<Spent> spent_today(Database& db, TimeMs now);
// Whether today's cap holds what a call takes at most besides what is spent and reserved.
Result<Allowance> allowance_for(Database& db, const BudgetLimits& limits, std::string_view model,
                                const Spent& most, TimeMs now);
// Set when the cap of today is reached: the next UTC midnight.
Result<std::optional<TimeMs>> budget_until(Database& db, const BudgetLimits& limits, TimeMs now);

}  // namespace clawmark
