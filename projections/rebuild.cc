#include "projections/rebuild.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::size_t kRebuildBatch = 500;
constexpr int kCatchUpRounds = 50;

// Table names "…__g<N>" as created by a projection's ddl.
std::vector<std::string> table_names(const std::string& ddl) {
  std::vector<std::string> names;
  constexpr std::string_view kMarks[] = {"CREATE TABLE IF NOT EXISTS ",
                                         "CREATE VIRTUAL TABLE IF NOT EXISTS "};
  for (const auto mark : kMarks) {
    for (std::size_t at = ddl.find(mark); at != std::string::npos; at = ddl.find(mark, at + 1)) {
      const std::size_t start = at + mark.size();
      names.push_back(ddl.substr(start, ddl.find_first_of(" (", start) - start));
    }
  }
  return names;
}

// Generations of which any table is there.
Result<std::set<int>> generations_present(Database& db) {
  std::set<int> out;
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE "
                             "'%\\_\\_g%' ESCAPE '\\'"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) break;
    const std::string name = statement.string(0);
    const std::size_t at = name.rfind("__g") + 3;
    int generation = 0;
    std::from_chars(name.data() + at, name.data() + name.size(), generation);
    if (generation > 0) out.insert(generation);
  }
  return out;
}

Result<std::optional<std::int64_t>> recorded_generation(Database& db, std::string_view name) {
  return db.query_int("SELECT generation FROM projections WHERE name = ?1", name);
}

Status forget_cursor(Database& db, const WorkerId& worker) {
  return db.run("DELETE FROM cursors WHERE worker = ?1 AND generation = ?2", worker.name,
                worker.generation);
}

Status make_first(Database& db, Projection& projection) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db));
  CLAWMARK_TRY(db.exec(projection.ddl(1)));
  CLAWMARK_TRY(db.exec(projection.views(1)));
  CLAWMARK_TRY(db.run("INSERT INTO projections(name, generation, fold_version) VALUES(?1, 1, ?2)",
                      projection.name(), projection.fold_version()));
  CLAWMARK_TRY(load_cursor(db, projection_worker(projection.name(), 1)));
  return txn.commit();
}

// All generations but the live one, and the half-built one that a rebuild can go on with.
Status sweep(Database& db, const Projection& projection, int live, bool keep_next) {
  CLAWMARK_ASSIGN(const auto present, generations_present(db));
  if (!keep_next) {
    CLAWMARK_TRY(db.run("DELETE FROM rebuilds WHERE name = ?1", projection.name()));
  }
  for (const int generation : present) {
    if (generation == live || (keep_next && generation == live + 1)) continue;
    CLAWMARK_TRY(projection.drop_tables(db, generation));
    CLAWMARK_TRY(forget_cursor(db, projection_worker(projection.name(), generation)));
  }
  return Ok{};
}

Result<bool> has_tables(Database& db, const Projection& projection, int generation) {
  for (const auto& table : table_names(projection.ddl(generation))) {
    CLAWMARK_ASSIGN(
        const auto there,
        db.query_int("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", table));
    if (!there) return false;
  }
  return true;
}

Result<bool> is_beyond_the_log(Database& db, const WorkerId& worker) {
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  CLAWMARK_ASSIGN(
      const auto found,
      db.query_int("SELECT 1 FROM cursors WHERE worker = ?1 AND generation = ?2 AND pos > ?3",
                   worker.name, worker.generation, head.value));
  return found.has_value();
}

// Whether generation live+1 is half-built by this very fold, so that only the rest is to be folded.
Result<bool> is_resumable(Database& db, const Projection& projection, int live) {
  CLAWMARK_ASSIGN(const auto recorded,
                  db.query_int("SELECT 1 FROM rebuilds WHERE name = ?1 AND generation = ?2"
                               " AND fold_version = ?3",
                               projection.name(), live + 1, projection.fold_version()));
  if (!recorded) return false;
  const WorkerId worker = projection_worker(projection.name(), live + 1);
  CLAWMARK_ASSIGN(const auto cursor,
                  db.query_int("SELECT 1 FROM cursors WHERE worker = ?1 AND generation = ?2",
                               worker.name, worker.generation));
  if (!cursor) return false;
  CLAWMARK_ASSIGN(const bool beyond, is_beyond_the_log(db, worker));
  if (beyond) return false;
  return has_tables(db, projection, live + 1);
}

Status begin_anew(Database& db, Projection& projection, int live) {
  CLAWMARK_TRY(sweep(db, projection, live, false));
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db));
  CLAWMARK_TRY(db.exec(projection.ddl(live + 1)));
  CLAWMARK_TRY(forget_cursor(db, projection_worker(projection.name(), live + 1)));
  CLAWMARK_TRY(load_cursor(db, projection_worker(projection.name(), live + 1)));
  CLAWMARK_TRY(db.run("INSERT INTO rebuilds(name, generation, fold_version) VALUES(?1, ?2, ?3)",
                      projection.name(), live + 1, projection.fold_version()));
  return txn.commit();
}

Status swap(Database& db, const Projection& projection, int from, int to) {
  CLAWMARK_TRY(db.exec(projection.views(to)));
  CLAWMARK_TRY(db.run("UPDATE projections SET generation = ?2, fold_version = ?3 WHERE name = ?1",
                      projection.name(), to, projection.fold_version()));
  CLAWMARK_TRY(db.run("DELETE FROM rebuilds WHERE name = ?1", projection.name()));
  return forget_cursor(db, projection_worker(projection.name(), from));
}

// Swaps when the new generation has caught up with the head, checked under the write lock.
Result<bool> try_swap(Database& db, Projection& projection, int from, int to) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db));
  CLAWMARK_ASSIGN(const auto cursor, load_cursor(db, projection_worker(projection.name(), to)));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  if (cursor.position < head) return false;
  CLAWMARK_TRY(swap(db, projection, from, to));
  CLAWMARK_TRY(txn.commit());
  return true;
}

}  // namespace

Status Projection::prepare(Database&, int, std::span<const Event>) {
  return Ok{};
}

Status Projection::drop_tables(Database& db, int generation) const {
  return db.exec(drop(generation));
}

Result<std::vector<std::string>> Projection::check(Database&, int) const {
  return std::vector<std::string>{};
}

WorkerId projection_worker(std::string_view projection, int generation) {
  return {"project." + std::string(projection), generation};
}

Status ensure_projections(Database& db, std::span<Projection* const> projections) {
  CLAWMARK_TRY(register_search(db));
  for (Projection* projection : projections) {
    CLAWMARK_ASSIGN(const auto generation, recorded_generation(db, projection->name()));
    if (!generation) {
      CLAWMARK_TRY(make_first(db, *projection));
      continue;
    }
    // What a rebuild that was killed left behind stays when the next one can go on with it; this
    // process owns the store, so none is running.
    CLAWMARK_ASSIGN(const bool keep, is_resumable(db, *projection, static_cast<int>(*generation)));
    CLAWMARK_TRY(sweep(db, *projection, static_cast<int>(*generation), keep));
    // Views are cheap and may come from an older binary. Tables are not made again here: empty ones
    // under a cursor at the head would pass for complete.
    CLAWMARK_ASSIGN(auto txn, Transaction::begin(db));
    CLAWMARK_TRY(db.exec(projection->views(static_cast<int>(*generation))));
    const auto cursor =
        load_cursor(db, projection_worker(projection->name(), static_cast<int>(*generation)));
    // One beyond the log makes it outdated, and is left to the rebuild.
    if (!cursor.ok() && cursor.error().reason != "beyond_head") return cursor.error();
    CLAWMARK_TRY(txn.commit());
  }
  return Ok{};
}

Result<std::vector<std::string>> outdated_projections(Database& db,
                                                      std::span<Projection* const> projections) {
  std::vector<std::string> out;
  for (const Projection* projection : projections) {
    CLAWMARK_ASSIGN(const int generation, live_generation(db, projection->name()));
    CLAWMARK_ASSIGN(
        const auto version,
        db.query_int("SELECT fold_version FROM projections WHERE name = ?1", projection->name()));
    CLAWMARK_ASSIGN(const bool there, has_tables(db, *projection, generation));
    CLAWMARK_ASSIGN(const bool beyond,
                    is_beyond_the_log(db, projection_worker(projection->name(), generation)));
    const bool whole = there && !beyond && version.value_or(0) == projection->fold_version();
    if (!whole) out.emplace_back(projection->name());
  }
  return out;
}

Result<bool> has_leftovers(Database& db) {
  CLAWMARK_ASSIGN(const auto present, generations_present(db));
  for (const int generation : present) {
    CLAWMARK_ASSIGN(const auto served,
                    db.query_int("SELECT 1 FROM projections WHERE generation = ?1", generation));
    if (!served) return true;
  }
  return false;
}

Result<int> live_generation(Database& db, std::string_view projection) {
  CLAWMARK_ASSIGN(const auto generation, recorded_generation(db, projection));
  if (!generation) {
    return make_error(ErrorKind::kNotFound, "projections", "no_projection",
                      "projection " + std::string(projection) + " was never made");
  }
  return static_cast<int>(*generation);
}

Result<Seq> folded_through(Database& db, std::string_view projection) {
  CLAWMARK_ASSIGN(const int generation, live_generation(db, projection));
  CLAWMARK_ASSIGN(const auto cursor, load_cursor(db, projection_worker(projection, generation)));
  return cursor.position;
}

Result<std::size_t> fold_step(Database& db, Projection& projection, int generation,
                              std::size_t limit, TimeMs now) {
  CLAWMARK_ASSIGN(const int live, live_generation(db, projection.name()));
  if (generation < live) {
    return make_error(ErrorKind::kConflict, "projections", "superseded",
                      std::string(projection.name()) + " generation " + std::to_string(generation) +
                          " has been replaced by " + std::to_string(live));
  }
  const WorkerId worker = projection_worker(projection.name(), generation);
  CLAWMARK_ASSIGN(const auto cursor, load_cursor(db, worker));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  if (cursor.position >= head) return std::size_t{0};
  CLAWMARK_ASSIGN(auto events, EventLog::read(db, cursor.position, limit, projection.types()));
  // The log may have grown since head was read; what is beyond waits for the next step.
  while (!events.empty() && events.back().seq > head) events.pop_back();
  const Seq to = events.size() < limit ? head : events.back().seq;
  CLAWMARK_TRY(projection.prepare(db, generation, events));
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db));
  if (!events.empty()) CLAWMARK_TRY(projection.apply(txn, generation, events));
  CLAWMARK_TRY(advance_cursor(txn, worker, cursor.position, to, now));
  CLAWMARK_TRY(txn.commit());
  return static_cast<std::size_t>(to.value - cursor.position.value);
}

Result<RebuildStep> rebuild_step(Database& db, Projection& projection, TimeMs now) {
  CLAWMARK_TRY(register_search(db));
  CLAWMARK_ASSIGN(const int live, live_generation(db, projection.name()));
  CLAWMARK_ASSIGN(const bool resumable, is_resumable(db, projection, live));
  if (!resumable) CLAWMARK_TRY(begin_anew(db, projection, live));
  const auto passed = fold_step(db, projection, live + 1, kRebuildBatch, now);
  if (!passed.ok()) {
    // Nobody has proved these tables: next time from the start.
    CLAWMARK_TRY(db.run("DELETE FROM rebuilds WHERE name = ?1", projection.name()));
    return passed.error();
  }
  RebuildStep step;
  CLAWMARK_ASSIGN(const auto cursor,
                  load_cursor(db, projection_worker(projection.name(), live + 1)));
  step.at = cursor.position;
  CLAWMARK_ASSIGN(step.head, EventLog::head(db));
  if (step.at < step.head) return step;
  CLAWMARK_ASSIGN(step.done, try_swap(db, projection, live, live + 1));
  if (step.done) CLAWMARK_TRY(projection.drop_tables(db, live));
  return step;
}

Result<ProjectionDigest> rebuild(Database& db, Projection& projection, TimeMs now,
                                 const Progress& progress) {
  int at_the_head = 0;
  for (;;) {
    CLAWMARK_ASSIGN(const RebuildStep step, rebuild_step(db, projection, now));
    if (progress && step.at.value > 0) progress(step.at, step.head);
    if (step.done) return live_digest(db, projection);
    if (step.at >= step.head && ++at_the_head >= kCatchUpRounds) {
      return make_error(ErrorKind::kRetriable, "projections", "outrun",
                        "the log grew faster than " + std::string(projection.name()) +
                            " could be folded again; run it again");
    }
  }
}

Status drop_half_built(Database& db, std::span<Projection* const> projections) {
  for (const Projection* projection : projections) {
    CLAWMARK_ASSIGN(const int live, live_generation(db, projection->name()));
    CLAWMARK_TRY(sweep(db, *projection, live, false));
  }
  return Ok{};
}

Result<ProjectionDigest> live_digest(Database& db, const Projection& projection) {
  ProjectionDigest out;
  out.name = projection.name();
  CLAWMARK_ASSIGN(out.generation, live_generation(db, projection.name()));
  CLAWMARK_ASSIGN(
      const auto position,
      db.query_int("SELECT pos FROM cursors WHERE worker = ?1 AND generation = ?2",
                   projection_worker(projection.name(), out.generation).name, out.generation));
  out.position = {position.value_or(0)};
  CLAWMARK_ASSIGN(out.digest, projection.digest(db, out.generation));
  return out;
}

}  // namespace clawmark
