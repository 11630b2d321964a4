#include "workers/decay.h"

#include <algorithm>

#include "base/limits.h"

namespace clawmark {
namespace {

constexpr char kMetaKey[] = "decay_pass_ms";

NewEvent expired_event(const Statement& row, TimeMs now) {
  NewEvent event;
  event.type = event_type::kFactExpired;
  event.scope.agent = row.string(0);
  event.occurred = now;
  const std::int64_t last = row.integer(4);
  event.dedupe_key = "expired:" + row.string(0) + ":" + row.string(1) + ":" + row.string(2) + ":" +
                     row.string(3) + ":" + std::to_string(last);
  event.payload = {{"key", row.string(3)},
                   {"holder", row.string(1)},
                   {"subject", row.string(2)},
                   {"last_observed_ms", last}};
  return event;
}

}  // namespace

Result<TimeMs> DecayPort::last_pass() {
  CLAWMARK_ASSIGN(
      const auto ms,
      store_.db().query_int("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", kMetaKey));
  return TimeMs{ms.value_or(0)};
}

Status DecayPort::collect(TimeMs now, std::int64_t& extracted) {
  Database& db = store_.db();
  due_.clear();
  CLAWMARK_ASSIGN(const auto newest,
                  db.query_int("SELECT max(occurred_ms) FROM (SELECT occurred_ms FROM events"
                               " WHERE type = ? ORDER BY seq DESC LIMIT 10000)",
                               event_type::kMessageObserved));
  const std::int64_t as_of = std::min(now.value, newest.value_or(0) + kDecayAheadMs);
  CLAWMARK_ASSIGN(const auto all, db.query_int("SELECT count(*) FROM facts WHERE is_deleted = 0"
                                               " AND source = 'extracted'"));
  extracted = all.value_or(0);
  CLAWMARK_ASSIGN(auto* query,
                  db.cached("SELECT agent, holder, subject, key, last_observed_ms FROM facts"
                            " WHERE is_deleted = 0 AND source = 'extracted'"
                            " AND last_observed_ms > 0 AND last_observed_ms < ?"
                            " ORDER BY agent, holder, subject, key"));
  query->with(as_of - kExpireAfterDays * kDayMs);
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    due_.push_back(expired_event(*query, now));
  }
  query->reset();
  return Ok{};
}

Result<std::shared_ptr<const Batch>> DecayPort::load(const Load&, TimeMs now) {
  auto batch = std::make_shared<Batch>();
  due_.clear();
  CLAWMARK_ASSIGN(const TimeMs last, last_pass());
  if (last <= now && now.value - last.value < kDayMs) {
    batch->ready_at = TimeMs{last.value + kDayMs};
    return std::shared_ptr<const Batch>(std::move(batch));
  }
  std::int64_t extracted = 0;
  CLAWMARK_TRY(collect(now, extracted));
  const auto count = due_.size();
  if (count > kExpireFewMax &&
      static_cast<double>(count) > kExpireShareMax * static_cast<double>(extracted)) {
    batch->hold = "decay_brake: a pass would expire " + std::to_string(count) + " of " +
                  std::to_string(extracted) +
                  " extracted facts; nothing was expired; check the clock";
    due_.clear();
    return std::shared_ptr<const Batch>(std::move(batch));
  }
  batch->passed = std::max<std::size_t>(1, count);
  return std::shared_ptr<const Batch>(std::move(batch));
}

Status DecayPort::commit(const Commit&, TimeMs now) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  for (std::size_t at = 0; at < due_.size(); at += kEventBatchMax) {
    const std::size_t size = std::min(kEventBatchMax, due_.size() - at);
    CLAWMARK_TRY(store_.log().append(txn, std::span(due_).subspan(at, size)));
  }
  CLAWMARK_TRY(
      txn.db().run("INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE"
                   " SET value = excluded.value",
                   kMetaKey, std::to_string(now.value)));
  CLAWMARK_TRY(txn.commit());
  due_.clear();
  return Ok{};
}

Result<std::int64_t> DecayPort::pending(TimeMs) {
  return std::int64_t{0};
}

}  // namespace clawmark
