#include "projections/rebuild.h"
#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::size_t kVerifyBatch = 500;
// No live or half-built generation has this number; its tables are never committed.
constexpr int kScratchGeneration = 1'000'000;

// Folds the log up to a position into scratch tables, takes their digest and rolls everything back.
Result<Hash256> scratch_digest(Database& db, Projection& projection, Seq to) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db));
  CLAWMARK_TRY(db.exec(projection.ddl(kScratchGeneration)));
  Seq after{0};
  while (after < to) {
    CLAWMARK_ASSIGN(auto events, EventLog::read(db, after, kVerifyBatch, projection.types()));
    const bool last = events.size() < kVerifyBatch;
    while (!events.empty() && events.back().seq > to) events.pop_back();
    if (events.empty()) break;
    CLAWMARK_TRY(projection.apply(txn, kScratchGeneration, events));
    after = events.back().seq;
    if (last) break;
  }
  return projection.digest(db, kScratchGeneration);
}

Status verify_log(Database& db, VerifyReport& report) {
  CLAWMARK_ASSIGN(report.log, EventLog::verify(db));
  const std::string where =
      report.log.first_bad ? " at event " + std::to_string(report.log.first_bad->value) : "";
  if (!report.log.dense) report.problems.push_back("the log has a gap" + where);
  if (!report.log.chain_valid) {
    report.problems.push_back("an event differs from what was recorded" + where);
  }
  if (auto dense = EventLog::check_dense(db); !dense.ok()) {
    if (dense.error().kind == ErrorKind::kRetriable) return dense.error();
    if (report.log.dense) report.problems.push_back(dense.error().message);
  }
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  CLAWMARK_ASSIGN(const auto cursors, list_cursors(db));
  for (const auto& cursor : cursors) {
    if (cursor.position > head) {
      report.problems.push_back("cursor " + cursor.worker.name + " stands at " +
                                std::to_string(cursor.position.value) + ", beyond the log's end " +
                                std::to_string(head.value));
    }
  }
  return Ok{};
}

Status verify_projection(Database& db, Projection& projection, VerifyReport& report) {
  const std::string name(projection.name());
  CLAWMARK_ASSIGN(const int generation, live_generation(db, name));
  auto problems = projection.check(db, generation);
  if (!problems.ok()) {
    report.problems.push_back(name + ": " + describe(problems.error()));
  } else {
    for (const auto& problem : problems.value()) report.problems.push_back(name + ": " + problem);
  }
  if (!projection.replayable()) return Ok{};
  auto live = live_digest(db, projection);
  if (!live.ok()) {
    report.problems.push_back(name + ": cannot be read: " + describe(live.error()) +
                              "; run clawmark rebuild");
    report.projections.push_back({name, false, "", ""});
    return Ok{};
  }
  CLAWMARK_ASSIGN(const Hash256 again, scratch_digest(db, projection, live.value().position));
  const bool equal = again == live.value().digest;
  report.projections.push_back({name, equal, to_hex(live.value().digest), to_hex(again)});
  if (!equal) {
    report.problems.push_back(name +
                              ": the live state differs from the log folded again; run "
                              "clawmark rebuild");
  }
  return Ok{};
}

}  // namespace

Result<VerifyReport> verify(Database& db, std::span<Projection* const> projections, TimeMs) {
  CLAWMARK_TRY(register_search(db));
  VerifyReport report;
  CLAWMARK_TRY(verify_log(db, report));
  for (Projection* projection : projections) {
    CLAWMARK_TRY(verify_projection(db, *projection, report));
  }
  return report;
}

}  // namespace clawmark
