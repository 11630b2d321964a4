// The graph worker: chunks, one event for each, nothing twice, parking, walls.

#include <gmock/gmock.h>

#include <algorithm>

#include "base/limits_world.h"
#include "projections/rebuild.h"
#include "tests/workers/graph_support.h"
#include "workers/graph.h"

namespace clawmark {
namespace {

TEST(GraphWorker, short_sessions_are_covered_and_each_item_belongs_to_who_heard_it) {
  GraphWorld w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", {said(1, "Next: the newsletter.")}, "agent:main:telegram:direct:101"),
                 stream("s2", {said(2, "We decided to use Postgres.", "102")},
                        "agent:main:telegram:group:-5")};
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.count("graph.completed"), 2);
  EXPECT_EQ(w.text("SELECT holder FROM graph_nodes WHERE type = 'task'"), "person:telegram:101");
  EXPECT_EQ(w.text("SELECT holder FROM graph_nodes WHERE type = 'decision'"),
            "group:agent:main:telegram:group:-5");
}

TEST(GraphWorker, a_chunk_is_asked_once_and_its_event_written_once_over_restarts) {
  GraphWorld w(std::make_shared<FakeGraph>());
  auto db = w.add("agent-db");
  db->streams = {stream("s1", {said(1, "one thing"), said(2, "two things")},
                        "agent:main:telegram:direct:101")};
  w.clock.advance(4 * kHourMs);  // idle
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.calls, 1);
  EXPECT_EQ(w.number("SELECT count(*) FROM graph_nodes"), 2);
  w.reopen();
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.calls, 1);
  EXPECT_EQ(w.count("graph.completed"), 1);
  EXPECT_EQ(w.number("SELECT calls FROM spend WHERE worker = 'graph'"), 1);
  // A cursor that was lost (restored from an older copy) does not apply it twice either.
  ASSERT_TRUE(w.store->db().run("DELETE FROM cursors WHERE worker = 'graph'").ok());
  w.reopen();
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.count("graph.completed"), 1);
  EXPECT_EQ(w.number("SELECT mentions FROM graph_nodes WHERE key = 'one thing'"), 1);
}

TEST(GraphWorker, an_endpoint_waits_until_a_session_is_idle_or_its_chunk_is_full) {
  GraphWorld w(std::make_shared<FakeGraph>());
  w.models = [&] { return PipelineModels{w.embedder, w.extractor, "", ""}; };  // the port by hand
  w.reopen();
  GraphPort port(*w.store, w.pipeline->bodies(), w.graph, {});
  const Load load{kLeafChunkMessages, 0, false};
  const auto waiting = [&] {
    const auto batch = port.load(load, w.clock.now());
    EXPECT_TRUE(batch.ok());
    return batch.ok() ? **batch : Batch{};
  };
  waiting();  // what was there at the start is not waited for
  auto db = w.add("agent-db");
  std::vector<Entry> entries{said(3500, "fresh")};
  db->streams = {stream("s1", entries, "agent:main:telegram:direct:101")};
  w.drain();
  Batch batch = waiting();
  EXPECT_TRUE(batch.items.empty());
  EXPECT_EQ(batch.pending, 1);
  ASSERT_TRUE(batch.ready_at);
  EXPECT_EQ(batch.ready_at->value, kMs + 3500 * 1000 + 3 * kHourMs);
  const std::string long_text(3900, 'x');
  for (int n = 0; n < 22; ++n) entries.push_back(said(3501 + n, std::to_string(n) + long_text));
  db->streams = {stream("s1", entries, "agent:main:telegram:direct:101")};
  w.drain();
  batch = waiting();
  EXPECT_GE(batch.items.size(), 20u) << "over 20,000 tokens";
  EXPECT_LT(batch.items.size(), entries.size()) << "the rest waits for the next chunk";
  entries.resize(3);
  db->streams.push_back(stream("s2", {said(9, "short")}, "agent:main:telegram:direct:102"));
  w.drain();
  w.clock.advance(4 * kHourMs);
  EXPECT_FALSE(waiting().items.empty()) << "idle";
}

TEST(GraphWorker, one_message_that_no_model_takes_is_parked_and_the_others_go_on) {
  GraphWorld w(std::make_shared<FakeGraph>());
  auto db = w.add("agent-db");
  db->streams = {stream("s1", {said(1, "good"), said(2, "poison"), said(3, "fine")},
                        "agent:main:telegram:direct:101")};
  w.waits = 60;
  w.clock.advance(4 * kHourMs);
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM parked WHERE worker = 'graph'"), 1);
  EXPECT_EQ(w.number("SELECT count(*) FROM graph_nodes"), 2);
}

TEST(GraphWorker, rebuild_and_verify_cover_the_graph) {
  GraphWorld w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1",
                        {said(1, "Next: the newsletter."), said(2, "The newsletter is done.")},
                        "agent:main:telegram:direct:101")};
  EXPECT_TRUE(w.drain().done);
  const auto report = verify(w.store->db(), w.pipeline->projections(), w.clock.now());
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->ok());
  const auto graph_row = std::find_if(report->projections.begin(), report->projections.end(),
                                      [](const auto& row) { return row.name == "graph"; });
  ASSERT_NE(graph_row, report->projections.end());
  EXPECT_TRUE(graph_row->equal);
  EXPECT_EQ(w.text("SELECT status FROM graph_nodes WHERE key = 'newsletter'"), "done");
}

}  // namespace
}  // namespace clawmark
