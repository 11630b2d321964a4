// What verify finds in the projections, writing and beside a writer.

#include <gmock/gmock.h>

#include "projections/history.h"
#include "world.h"

namespace clawmark::testing_world {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A store with all that is folded of talk, its signatures included.
struct Talk : World {
  Talk() {
    history =
        make_history_projection(bodies, [](std::string_view raw) { return std::string(raw); });
    Projection* const only[] = {history.get()};
    EXPECT_TRUE(ensure_projections(db(), only).ok());
    std::vector<Seq> said;
    for (int i = 0; i < 12; ++i) {
      said.push_back(
          say({.text = "the " + std::to_string(i) + "th crate of apples", .at = day(i)}));
    }
    say({.text = "said again elsewhere", .at = day(20), .session = "s2"});
    extract({"pref.editor", "helix", 0.9, {said[0]}}, day(0));
    state("user.city", "Lyon", day(1));
    branch("s1", "agent-db", 1, {said[3]});
    redact(said[5]);
    fold();
    EXPECT_GT(fold_step(db(), *history, 1, 1000, clock.now()).value(), 0u);
  }
  std::vector<Projection*> all() {
    auto out = projections();
    out.push_back(history.get());
    return out;
  }
  VerifyReport report() { return verify(db(), all(), clock.now()).value(); }
  VerifyReport beside() {
    auto reader = Store::open_read_only(store->path());
    EXPECT_TRUE(reader.ok());
    auto found = verify_projections(*reader, all());
    EXPECT_TRUE(found.ok()) << describe(found.error());
    EXPECT_EQ(reader->query_int("PRAGMA query_only").value(), 1);
    return found.ok() ? *found : VerifyReport{};
  }
  void must_rebuild(const std::string& name) {
    for (Projection* projection : all()) {
      if (projection->name() == name) {
        EXPECT_TRUE(rebuild(db(), *projection, clock.now(), {}).ok());
      }
    }
  }

  std::unique_ptr<Projection> history;
};

TEST(Verify, what_is_whole_is_whole_also_for_who_may_only_read) {
  Talk w;
  EXPECT_THAT(w.report().problems, IsEmpty());
  const auto beside = w.beside();
  EXPECT_THAT(beside.problems, IsEmpty());
  ASSERT_EQ(beside.projections.size(), 2u);
  EXPECT_TRUE(beside.projections[0].equal && beside.projections[1].equal);
  // Nobody is kept from writing by who reads.
  w.state("user.city", "Nantes", day(30));
  EXPECT_THAT(w.beside().problems, IsEmpty()) << "a fold that lags";
}

TEST(Verify,
     rows_that_an_index_lacks_are_found_and_a_rebuild_of_that_index_alone_brings_them_back) {
  const std::pair<const char*, const char*> damages[] = {
      {"search", "DELETE FROM search_docs__g1 WHERE message IN (2, 3)"},
      {"search", "DELETE FROM search_docs__g1"},
      {"search", "DELETE FROM search_terms__g1"},
      {"search", "DELETE FROM search_terms__g1 WHERE term = 'crate'"},
      {"search", "UPDATE search_terms__g1 SET rows = rows + 1 WHERE term = 'crate'"},
      {"search", "DELETE FROM search_stats__g1"},
      {"search", "DELETE FROM search_talks__g1"},
      {"search", "DELETE FROM search_hidden__g1"},
      {"search", "INSERT INTO search_hidden__g1 VALUES(1)"},
      {"search", "INSERT INTO search_fts__g1(search_fts__g1) VALUES('delete-all')"},
      {"search", "UPDATE search_fts__g1_data SET block = zeroblob(length(block))"},
      {"search", "DROP TABLE search_fts__g1_data"},
      {"history", "DELETE FROM history_grams__g1"},
      {"history", "DELETE FROM history_grams__g1 WHERE message = 7"},
      {"facts", "UPDATE facts__g1 SET value = 'changed by hand'"},
      {"facts", "UPDATE cursors SET pos = 3 WHERE worker = 'project.facts'"},
      {"messages", "DELETE FROM messages__g1 WHERE seq = 2"}};
  for (const auto& [name, damage] : damages) {
    Talk w;
    ASSERT_TRUE(w.db().exec(damage).ok()) << damage;
    const auto seen = w.beside();
    EXPECT_THAT(seen.to_rebuild, ElementsAre(name)) << damage;
    const auto found = w.report();
    EXPECT_THAT(found.to_rebuild, ElementsAre(name)) << damage;
    EXPECT_THAT(found.problems.at(0),
                AllOf(HasSubstr(name), HasSubstr(std::string("clawmark rebuild ") + name)));
    w.must_rebuild(name);
    EXPECT_THAT(w.report().problems, IsEmpty()) << damage;
  }
}

TEST(Ensure, a_projection_whose_cursor_is_beyond_the_log_is_outdated_and_folded_again) {
  Talk w;
  ASSERT_TRUE(
      w.db().exec("UPDATE cursors SET pos = pos + 20 WHERE worker = 'project.messages'").ok());
  EXPECT_THAT(w.report().problems, ElementsAre(AllOf(HasSubstr("beyond"), HasSubstr("--fix"))));
  ASSERT_TRUE(ensure_projections(w.db(), w.all()).ok()) << "the store can be opened";
  EXPECT_THAT(outdated_projections(w.db(), w.all()).value(), ElementsAre("messages"));
  w.must_rebuild("messages");
  EXPECT_THAT(outdated_projections(w.db(), w.all()).value(), IsEmpty());
  EXPECT_THAT(w.report().problems, IsEmpty());
}

TEST(Rebuild, goes_on_with_nothing_whose_cursor_is_beyond_the_log) {
  Talk w;
  const std::string before = w.digest(*w.facts);
  ASSERT_TRUE(rebuild_step(w.db(), *w.facts, w.clock.now()).value().done);
  ASSERT_TRUE(w.db().exec(w.facts->ddl(3)).ok());
  ASSERT_TRUE(w.db()
                  .exec("INSERT INTO rebuilds(name, generation, fold_version) SELECT name, 3,"
                        " fold_version FROM projections WHERE name = 'facts';"
                        "INSERT INTO cursors(worker, generation, pos) VALUES('project.facts', 3,"
                        " 999)")
                  .ok());
  ASSERT_TRUE(rebuild(w.db(), *w.facts, w.clock.now(), {}).ok());
  EXPECT_EQ(w.digest(*w.facts), before);
}

}  // namespace
}  // namespace clawmark::testing_world
