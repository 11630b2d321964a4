// Folding again: equal states, safe swaps, nothing left behind.

#include <gmock/gmock.h>

#include "world.h"

namespace clawmark::testing_world {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void tell_story(World& w) {
  const Seq a = w.say({.text = "I use helix", .at = day(0)});
  w.say({.text = "noted", .at = day(0.1), .role = "assistant", .parent = a});
  w.extract({"pref.editor", "helix", 0.9, {a}}, day(0));
  w.state("user.city", "Lyon", day(1));
  w.forget("user.city", day(2));
  w.branch("s1", "agent-db", 1, {a});
}

TEST(Rebuild, gives_the_same_digest_in_a_new_generation_and_drops_the_old_one) {
  World w;
  tell_story(w);
  w.fold();
  for (Projection* projection : w.projections()) {
    const auto before = w.digest(*projection);
    Seq last{0};
    const auto rebuilt = rebuild(w.db(), *projection, w.clock.now(), [&](Seq at, Seq head) {
      EXPECT_LE(at, head);
      last = at;
    });
    ASSERT_TRUE(rebuilt.ok()) << describe(rebuilt.error());
    EXPECT_EQ(rebuilt.value().generation, 2);
    EXPECT_EQ(to_hex(rebuilt.value().digest), before) << projection->name();
    EXPECT_EQ(last.value, 6);
    EXPECT_EQ(rebuilt.value().position.value, 6);
  }
  EXPECT_THAT(w.rows("SELECT name FROM sqlite_schema WHERE name LIKE '%\\_\\_g1%' ESCAPE '\\'"),
              IsEmpty());
  EXPECT_EQ(w.one("SELECT count(*) FROM cursors WHERE generation = 1 AND worker LIKE 'project.%'"),
            "0");
}

TEST(Rebuild, leftovers_of_a_killed_one_are_swept) {
  World w;
  tell_story(w);
  w.fold();
  const auto before = w.digest(*w.facts);
  // A generation half built: tables, some rows, a cursor that claims progress.
  ASSERT_TRUE(w.db().exec(w.facts->ddl(2)).ok());
  ASSERT_TRUE(fold_step(w.db(), *w.facts, 2, 3, w.clock.now()).ok());
  const auto rebuilt = rebuild(w.db(), *w.facts, w.clock.now(), {});
  ASSERT_TRUE(rebuilt.ok());
  EXPECT_EQ(to_hex(rebuilt.value().digest), before);
}

TEST(Rebuild, an_old_generation_may_no_longer_be_folded) {
  World w;
  tell_story(w);
  ASSERT_TRUE(rebuild(w.db(), *w.facts, w.clock.now(), {}).ok());
  const auto stale = fold_step(w.db(), *w.facts, 1, 10, w.clock.now());
  ASSERT_FALSE(stale.ok());
  EXPECT_EQ(stale.error().reason, "superseded");
}

TEST(Rebuild, views_show_the_new_generation_at_once) {
  World w;
  tell_story(w);
  w.fold();
  ASSERT_TRUE(w.db().exec("UPDATE facts__g1 SET value = 'wrong', is_deleted = 0").ok());
  ASSERT_TRUE(rebuild(w.db(), *w.facts, w.clock.now(), {}).ok());
  EXPECT_THAT(w.rows("SELECT value FROM facts WHERE value = 'wrong'"), IsEmpty());
}

TEST(FoldStep, passes_foreign_events_and_stops_at_the_head) {
  World w;
  NewEvent other;
  other.type = "something.else";
  for (int i = 0; i < 5; ++i) w.append(other);
  w.state("user.city", "Lyon", day(0));
  EXPECT_EQ(fold_step(w.db(), *w.facts, 1, 100, w.clock.now()).value(), 6u);
  EXPECT_EQ(fold_step(w.db(), *w.facts, 1, 100, w.clock.now()).value(), 0u);
  EXPECT_EQ(live_digest(w.db(), *w.facts).value().position.value, 6);
}

TEST(FoldStep, a_lost_race_writes_nothing) {
  World w;
  w.state("user.city", "Lyon", day(0));
  // Another writer moves the cursor between our reading and our commit.
  struct Thief : Projection {
    Projection& inner;
    explicit Thief(Projection& p) : inner(p) {}
    std::string_view name() const override { return inner.name(); }
    int fold_version() const override { return inner.fold_version(); }
    std::string ddl(int g) const override { return inner.ddl(g); }
    std::string views(int g) const override { return inner.views(g); }
    std::string drop(int g) const override { return inner.drop(g); }
    std::span<const std::string_view> types() const override { return inner.types(); }
    Status prepare(Database& db, int, std::span<const Event>) override {
      return db.run("UPDATE cursors SET pos = 1 WHERE worker = 'project.facts'");
    }
    Status apply(Transaction& t, int g, std::span<const Event> e) override {
      return inner.apply(t, g, e);
    }
    Result<Hash256> digest(Database& db, int g) const override { return inner.digest(db, g); }
  } thief(*w.facts);
  const auto step = fold_step(w.db(), thief, 1, 100, w.clock.now());
  ASSERT_FALSE(step.ok());
  EXPECT_EQ(step.error().reason, "lost_race");
  EXPECT_EQ(w.one("SELECT count(*) FROM facts"), "0");
}

TEST(Ensure, can_be_called_at_each_start_and_says_what_is_outdated) {
  World w;
  tell_story(w);
  w.fold();
  const auto before = w.digest(*w.facts);
  ASSERT_TRUE(ensure_projections(w.db(), w.projections()).ok());
  EXPECT_EQ(w.digest(*w.facts), before);
  EXPECT_THAT(outdated_projections(w.db(), w.projections()).value(), IsEmpty());
  ASSERT_TRUE(w.db().exec("UPDATE projections SET fold_version = 0 WHERE name = 'messages'").ok());
  ASSERT_TRUE(w.db().exec("DROP TABLE fact_evidence__g1").ok());
  EXPECT_THAT(outdated_projections(w.db(), w.projections()).value(),
              ElementsAre("facts", "messages"));
}

TEST(Verify, is_content_with_a_sound_store_and_leaves_nothing_behind) {
  World w;
  tell_story(w);
  w.fold();
  const auto tables = w.rows("SELECT name FROM sqlite_schema ORDER BY name");
  const auto report = verify(w.db(), w.projections(), w.clock.now());
  ASSERT_TRUE(report.ok()) << describe(report.error());
  EXPECT_THAT(report.value().problems, IsEmpty());
  ASSERT_EQ(report.value().projections.size(), 2u);
  EXPECT_TRUE(report.value().projections[0].equal);
  EXPECT_EQ(w.rows("SELECT name FROM sqlite_schema ORDER BY name"), tables);
}

TEST(Verify, finds_a_silent_edit_of_a_projection) {
  World w;
  tell_story(w);
  w.fold();
  ASSERT_TRUE(w.db().exec("UPDATE messages__g1 SET audience = 'person:mallory'").ok());
  const auto report = verify(w.db(), w.projections(), w.clock.now()).value();
  EXPECT_FALSE(report.ok());
  ASSERT_EQ(report.problems.size(), 1u);
  EXPECT_THAT(report.problems[0], HasSubstr("messages"));
}

TEST(Verify, compares_at_the_position_of_a_fold_that_lags) {
  World w;
  tell_story(w);
  for (Projection* projection : w.projections()) {
    ASSERT_TRUE(fold_step(w.db(), *projection, 1, 2, w.clock.now()).ok());
  }
  EXPECT_TRUE(verify(w.db(), w.projections(), w.clock.now()).value().ok());
}

TEST(Verify, finds_a_cursor_beyond_the_log_and_a_damaged_index) {
  World w;
  tell_story(w);
  w.fold();
  ASSERT_TRUE(
      w.db()
          .exec("UPDATE search_fts__g1_data SET block = CAST('no block of an index, ever' AS BLOB)")
          .ok());
  ASSERT_TRUE(w.db().exec("INSERT INTO cursors(worker, generation, pos) VALUES('x', 1, 99)").ok());
  const auto report = verify(w.db(), w.projections(), w.clock.now()).value();
  ASSERT_EQ(report.problems.size(), 2u);
  EXPECT_THAT(report.problems[0], HasSubstr("beyond"));
  EXPECT_THAT(report.problems[1], HasSubstr("rebuild"));
}

TEST(Rebuild,
     C162_killed_five_times_it_serves_the_old_leaves_one_set_and_goes_on_where_it_was_cut) {
  World w;
  for (int i = 0; i < 2600; ++i) w.say({.text = "note " + std::to_string(i), .at = day(i)});
  w.state("pref.editor", "helix", day(2700));
  w.fold();
  const auto generations = [&] {
    return w.rows(
        "SELECT DISTINCT substr(name, instr(name, '__g') + 3) FROM sqlite_schema WHERE "
        "type = 'table' AND name LIKE 'messages\\_\\_g%' ESCAPE '\\'");
  };
  const std::string live = w.digest(*w.messages);
  struct Killed {};
  const auto killed = [&](std::int64_t at_least) {
    const auto at_once = [&](Seq at, Seq) {
      EXPECT_GE(at.value, at_least) << "what was folded is not folded again";
      throw Killed{};
    };
    EXPECT_THROW((void)rebuild(w.db(), *w.messages, w.clock.now(), at_once), Killed);
  };
  for (int kill = 1; kill <= 5; ++kill) {
    killed(kill * 500);
    ASSERT_TRUE(ensure_projections(w.db(), w.projections()).ok());
    EXPECT_EQ(generations().size(), 2u) << "one half-made set";
    EXPECT_EQ(w.digest(*w.messages), live) << "the old one serves";
    EXPECT_EQ(w.one("SELECT count(*) FROM messages"), "2600");
  }
  const auto done =
      rebuild(w.db(), *w.messages, w.clock.now(), [](Seq at, Seq) { EXPECT_GT(at.value, 2500); });
  ASSERT_TRUE(done.ok()) << describe(done.error());
  EXPECT_EQ(w.digest(*w.messages), live);
  EXPECT_EQ(generations().size(), 1u);

  // What another fold left half-built, and what a purge meets, is taken away.
  killed(500);
  ASSERT_TRUE(w.db().exec("UPDATE rebuilds SET fold_version = fold_version + 1").ok());
  ASSERT_TRUE(ensure_projections(w.db(), w.projections()).ok());
  EXPECT_EQ(generations().size(), 1u);
  killed(500);
  ASSERT_TRUE(drop_half_built(w.db(), w.projections()).ok());
  EXPECT_EQ(generations().size(), 1u);
}

TEST(Rebuild, in_pieces_leaves_room_for_others_and_has_what_they_wrote) {
  World w;
  for (int i = 0; i < 1200; ++i) w.say({.text = "note " + std::to_string(i), .at = day(i)});
  w.fold();
  RebuildStep step;
  int pieces = 0;
  while (!step.done && pieces < 50) {
    const auto next = rebuild_step(w.db(), *w.messages, w.clock.now());
    ASSERT_TRUE(next.ok()) << describe(next.error());
    step = *next;
    if (++pieces > 2) continue;
    w.state("pref.editor", "helix " + std::to_string(pieces), day(1300 + pieces));
    w.fold();
    EXPECT_EQ(w.one("SELECT value FROM facts"), "helix " + std::to_string(pieces))
        << "a statement does not wait for the rebuild";
    w.say({.text = "meanwhile " + std::to_string(pieces), .at = day(1300 + pieces)});
    w.fold();
  }
  EXPECT_GE(pieces, 3);
  EXPECT_EQ(w.one("SELECT count(*) FROM messages"), "1202");
  EXPECT_EQ(live_generation(w.db(), "messages").value(), 2);
}

}  // namespace
}  // namespace clawmark::testing_world
