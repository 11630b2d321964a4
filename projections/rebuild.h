#pragma once
// Folding the log again into a new generation beside the live one, and comparing.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "log/cursor.h"
#include "log/event_log.h"
#include "projections/projection.h"

namespace clawmark {

struct ProjectionDigest {
  std::string name;
  int generation = 0;
  Seq position;
  Hash256 digest;
};

// The cursor of a projection's fold: "project.facts" of its generation.
WorkerId projection_worker(std::string_view projection, int generation);
// Makes tables, views and cursors of the first generation where missing, and sweeps what a killed
// rebuild left, unless another can go on with it. Called at each start, with the store open for
// writing.
Status ensure_projections(Database& db, std::span<Projection* const> projections);
// Names of those that must be built again: folded by an older version, with tables missing, or with
// a cursor beyond the log.
Result<std::vector<std::string>> outdated_projections(Database& db,
                                                      std::span<Projection* const> projections);
// Whether tables of a generation are there that no projection serves: of a rebuild that was killed,
// until the next start sweeps them, or of one that runs.
Result<bool> has_leftovers(Database& db);
// Error: not_found when the projection was never made.
Result<int> live_generation(Database& db, std::string_view projection);
// How far its live generation follows the log.
Result<Seq> folded_through(Database& db, std::string_view projection);
// One step of a projection's fold: at most `limit` events after its cursor, in one transaction with
// the cursor. Returns how many events were passed; 0: at the head. Error: conflict "superseded"
// when the generation is older than the live one, "lost_race" when another writer moved the cursor;
// then nothing is written.
Result<std::size_t> fold_step(Database& db, Projection& projection, int generation,
                              std::size_t limit, TimeMs now);
// One piece of a rebuild: at most a batch of events into generation live+1; at the head it swaps
// the views and drops the old one. Between two pieces others may write. Goes on with what a killed
// rebuild of the same fold left half-built. Works on damaged tables: the live ones are never read.
struct RebuildStep {
  bool done = false;
  Seq at, head;
};
Result<RebuildStep> rebuild_step(Database& db, Projection& projection, TimeMs now);
// Takes away what killed rebuilds left half-built, so that the next one begins anew.
Status drop_half_built(Database& db, std::span<Projection* const> projections);
// All pieces one after the other.
using Progress = std::function<void(Seq at, Seq head)>;
Result<ProjectionDigest> rebuild(Database& db, Projection& projection, TimeMs now,
                                 const Progress& progress);
Result<ProjectionDigest> live_digest(Database& db, const Projection& projection);

struct VerifyReport {
  LogCheck log;
  struct Row {
    std::string name;
    bool equal = false;
    std::string live, rebuilt;  // hex
  };
  std::vector<Row> projections;
  std::vector<std::string> problems;
  std::vector<std::string> to_rebuild;  // projections that a rebuild puts right
  bool ok() const { return problems.empty(); }
};
// Log density, chain, hashes; cursors against the head; folds into a scratch generation and
// compares; index against rows.
Result<VerifyReport> verify(Database& db, std::span<Projection* const> projections, TimeMs now);
// Of it only the projections, for a connection that may not write: folds in memory, which then
// holds their tables.
Result<VerifyReport> verify_projections(Database& db, std::span<Projection* const> projections);

}  // namespace clawmark
