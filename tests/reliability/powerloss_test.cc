// Power loss at any write: nothing that was promised is lost, and nothing half-done is left.
//
// Method. A round starts from a store that has read and derived a small history, and is a chain of
// lives. In each the carriers grow, the real workers run, a user states facts, and the disk stops
// at a write drawn from the seed: in a commit, a checkpoint, an opening, a WAL restart. Each such
// moment ends in several ways (tests/reliability/disk.h: every write that no sync covered is kept,
// dropped, torn or garbled; or the process was only killed). After each the store is opened and
// every invariant of invariants.h that holds at any time is checked; the last one lives on. A round
// ends with a life without a crash, and the invariants of an idle store.
//
//   CLAWMARK_CRASHES=100000   how many crash points (default 2,000)
//   CLAWMARK_SEED=17          that round alone

#include "log/graph_events.h"
#include "projections/rebuild.h"
#include "tests/reliability/report.h"
#include "tests/reliability/rig.h"

namespace clawmark::reliability {
namespace {

constexpr int kLives = 4, kEndings = 8;

struct Tally {
  std::int64_t crashes = 0, faults = 0, violations = 0;
  std::int64_t chunks = 0, summaries = 0;  // that rounds ended with: the world model is under test
  std::string first;                       // the first violation, with the seed that reproduces it
  void note(std::uint64_t seed, const char* where, const Violations& found) {
    if (found.empty()) return;
    violations += static_cast<std::int64_t>(found.size());
    if (first.empty()) {
      first = "CLAWMARK_SEED=" + std::to_string(seed) + " " + where + ": " + joined(found);
    }
  }
};

std::int64_t count_events(Database& db, std::string_view type) {
  const auto count = db.query_int("SELECT count(*) FROM events WHERE type = ?", type);
  return count.ok() ? count->value_or(0) : 0;
}

Violations open_and_check(Rig& rig, bool after_power_loss) {
  const auto opened = rig.open();
  if (!opened.ok()) return {"cannot be opened: " + describe(opened.error())};
  return rig.check(after_power_loss);
}

// A crash point in several endings; the rig is open again after the last.
void end_life(Rig& rig, std::uint64_t seed, Tally& tally) {
  rig.close();
  const auto moment = rig.disk().image();
  for (int ending = 0; ending < kEndings; ++ending) {
    rig.close();
    rig.disk().restore(*moment);
    const bool killed = ending == 0;
    killed ? rig.disk().kill() : rig.disk().power_loss(rig.random().next());
    ++tally.crashes;
    tally.note(seed, killed ? "after a kill" : "after a power loss", open_and_check(rig, true));
  }
}

void run_round(Rig& rig, std::uint64_t seed, Tally& tally) {
  rig.rewind(seed);
  tally.note(seed, "at the start", open_and_check(rig, true));
  for (int life = 0; life < kLives && tally.violations == 0; ++life) {
    constexpr int kPages[] = {0, 4, 20, 100};
    rig.checkpoint_pages = kPages[rig.random().below(4)];
    rig.grow();
    const auto crash_at = 1 + rig.random().below(life % 2 == 0 ? 60 : 250);
    const bool at_opening = rig.random().below(4) == 0;  // or in the checkpoint of a closing
    if (at_opening) rig.disk().crash_at = 1 + crash_at % 30;
    rig.close();
    const auto opened = rig.open();
    if (opened.ok()) {
      if (!at_opening) rig.disk().crash_at = crash_at;
      const auto report = rig.work(4);
      if (!report.ok()) tally.note(seed, "at work", {describe(report.error())});
    } else if (!rig.disk().is_dead()) {
      tally.note(seed, "at the opening", {describe(opened.error())});
    }
    end_life(rig, seed, tally);
  }
  if (tally.violations > 0) return;
  const auto report = rig.work(2);
  tally.chunks += count_events(rig.store().db(), event_type::kGraphCompleted);
  tally.summaries += count_events(rig.store().db(), event_type::kSummaryCompleted);
  if (report.ok())
    tally.note(seed, "at the end", rig.check_idle(*report));
  else
    tally.note(seed, "at the end", {describe(report.error())});
}

// Rounds until so many crash points, or the first violation.
Tally run_rounds(Rig& rig, std::int64_t crashes) {
  Tally tally;
  rig.prepare(40);
  const auto only = setting("CLAWMARK_SEED", 0);
  for (std::uint64_t seed = only > 0 ? static_cast<std::uint64_t>(only) : 1;
       tally.crashes < crashes && tally.violations == 0; ++seed) {
    run_round(rig, seed, tally);
    if (only > 0) break;
  }
  rig.close();
  tally.faults = rig.disk().tally().sum();
  return tally;
}

TEST(PowerLoss, no_crash_point_breaks_an_invariant) {
  Rig rig(1);
  const Tally tally = run_rounds(rig, setting("CLAWMARK_CRASHES", 2000));
  report({"power loss", tally.crashes, tally.faults, tally.violations,
          "unsynced writes dropped, torn or garbled"});
  EXPECT_EQ(tally.violations, 0) << tally.first;
  EXPECT_GT(tally.chunks, 0);
  EXPECT_GT(tally.summaries, 0);
}

// --- The harness finds what it is for ------------------------------------------------------------

TEST(PowerLoss, a_cursor_moved_in_a_transaction_of_its_own_is_found) {
  Rig rig(1);
  const auto facts = make_facts_projection({});
  rig.misbehave = [&](Store& store, Pipeline&) {
    Database& db = store.db();
    const WorkerId worker = projection_worker("facts", 1);
    const auto cursor = load_cursor(db, worker);
    if (!cursor.ok()) return;
    auto events = EventLog::read(db, cursor->position, 5);
    if (!events.ok() || events->empty()) return;
    const Seq to = events->back().seq;
    std::erase_if(*events, [&](const Event& event) {
      const auto types = facts->types();
      return std::find(types.begin(), types.end(), event.type) == types.end();
    });
    {
      auto writes = Transaction::begin(db);
      if (!writes.ok() || !facts->apply(*writes, 1, *events).ok() || !writes->commit().ok()) return;
    }
    auto moves = Transaction::begin(db);
    if (!moves.ok()) return;
    if (advance_cursor(*moves, worker, cursor->position, to, {}).ok()) (void)moves->commit();
  };
  const Tally tally = run_rounds(rig, 2000);
  EXPECT_GT(tally.violations, 0);
  EXPECT_NE(tally.first.find("projection facts is not the fold"), std::string::npos) << tally.first;
}

TEST(PowerLoss, an_answer_that_counts_twice_is_found) {
  Rig rig(1);
  rig.misbehave = [](Store& store, Pipeline&) {
    Database& db = store.db();
    auto chunks = EventLog::read(db, {0}, 1, std::vector{std::string_view("graph.completed")});
    if (!chunks.ok() || chunks->empty()) return;
    const Event& chunk = chunks->front();
    NewEvent again;
    again.type = chunk.type;
    again.scope = chunk.scope;
    again.dedupe_key = chunk.dedupe_key + ":again";  // as if each life made a key of its own
    again.occurred = chunk.occurred;
    again.payload = chunk.payload;
    auto txn = Transaction::begin(db);
    if (txn.ok() && store.log().append(*txn, again).ok()) (void)txn->commit();
  };
  const Tally tally = run_rounds(rig, 2000);
  EXPECT_NE(tally.first.find("messages in two windows of graph.completed"), std::string::npos)
      << tally.first;
}

TEST(PowerLoss, an_acknowledgement_before_the_sync_is_found) {
  Rig rig(1);
  rig.state_fact = [](Pipeline&, Store& store, const NewEvent& event) -> Status {
    CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kNormal));
    CLAWMARK_TRY(store.log().append(txn, event));
    return txn.commit();
  };
  const Tally tally = run_rounds(rig, 2000);
  EXPECT_NE(tally.first.find("an acknowledged command is lost"), std::string::npos) << tally.first;
}

}  // namespace
}  // namespace clawmark::reliability
