#include "workers/budget.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "workers/prices.h"

namespace clawmark {
namespace {

std::string utc_day(TimeMs now) {
  return format_iso(now).substr(0, 10);
}

TimeMs next_day(TimeMs now) {
  return {(now.value / kDayMs + 1) * kDayMs};
}

std::int64_t tokens_of(const Spent& spent) {
  return spent.input_tokens + spent.output_tokens;
}

// Up to where no sum of a day's spending can come.
std::int64_t cap_micro_usd(const BudgetLimits& limits) {
  return std::llround(std::min(limits.daily_usd * 1e6, 1e15));
}

}  // namespace

Status add_spend(Database& db, std::string_view worker, std::string_view model, const Spent& spent,
                 TimeMs now) {
  CLAWMARK_ASSIGN(const PriceTable prices, kept_prices(db));
  const std::int64_t cost =
      cost_micro_usd(price_of(prices, model), spent.input_tokens, spent.output_tokens);
  return db.run(
      "INSERT INTO spend(day, worker, model, calls, input_tokens, output_tokens,"
      " micro_usd) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT(day, worker, model) DO"
      " UPDATE SET calls = calls + excluded.calls,"
      " input_tokens = input_tokens + excluded.input_tokens,"
      " output_tokens = output_tokens + excluded.output_tokens,"
      " micro_usd = micro_usd + excluded.micro_usd",
      utc_day(now), worker, model, spent.calls, spent.input_tokens, spent.output_tokens,
      spent.micro_usd + cost);
}

Result<Spent> spent_today(Database& db, TimeMs now) {
  CLAWMARK_ASSIGN(auto* query,
                  db.cached("SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0),"
                            " coalesce(sum(output_tokens), 0), coalesce(sum(micro_usd), 0)"
                            " FROM spend WHERE day = ?"));
  Spent out;
  CLAWMARK_ASSIGN(const bool row, query->with(utc_day(now)).step());
  if (row) {
    out = {query->integer(0), query->integer(1), query->integer(2), query->integer(3)};
  }
  query->reset();
  return out;
}

Result<std::optional<TimeMs>> budget_until(Database& db, const BudgetLimits& limits, TimeMs now) {
  if (limits.daily_tokens <= 0 && limits.daily_usd <= 0) return std::optional<TimeMs>{};
  CLAWMARK_ASSIGN(const Spent spent, spent_today(db, now));
  const bool tokens = limits.daily_tokens > 0 && tokens_of(spent) >= limits.daily_tokens;
  const bool money = limits.daily_usd > 0 && spent.micro_usd >= cap_micro_usd(limits);
  if (!tokens && !money) return std::optional<TimeMs>{};
  return std::optional<TimeMs>{next_day(now)};
}

Result<Allowance> allowance_for(Database& db, const BudgetLimits& limits, std::string_view model,
                                const Spent& most, TimeMs now) {
  if (limits.daily_tokens <= 0 && limits.daily_usd <= 0) return Allowance{};
  CLAWMARK_ASSIGN(const PriceTable prices, kept_prices(db));
  CLAWMARK_ASSIGN(const Spent spent, spent_today(db, now));
  const std::int64_t tokens = tokens_of(most);
  const std::int64_t cost = most.micro_usd + cost_micro_usd(price_of(prices, model),
                                                            most.input_tokens, most.output_tokens);
  // What takes nothing of a cap is not held back by it.
  const auto holds = [&](const Spent& before) {
    const bool in_tokens = limits.daily_tokens <= 0 || tokens == 0 ||
                           tokens_of(before) + tokens <= limits.daily_tokens;
    const bool in_money =
        limits.daily_usd <= 0 || cost == 0 || before.micro_usd + cost <= cap_micro_usd(limits);
    return in_tokens && in_money;
  };
  if (holds(spent)) return Allowance{};
  return Allowance{next_day(now), !holds({})};
}

}  // namespace clawmark
