#pragma once
// What happens when an event that a projection has folded is redacted: the generation is folded
// again from the log, whose payload is already blank, so that it equals what a rebuild would give.

#include <span>

#include "log/event_log.h"
#include "projections/projection.h"

namespace clawmark {

constexpr std::size_t kRefoldBatch = 500;

// `fold` has `Status fold(const Event&)` and `Result<bool> touched_by(Seq)`.
template <class Fold>
Status apply_or_refold(const Projection& projection, Transaction& txn, int generation,
                       std::span<const Event> events, Fold& fold) {
  bool again = false;
  for (const Event& event : events) {
    if (event.type == event_type::kEventRedacted) {
      CLAWMARK_ASSIGN(const bool touched, fold.touched_by({get_int(event.payload, "seq")}));
      again = again || touched;
      continue;
    }
    CLAWMARK_TRY(fold.fold(event));
  }
  if (!again) return Ok{};
  Database& db = txn.db();
  CLAWMARK_TRY(db.exec(projection.drop(generation) + projection.ddl(generation)));
  const Seq last = events.back().seq;
  Seq after{0};
  while (after < last) {
    CLAWMARK_ASSIGN(const auto batch, EventLog::read(db, after, kRefoldBatch, projection.types()));
    for (const Event& event : batch) {
      if (event.seq > last) return Ok{};
      if (event.type != event_type::kEventRedacted) CLAWMARK_TRY(fold.fold(event));
    }
    if (batch.size() < kRefoldBatch) break;
    after = batch.back().seq;
  }
  return Ok{};
}

}  // namespace clawmark
