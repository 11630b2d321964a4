#include "workers/budget.h"

#include <string>

#include "workers/prices.h"

namespace clawmark {
namespace {

std::string utc_day(TimeMs now) {
  return format_iso(now).substr(0, 10);
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
  const bool tokens =
      limits.daily_tokens > 0 && spent.input_tokens + spent.output_tokens >= limits.daily_tokens;
  const bool money =
      limits.daily_usd > 0 && static_cast<double>(spent.micro_usd) >= limits.daily_usd * 1e6;
  if (!tokens && !money) return std::optional<TimeMs>{};
  return std::optional<TimeMs>{TimeMs{(now.value / kDayMs + 1) * kDayMs}};
}

}  // namespace clawmark
