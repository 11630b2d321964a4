// What the store keeps beside its log: damage is found, counted, and mended where it can be.

#include <gmock/gmock.h>

#include "tests/workers/support.h"
#include "workers/parking.h"
#include "workers/stored_check.h"

namespace clawmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'795'000'000'000 - kHourMs;

// Six messages of an agent's database and six of a transcript, which has copies.
struct Damaged : World {
  Damaged() {
    options.retention = Retention::kRewritten;
    reopen();
    database = add("agent-db");
    database->streams = {stream("s1", talk(1))};
    transcript = add("transcripts");
    transcript->streams = {stream("s2", talk(11))};
    drain();
  }
  static std::vector<Entry> talk(int from) {
    std::vector<Entry> out;
    for (int i = from; i < from + 6; ++i) {
      out.push_back(message(uuid(i), i % 2 ? "user" : "assistant",
                            "this is message number " + std::to_string(i), kMs + i * 1000));
    }
    return out;
  }
  void run(const std::string& sql) { ASSERT_TRUE(store->db().exec(sql).ok()) << sql; }
  StoredState look() {
    auto state = check_stored(store->db(), pipeline->bodies());
    EXPECT_TRUE(state.ok()) << describe(state.error());
    return state.ok() ? *state : StoredState{};
  }
  std::vector<std::string> problems() {
    const auto state = look();
    auto out = vault_problems(state);
    for (auto& more : vector_problems(state)) out.push_back(std::move(more));
    return out;
  }
  void mend() {
    const auto done = mend_stored(*store, pipeline->bodies(), look(), false, clock.now());
    ASSERT_TRUE(done.ok()) << describe(done.error());
    EXPECT_FALSE(done->empty());
    reopen();
    drain();
  }

  std::shared_ptr<FakeCarrier> database, transcript;
};

TEST(Stored, what_is_whole_is_whole) {
  Damaged w;
  EXPECT_EQ(w.look().bodies, 6);
  EXPECT_EQ(w.look().vectors, 12);
  EXPECT_THAT(w.problems(), IsEmpty());
}

TEST(Stored, what_can_be_made_again_is_found_and_made_again) {
  for (const char* damage :
       {"UPDATE bodies SET frame = zeroblob(length(frame))", "UPDATE bodies SET bytes = 1",
        "DELETE FROM bodies", "DELETE FROM bodies WHERE hash = (SELECT min(hash) FROM bodies)",
        "UPDATE vectors SET vector = zeroblob(5)", "UPDATE vectors SET scale = 0",
        "DELETE FROM vectors", "DELETE FROM vectors WHERE hash = (SELECT min(hash) FROM vectors)",
        "DELETE FROM chunks",
        "DELETE FROM chunks WHERE message = (SELECT min(message) FROM chunks)",
        "DELETE FROM locators WHERE carrier = 'agent-db'",
        "INSERT INTO locators VALUES(9999, 'agent-db', 's1', '1')",
        "INSERT INTO chunks VALUES(9999, 0, zeroblob(32), 0, 1)"}) {
    Damaged w;
    w.run(damage);
    EXPECT_FALSE(w.problems().empty()) << damage;
    w.mend();
    EXPECT_THAT(w.problems(), IsEmpty()) << damage;
    EXPECT_EQ(w.look().bodies, 6) << damage;
    EXPECT_EQ(w.number("SELECT count(*) FROM vectors WHERE length(vector) = 8"), 12) << damage;
    EXPECT_EQ(w.number("SELECT count(*) FROM locators"), 12) << damage;
    EXPECT_EQ(w.number("SELECT count(*) FROM texts_gone"), 0) << damage;
    EXPECT_EQ(w.count("message.observed"), 12) << damage;
  }
}

TEST(Stored, texts_whose_copy_is_gone_and_that_the_host_no_longer_has_are_lost_and_counted) {
  Damaged w;
  w.run("DELETE FROM bodies WHERE hash IN (SELECT hash FROM bodies ORDER BY hash LIMIT 2)");
  w.transcript->texts_gone = true;
  EXPECT_EQ(w.look().lost.size(), 2u);
  EXPECT_THAT(w.problems(), ElementsAre(HasSubstr("2 texts are lost")));
  w.mend();
  EXPECT_EQ(w.number("SELECT count(*) FROM texts_gone"), 2);
  EXPECT_THAT(w.problems(), IsEmpty());
}

TEST(Embed, a_vector_of_another_length_is_as_good_as_none) {
  Damaged w;
  w.run("UPDATE vectors SET vector = zeroblob(5)");
  w.run("UPDATE cursors SET pos = 0 WHERE worker = 'embed'");
  w.reopen();
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors WHERE length(vector) = 8"), 12);
}

TEST(Stored, a_worker_s_cursor_beyond_the_log_goes_to_the_start_and_nothing_is_skipped_or_twice) {
  Damaged w;
  const std::size_t embedded = w.embedder->embedded;
  w.run("UPDATE cursors SET pos = pos + 500 WHERE worker IN ('embed', 'extract', 'explore')");
  std::vector<std::string> to_rebuild;
  const auto done = mend_cursors(*w.store, to_rebuild);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->size(), 3u);
  EXPECT_THAT(to_rebuild, IsEmpty());
  w.reopen();
  auto longer = Damaged::talk(1);
  for (int i = 30; i < 60; ++i) {
    longer.push_back(
        message(uuid(i), "user", "this is message number " + std::to_string(i), kMs + i * 1000));
  }
  w.database->streams = {stream("s1", longer)};
  w.drain();
  EXPECT_EQ(w.embedder->embedded, embedded + 30);
  EXPECT_THAT(w.problems(), IsEmpty());
}

TEST(Stored, a_projection_s_cursor_beyond_the_log_is_named_for_its_rebuild_and_a_dead_one_leaves) {
  Damaged w;
  w.run("UPDATE cursors SET pos = 999 WHERE worker = 'project.facts'");
  w.run("INSERT INTO cursors(worker, generation, pos) VALUES('project.facts', 7, 999)");
  std::vector<std::string> to_rebuild;
  ASSERT_TRUE(mend_cursors(*w.store, to_rebuild).ok());
  EXPECT_THAT(to_rebuild, ElementsAre("facts"));
  EXPECT_EQ(w.number("SELECT count(*) FROM cursors WHERE generation = 7"), 0);
}

TEST(Parked, a_number_under_which_nothing_is_parked_is_an_error) {
  Damaged w;
  const auto none = w.pipeline->retry_parked("", {99999});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(w.pipeline->retry_parked().value(), 0u) << "all of none";
  w.run("INSERT INTO parked VALUES(3, 'embed', 1, 2, 'poison', '', 1, 0, 0)");
  EXPECT_EQ(w.pipeline->retry_parked("", {3}).value(), 1u);
  EXPECT_EQ(w.pipeline->retry_parked("", {3}).value(), 0u) << "asked for before";
}

}  // namespace
}  // namespace clawmark
