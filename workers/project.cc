#include "workers/project.h"

#include "base/limits.h"
#include "projections/rebuild.h"

namespace clawmark {

WorkerId ProjectPort::id() const {
  return projection_worker(projection_.name(), generation_);
}

Result<std::int64_t> ProjectPort::pending(TimeMs) {
  Database& db = store_.db();
  CLAWMARK_ASSIGN(generation_, live_generation(db, projection_.name()));
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(db, id()));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  return head.value - cursor.position.value;
}

Result<std::shared_ptr<const Batch>> ProjectPort::load(const Load&, TimeMs now) {
  auto batch = std::make_shared<Batch>();
  CLAWMARK_ASSIGN(const auto behind, pending(now));
  batch->passed = static_cast<std::size_t>(behind);
  return std::shared_ptr<const Batch>(std::move(batch));
}

Status ProjectPort::commit(const Commit&, TimeMs now) {
  auto passed = fold_step(store_.db(), projection_, generation_, kFoldBatch, now);
  if (!passed.ok() && passed.error().reason != "superseded") return std::move(passed).error();
  return Ok{};  // superseded: a rebuild has swapped; the next load takes the new generation
}

}  // namespace clawmark
