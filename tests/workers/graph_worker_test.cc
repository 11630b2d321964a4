// The graph worker: chunks, one event for each, nothing twice, parking, walls.

#include <gmock/gmock.h>

#include <algorithm>

#include "base/limits_world.h"
#include "projections/rebuild.h"
#include "tests/workers/support.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'795'000'000'000 - kHourMs;

std::string uuid(int n) {
  std::string tail = std::to_string(n);
  return "00000000-0000-4000-8000-" + std::string(12 - tail.size(), '0') + tail;
}

Entry said(int n, const std::string& text, const std::string& sender = "101") {
  Entry entry = message(uuid(n), "user", text, kMs + n * 1000);
  entry.sender_id = sender;
  entry.channel = "telegram";
  return entry;
}

// A model that answers with prose and one task for each message, or fails as told.
class FakeGraph final : public GraphExtractor {
 public:
  std::string model() const override { return "fake-graph"; }
  std::string prompt_version() const override { return "1"; }
  bool is_local() const override { return false; }
  Result<GraphAnswer> extract_local(std::span<const WindowMessage>, std::string_view) override {
    return make_error(ErrorKind::kFatal, "graph", "not_local", "");
  }
  HttpRequest plan(std::span<const WindowMessage> window, std::string_view) const override {
    HttpRequest request;
    request.url = "http://graph.test/v1/chat/completions";
    for (const auto& m : window) request.body += m.text + "\n";
    return request;
  }
  Result<GraphAnswer> interpret(const Result<HttpResponse>& response,
                                std::span<const WindowMessage> window) const override {
    if (!response.ok()) return response.error();
    if (response->status != 200) {
      return make_error(ErrorKind::kPoison, "graph", "rejected", "HTTP 400");
    }
    GraphAnswer answer;
    answer.prose = "They talked.";
    answer.state = "All is said.";
    for (const auto& m : window) {
      GraphNode node;
      node.type = "task";
      node.name = m.text;
      node.status = "pending";
      node.confidence = 0.9;
      node.evidence = {{m.message, m.text}};
      node.verified = true;
      answer.nodes.push_back(std::move(node));
    }
    answer.usage = {100, 10};
    return answer;
  }
};

struct GraphWorld : World {
  explicit GraphWorld(std::shared_ptr<GraphExtractor> given = nullptr)
      : graph(given ? std::move(given) : make_builtin_graph_extractor()) {
    call = [this](const HttpRequest& request) -> Result<HttpResponse> {
      ++calls;
      HttpResponse response;
      response.status = request.body.find("poison") == std::string::npos ? 200 : 400;
      return response;
    };
    close();
    models = [this] { return PipelineModels{embedder, extractor, "", "", graph}; };
    open();
  }
  std::shared_ptr<GraphExtractor> graph;
  int calls = 0;
};

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
  w.drain();  // what was there at the start is not waited for
  auto db = w.add("agent-db");
  std::vector<Entry> entries{said(3500, "fresh")};
  db->streams = {stream("s1", entries, "agent:main:telegram:direct:101")};
  w.drain();
  EXPECT_EQ(w.count("graph.completed"), 0);
  const std::string long_text(3900, 'x');
  for (int n = 0; n < 22; ++n) entries.push_back(said(3501 + n, std::to_string(n) + long_text));
  db->streams = {stream("s1", entries, "agent:main:telegram:direct:101")};
  w.drain();
  EXPECT_GE(w.count("graph.completed"), 1);  // over 20,000 tokens
  w.clock.advance(4 * kHourMs);
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.number("SELECT count(*) FROM graph_nodes WHERE key = 'fresh'"), 1);
}

TEST(GraphWorker, one_message_that_no_model_takes_is_parked_and_the_others_go_on) {
  GraphWorld w(std::make_shared<FakeGraph>());
  auto db = w.add("agent-db");
  db->streams = {stream("s1", {said(1, "good"), said(2, "poison"), said(3, "fine")},
                        "agent:main:telegram:direct:101")};
  w.waits = 40;
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
