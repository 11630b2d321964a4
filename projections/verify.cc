#include <algorithm>

#include "base/read_snapshot.h"
#include "base/sqlite_uri.h"
#include "projections/rebuild.h"
#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::size_t kVerifyBatch = 500;
// No live or half-built generation has this number; its tables are never committed.
constexpr int kScratchGeneration = 1'000'000;

// Folds the log of `log` up to a position into scratch tables of `db`, takes their digest and rolls
// everything back.
Result<Hash256> scratch_digest(Database& log, Database& db, Projection& projection, Seq to) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db));
  CLAWMARK_TRY(db.exec(projection.ddl(kScratchGeneration)));
  Seq after{0};
  while (after < to) {
    CLAWMARK_ASSIGN(auto events, EventLog::read(log, after, kVerifyBatch, projection.types()));
    const bool last = events.size() < kVerifyBatch;
    while (!events.empty() && events.back().seq > to) events.pop_back();
    if (events.empty()) break;
    CLAWMARK_TRY(projection.apply(txn, kScratchGeneration, events));
    after = events.back().seq;
    if (last) break;
  }
  return projection.digest(db, kScratchGeneration);
}

// The scratch tables in memory; what a fold looks up in the log it finds in the store, beside them.
Result<Hash256> digest_in_memory(Database& log, Projection& projection, Seq to) {
  CLAWMARK_ASSIGN(auto scratch, Database::open_memory());
  CLAWMARK_TRY(scratch.run("ATTACH DATABASE ?1 AS store", file_uri(log.path(), "?mode=ro")));
  return scratch_digest(log, scratch, projection, to);
}

void blame(VerifyReport& report, std::string_view projection, std::string problem) {
  report.problems.push_back(std::move(problem));
  auto& names = report.to_rebuild;
  if (std::find(names.begin(), names.end(), projection) == names.end()) {
    names.emplace_back(projection);
  }
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
  return Ok{};
}

Status verify_cursors(Database& db, VerifyReport& report) {
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  CLAWMARK_ASSIGN(const auto cursors, list_cursors(db));
  for (const auto& cursor : cursors) {
    if (cursor.position <= head) continue;
    report.problems.push_back("cursor " + cursor.worker.name + " stands at " +
                              std::to_string(cursor.position.value) + ", beyond the log's end " +
                              std::to_string(head.value) + "; clawmark doctor --fix puts it back");
  }
  return Ok{};
}

using FoldAgain = std::function<Result<Hash256>(Projection&, Seq to)>;

Status verify_projection(Database& db, Projection& projection, const FoldAgain& fold_again,
                         VerifyReport& report) {
  const std::string name(projection.name());
  CLAWMARK_ASSIGN(const int generation, live_generation(db, name));
  const std::string remedy = "; run clawmark rebuild " + name;
  const auto problems = projection.check(db, generation);
  if (!problems.ok()) {
    if (problems.error().kind == ErrorKind::kRetriable) return problems.error();
    blame(report, name, name + ": cannot be read: " + describe(problems.error()) + remedy);
  } else {
    for (const auto& problem : *problems) blame(report, name, name + ": " + problem + remedy);
  }
  if (!projection.replayable()) return Ok{};
  const auto live = live_digest(db, projection);
  if (!live.ok()) {
    blame(report, name, name + ": cannot be read: " + describe(live.error()) + remedy);
    report.projections.push_back({name, false, "", ""});
    return Ok{};
  }
  CLAWMARK_ASSIGN(const Hash256 again, fold_again(projection, live->position));
  const bool equal = again == live->digest;
  report.projections.push_back({name, equal, to_hex(live->digest), to_hex(again)});
  if (!equal) {
    blame(report, name, name + ": the live state differs from the log folded again" + remedy);
  }
  return Ok{};
}

}  // namespace

Result<VerifyReport> verify(Database& db, std::span<Projection* const> projections, TimeMs) {
  CLAWMARK_TRY(register_search(db));
  VerifyReport report;
  CLAWMARK_TRY(verify_log(db, report));
  CLAWMARK_TRY(verify_cursors(db, report));
  const auto fold_again = [&](Projection& projection, Seq to) {
    return scratch_digest(db, db, projection, to);
  };
  for (Projection* projection : projections) {
    CLAWMARK_TRY(verify_projection(db, *projection, fold_again, report));
  }
  return report;
}

Result<VerifyReport> verify_projections(Database& db, std::span<Projection* const> projections) {
  CLAWMARK_TRY(register_search(db));
  const ReadSnapshot snapshot(db);
  VerifyReport report;
  const auto fold_again = [&](Projection& projection, Seq to) {
    return digest_in_memory(db, projection, to);
  };
  for (Projection* projection : projections) {
    CLAWMARK_TRY(verify_projection(db, *projection, fold_again, report));
  }
  return report;
}

}  // namespace clawmark
