// Forgetting in the world model: gone from its tables at once, after a rebuild, and from the bytes
// after a purge; what rests on other words stays.

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "base/files.h"
#include "projections/forgetting.h"
#include "projections/rebuild.h"
#include "tests/workers/graph_support.h"
#include "workers/purge.h"

namespace clawmark {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kKey[] = "agent:main:telegram:direct:101";

struct ForgetGraph : GraphWorld {
  using GraphWorld::GraphWorld;

  Seq seq_of(int n) {
    return {number("SELECT seq FROM events WHERE dedupe_key = 'msg:main:" + uuid(n) + "'")};
  }
  void forget_messages(const std::vector<int>& which, bool keep_facts = false) {
    std::vector<Seq> seqs;
    for (const int n : which) seqs.push_back(seq_of(n));
    auto rows = read_messages(store->db(), seqs);
    ASSERT_TRUE(rows.ok());
    auto events = message_tombstones(store->db(), *rows, keep_facts, "asked", clock.now());
    ASSERT_TRUE(events.ok());
    ASSERT_TRUE(pipeline->append_now(*events).ok());
  }
  void forget_fact(const std::string& key) {
    NewEvent event;
    event.type = event_type::kFactForgotten;
    event.scope = {"main", kKey, Lane::kDirect, "telegram:101"};
    event.dedupe_key = "forgot:" + key;
    event.occurred = clock.now();
    event.payload = {{"key", key}, {"holder", "person:telegram:101"}, {"subject", ""}};
    ASSERT_TRUE(pipeline->append_now(std::span(&event, 1)).ok());
  }
  void purge_all() {
    auto report = purge(*store, pipeline->projections(), clock.now());
    ASSERT_TRUE(report.ok()) << describe(report.error());
  }
  std::vector<std::string> files_with(const std::string& needle) {
    std::vector<std::string> out;
    const std::string folder = dir_name(dir / "clawmark.db");
    for (const auto& name : list_dir(folder)) {
      std::ifstream file(join_path(folder, name), std::ios::binary);
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      if (content.find(needle) != std::string::npos) out.push_back(name);
    }
    return out;
  }
  std::string names() {
    return text(
        "SELECT coalesce(group_concat(name, ' | '), '') FROM (SELECT name FROM graph_nodes "
        "ORDER BY name)");
  }
  void expect_verified() {
    auto report = verify(store->db(), pipeline->projections(), clock.now());
    ASSERT_TRUE(report.ok()) << describe(report.error());
    EXPECT_TRUE(report->ok()) << testing::PrintToString(report->problems);
  }
  void rebuild_all() {
    for (Projection* projection : pipeline->projections()) {
      ASSERT_TRUE(rebuild(store->db(), *projection, clock.now(), {}).ok());
    }
  }
};

// All that was said stands, and then nothing of it in any table or file.
void expect_gone(ForgetGraph& w, const std::string& kept) {
  for (const bool rebuilt : {false, true}) {
    if (rebuilt) w.rebuild_all();
    EXPECT_EQ(w.names(), kept);
    EXPECT_EQ(w.number("SELECT count(*) FROM graph_claims WHERE state = 'live' AND kind IN "
                       "('prose', 'state')"),
              0)
        << "nobody can tell which sentence of a summary it fed";
    w.expect_verified();
  }
  w.purge_all();
  EXPECT_EQ(w.names(), kept);
  EXPECT_THAT(w.files_with("pinnace"), IsEmpty());
  w.expect_verified();
  w.drain();
  w.reopen();
  w.drain();
  EXPECT_EQ(w.names(), kept) << "it does not come back";
  EXPECT_THAT(w.files_with("pinnace"), IsEmpty());
}

TEST(GraphForget, C142_a_message_leaves_the_graph_its_summary_and_after_a_purge_the_bytes) {
  ForgetGraph w(std::make_shared<FakeGraph>());
  w.add("agent-db")->streams = {
      stream("s1", {said(1, "paint the pinnace"), said(2, "the rota")}, kKey)};
  EXPECT_TRUE(w.drain().done);
  ASSERT_EQ(w.names(), "paint the pinnace | the rota");
  ASSERT_THAT(w.files_with("pinnace"), Not(IsEmpty()));
  w.clock.advance(1000);
  w.forget_messages({1});
  expect_gone(w, "the rota");
}

TEST(GraphForget, C097_a_fact_takes_what_was_understood_of_its_passage_along) {
  ForgetGraph w(std::make_shared<FakeGraph>());
  w.add("agent-db")->streams = {
      stream("s1", {said(1, "remember user.boat = a pinnace"), said(2, "the rota")}, kKey)};
  EXPECT_TRUE(w.drain().done);
  ASSERT_EQ(w.number("SELECT count(*) FROM graph_nodes"), 2);
  w.clock.advance(1000);
  w.forget_fact("user.boat");
  w.forget_messages({1}, true);
  expect_gone(w, "the rota");
}

TEST(GraphForget, the_words_before_a_stated_fact_go_with_it) {
  // No extraction says which passage it was, so nothing of the message stays.
  ForgetGraph w(std::make_shared<FakeGraph>());
  w.add("agent-db")->streams = {
      stream("s1", {said(1, "paint the pinnace"), said(2, "the rota")}, kKey)};
  EXPECT_TRUE(w.drain().done);
  w.clock.advance(1000);
  w.forget_messages({1}, true);
  expect_gone(w, "the rota");
}

TEST(GraphForget, an_answer_that_a_summary_may_repeat_takes_the_summary_along) {
  ForgetGraph w(std::make_shared<FakeGraph>());
  Entry answer = message(uuid(2), "assistant", "The pinnace it is.", kMs + 2000, uuid(1));
  w.add("agent-db")->streams = {stream("s1", {said(1, "the rota"), answer}, kKey)};
  EXPECT_TRUE(w.drain().done);
  ASSERT_EQ(w.number("SELECT count(*) FROM graph_claims WHERE kind = 'prose' AND state = 'live'"),
            1);
  w.clock.advance(1000);
  w.forget_messages({2});
  expect_gone(w, "the rota");
}

TEST(GraphForget, an_answer_about_what_was_forgotten_meanwhile_counts_for_nothing) {
  ForgetGraph w(std::make_shared<FakeGraph>());
  w.add("agent-db")->streams = {
      stream("s1", {said(1, "paint the pinnace"), said(2, "the rota")}, kKey)};
  w.meanwhile = [&] {
    w.clock.advance(1000);
    w.forget_messages({1});
  };
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.calls, 2) << "what stands is asked about again";
  EXPECT_EQ(w.names(), "the rota");
  EXPECT_EQ(w.number("SELECT count(*) FROM events WHERE type = 'graph.completed' AND payload LIKE "
                     "'%pinnace%'"),
            0);
}

TEST(GraphForget, a_session_and_a_person_take_their_part_of_the_world_along) {
  ForgetGraph w;
  w.add("agent-db")->streams = {
      stream("s1", {said(1, "Next: the pinnace brochure.")}, kKey),
      stream("s2", {said(2, "Next: the rota.", "102")}, "agent:main:telegram:direct:102")};
  EXPECT_TRUE(w.drain().done);
  ASSERT_EQ(w.number("SELECT count(*) FROM graph_nodes WHERE type = 'task'"), 2);
  w.clock.advance(1000);
  const NewEvent session =
      session_tombstone({"main", kKey, Lane::kDirect, "telegram:101"}, "s1", w.clock.now());
  ASSERT_TRUE(w.pipeline->append_now(std::span(&session, 1)).ok());
  EXPECT_EQ(w.text("SELECT group_concat(name) FROM graph_nodes WHERE type = 'task'"), "rota");
  const NewEvent person =
      person_tombstone({"main", "agent:main:telegram:direct:102", Lane::kDirect, "telegram:102"},
                       "telegram:102", w.clock.now());
  ASSERT_TRUE(w.pipeline->append_now(std::span(&person, 1)).ok());
  EXPECT_EQ(w.number("SELECT (SELECT count(*) FROM graph_nodes) + (SELECT count(*) FROM "
                     "graph_episodes) + (SELECT count(*) FROM graph_edges)"),
            0);
  w.purge_all();
  EXPECT_THAT(w.files_with("pinnace"), IsEmpty());
  w.expect_verified();
}

}  // namespace
}  // namespace clawmark
