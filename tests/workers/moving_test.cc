// Export and import with whole pipelines. Method: seeded conversations are ingested, extracted,
// partly forgotten and purged; the store is written out and read into another one. There every line
// has to be the same again, the projections have to fold to the same digests, and nothing that was
// forgotten may be anywhere. Files that were cut or changed, at a place of the seed's choice,
// change nothing.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "log/moving.h"
#include "projections/forgetting.h"
#include "projections/rebuild.h"
#include "tests/workers/support.h"
#include "workers/purge.h"

namespace clawmark {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kAt = 1'794'900'000'000;

struct MovingWorld : World {
  explicit MovingWorld(unsigned seed) : random(seed) {
    options.retention = seed % 2 == 0 ? Retention::kVerbatim : Retention::kReference;
    held = add("agent-db");
    reopen();
  }

  std::size_t pick(std::size_t below) { return random() % below; }

  // A session of a few messages, some of which are facts.
  void talk() {
    std::vector<Entry> entries;
    const std::size_t count = 2 + pick(6);
    for (std::size_t i = 0; i < count; ++i) {
      ++said;
      std::string text = "word" + std::to_string(said) + " \"quoted\" \xF0\x9F\x8C\xB1\n\ttail";
      if (pick(2) == 0) {
        text = "remember user.thing" + std::to_string(pick(5)) + " = value " + std::to_string(said);
      }
      entries.push_back(message(uuid(said), i % 2 == 0 ? "user" : "assistant", text,
                                kAt + said * 1000, i == 0 ? "" : uuid(said - 1)));
    }
    held->streams.push_back(stream("s" + std::to_string(held->streams.size()), std::move(entries)));
    drain();
  }
  void forget_one(bool purged) {
    const int n = 1 + static_cast<int>(pick(static_cast<std::size_t>(said)));
    const Seq seq{number(
        "SELECT coalesce(max(seq), 0) FROM events WHERE dedupe_key = 'msg:main:" + uuid(n) + "'")};
    auto rows = read_messages(store->db(), std::vector<Seq>{seq});
    ASSERT_TRUE(rows.ok());
    auto events = message_tombstones(store->db(), *rows, false, "asked", clock.now());
    ASSERT_TRUE(events.ok()) << describe(events.error());
    ASSERT_TRUE(pipeline->append_now(*events).ok());
    if (!purged) return;
    ASSERT_TRUE(purge(*store, pipeline->projections(), clock.now()).ok());
  }
  std::string exported() {
    std::string out;
    const auto written = export_store(store->db(), [&](std::string_view line) -> Status {
      out += line;
      return Ok{};
    });
    EXPECT_TRUE(written.ok()) << describe(written.error());
    return out;
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(dir / name, std::ios::binary) << text;
    return dir / name;
  }
  std::map<std::string, Hash256> digests() {
    std::map<std::string, Hash256> out;
    for (Projection* projection : pipeline->projections()) {
      if (!projection->replayable()) continue;
      const auto digest = rebuild(store->db(), *projection, clock.now(), {});
      EXPECT_TRUE(digest.ok());
      if (digest.ok()) out[digest->name] = digest->digest;
    }
    return out;
  }

  std::mt19937 random;
  std::shared_ptr<FakeCarrier> held;
  int said = 0;
};

// Stores that were only imported into: without workers, so that nothing is added.
struct Target {
  Target() {
    StoreOptions where;
    where.path = dir / "clawmark.db";
    auto opened = Store::open(where, clock);
    EXPECT_TRUE(opened.ok());
    store = std::make_unique<Store>(std::move(opened).value());
  }
  std::string lines() {
    std::string out;
    EXPECT_TRUE(export_store(store->db(), [&](std::string_view line) -> Status {
                  out += line;
                  return Ok{};
                }).ok());
    return out;
  }
  ManualClock clock;
  support::TempDir dir;
  std::unique_ptr<Store> store;
};

class Moving : public testing::TestWithParam<unsigned> {};

TEST_P(Moving, a_round_trip_gives_the_same_lines_the_same_log_and_equal_projections) {
  MovingWorld world(GetParam());
  for (int i = 0; i < 4; ++i) world.talk();
  world.forget_one(true);
  world.talk();
  const std::string lines = world.exported();
  Target target;
  const auto first = import_store(*target.store, world.write("e.jsonl", lines));
  ASSERT_TRUE(first.ok()) << describe(first.error());
  EXPECT_EQ(first->fresh, first->events);
  EXPECT_EQ(target.lines(), lines);
  const auto log = EventLog::verify(target.store->db());
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->dense && log->chain_valid);
  const auto again = import_store(*target.store, world.dir / "e.jsonl");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->fresh, 0);
  EXPECT_EQ(target.lines(), lines);

  // The same pipeline over it: equal digests, and no work that was done already is done again.
  const auto before = world.digests();
  const auto position = target.store->path();
  target.store.reset();
  World there;
  there.close();
  std::filesystem::copy_file(position, there.dir / "clawmark.db",
                             std::filesystem::copy_options::overwrite_existing);
  there.open();
  there.extractor->calls = 0;
  there.drain();
  MovingWorld* same = &world;
  std::map<std::string, Hash256> after;
  for (Projection* projection : there.pipeline->projections()) {
    if (!projection->replayable()) continue;
    const auto digest = rebuild(there.store->db(), *projection, there.clock.now(), {});
    ASSERT_TRUE(digest.ok());
    after[digest->name] = digest->digest;
  }
  EXPECT_EQ(after, before);
  EXPECT_EQ(there.number("SELECT count(*) FROM events"),
            same->number("SELECT count(*) FROM events"));
  EXPECT_EQ(there.extractor->calls, 0);
  const auto verified = verify(there.store->db(), there.pipeline->projections(), there.clock.now());
  ASSERT_TRUE(verified.ok());
  EXPECT_TRUE(verified->ok()) << testing::PrintToString(verified->problems);
}

TEST_P(Moving, a_later_export_goes_on_an_older_one_revives_nothing) {
  MovingWorld world(GetParam());
  for (int i = 0; i < 3; ++i) world.talk();
  const std::string early = world.write("early.jsonl", world.exported());
  world.talk();
  world.forget_one(true);
  const std::string lines = world.exported();
  const std::string late = world.write("late.jsonl", lines);
  EXPECT_THAT(support::read_text(early), testing::Not(HasSubstr("\"redacted\":true}")));
  EXPECT_THAT(lines, HasSubstr("\"redacted\":true}"));
  Target target;
  ASSERT_TRUE(import_store(*target.store, early).ok());
  const auto more = import_store(*target.store, late);
  ASSERT_TRUE(more.ok()) << describe(more.error());
  EXPECT_GT(more->fresh, 0);
  EXPECT_LT(more->fresh, more->events);
  EXPECT_EQ(target.lines(), lines) << "what was forgotten there is gone here";
  const auto older = import_store(*target.store, early);
  ASSERT_TRUE(older.ok()) << describe(older.error());
  EXPECT_EQ(older->fresh, 0);
  EXPECT_EQ(target.lines(), lines) << "and stays gone";
}

TEST_P(Moving, a_file_that_was_cut_or_changed_names_its_line_and_changes_nothing) {
  MovingWorld world(GetParam());
  for (int i = 0; i < 2; ++i) world.talk();
  const std::string lines = world.exported();
  Target target;
  const std::string empty = target.lines();
  for (int i = 0; i < 12; ++i) {
    std::string bad = lines;
    const std::size_t at = world.pick(lines.size() - 1);
    if (i % 3 == 0) {
      bad.resize(at);
    } else if (i % 3 == 1) {
      bad[at] = static_cast<char>(bad[at] == 'x' ? 'y' : 'x');
    } else {
      const auto from = lines.rfind('\n', at);  // a whole line is missing
      const auto start = from == std::string::npos ? 0 : from + 1;
      bad.erase(start, lines.find('\n', start) - start + 1);
    }
    const auto refused = import_store(*target.store, world.write("bad.jsonl", bad));
    ASSERT_FALSE(refused.ok()) << "at byte " << at << ", kind " << i % 3;
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(refused.error().message, HasSubstr(", line "));
    if (i % 3 == 1) {
      const auto line =
          std::count(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
      EXPECT_THAT(refused.error().message, HasSubstr(", line " + std::to_string(line) + ":"));
    }
    EXPECT_EQ(target.lines(), empty);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Moving, testing::Range(1U, 7U));

TEST(MovingRules, two_histories_are_not_joined_and_the_remedy_is_said) {
  MovingWorld one(2), other(4);
  one.talk();
  other.talk();
  const std::string before = other.exported();
  const auto refused = import_store(*other.store, one.write("e.jsonl", one.exported()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, "diverged");
  EXPECT_THAT(refused.error().message, HasSubstr("--db-path"));
  EXPECT_EQ(other.exported(), before);
}

TEST(MovingRules, a_dry_run_counts_and_keeps_nothing) {
  MovingWorld world(2);
  world.talk();
  Target target;
  const std::string empty = target.lines();
  const auto tried = import_store(*target.store, world.write("e.jsonl", world.exported()), false);
  ASSERT_TRUE(tried.ok());
  EXPECT_EQ(tried->fresh, tried->events);
  EXPECT_EQ(target.lines(), empty);
}

TEST(MovingRules, a_file_of_something_else_or_of_another_version_is_said) {
  Target target;
  MovingWorld world(2);
  const auto other = import_store(*target.store, world.write("a.jsonl", "{\"some\":\"json\"}\n"));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().reason, "not_an_export");
  const std::string rest = "\"clawmark_export\":1,\"schema\":99,\"rule_2_from\":1}";
  const std::string head =
      "{\"check\":\"" + to_hex(sha256(rest)).substr(0, 16) + "\"," + rest + "\n";
  const auto newer = import_store(*target.store, world.write("b.jsonl", head));
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().reason, "newer");
  EXPECT_FALSE(import_store(*target.store, world.dir / "nothing.jsonl").ok());
}

TEST(MovingRules, a_store_whose_first_events_follow_the_older_chain_moves_whole) {
  MovingWorld world(2);
  world.talk();
  // As a store made before schema 3: all its events are chained by rule 1.
  Target old;
  {
    std::string lines = world.exported();
    ASSERT_TRUE(import_store(*old.store, world.write("e.jsonl", lines)).ok());
  }
  Database& db = old.store->db();
  ASSERT_TRUE(db.exec("DROP TRIGGER events_no_update; DROP TRIGGER chain_rules_no_update").ok());
  const std::int64_t count = *db.query_int("SELECT count(*) FROM events").value();
  Hash256 chain;
  for (std::int64_t seq = 1; seq <= count; ++seq) {
    const auto type = *db.query_text("SELECT type FROM events WHERE seq = ?", seq).value();
    const auto hash = *hash_from_hex(
        *db.query_text("SELECT lower(hex(payload_hash)) FROM events WHERE seq = ?", seq).value());
    std::string input(reinterpret_cast<const char*>(chain.bytes.data()), 32);
    for (int shift = 56; shift >= 0; shift -= 8) input.push_back(static_cast<char>(seq >> shift));
    input += type;
    input.append(reinterpret_cast<const char*>(hash.bytes.data()), 32);
    chain = sha256(input);
    ASSERT_TRUE(db.run("UPDATE events SET chain = ? WHERE seq = ?", chain, seq).ok());
  }
  ASSERT_TRUE(db.run("UPDATE chain_rules SET from_seq = ? WHERE rule = 2", count + 1).ok());
  ASSERT_TRUE(EventLog::verify(db)->chain_valid);
  Target target;
  const auto moved = import_store(*target.store, world.write("old.jsonl", old.lines()));
  ASSERT_TRUE(moved.ok()) << describe(moved.error());
  EXPECT_TRUE(EventLog::verify(target.store->db())->chain_valid);
  EXPECT_EQ(target.lines(), old.lines());
  EXPECT_FALSE(target.store->db().run("UPDATE chain_rules SET from_seq = 1").ok())
      << "still guarded";
}

}  // namespace
}  // namespace clawmark
