// kill -9 in the middle of a drain, again and again: the log has no gap and no double, and every
// projection ends in the state of a run that nobody disturbed.
//
// Method: a child process drains a store over a generated state folder and kills itself, after a
// seeded number of slices or of SQLite's progress callbacks (inside a transaction). The parent
// starts it again until one ends by itself.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "projections/graph_projection.h"
#include "projections/rebuild.h"
#include "tests/support/store_builder.h"
#include "tests/workers/support.h"
#include "workers/backoff.h"

namespace clawmark {
namespace {

using support::Era;

constexpr int kKills = 20;
constexpr int kSessions = 60;

// Talks in both eras, some with a fact in them; about 3,000 messages.
std::size_t build_state(const std::string& dir) {
  support::AgentDbWriter db(dir, "main");
  support::TranscriptWriter files(dir, "main", Era::kFiles3);
  std::size_t messages = 0;
  for (int i = 0; i < kSessions; ++i) {
    support::MakeOptions make;
    make.seed = static_cast<std::uint64_t>(i) + 1;
    make.messages = 50;
    make.era = i % 2 ? Era::kDatabase4 : Era::kFiles3;
    make.session_key = "agent:main:telegram:direct:" + std::to_string(100 + i % 7);
    make.start_ms = 1'794'000'000'000 + i * 3'600'000LL;
    auto talk = make_conversation(make);
    support::Item said = talk.items.back();
    said.id = support::Ids(static_cast<std::uint64_t>(9000 + i)).next(make.era);
    said.role = "user";
    said.parent.clear();
    said.tools.clear();
    said.call_id.clear();
    said.text = "remember pref.topic" + std::to_string(i % 9) + " = v" + std::to_string(i);
    said.blocks.clear();
    said.entry_ms += 1000;
    said.message_ms = said.entry_ms;
    talk.items.push_back(said);
    complete(talk);
    make.era == Era::kDatabase4 ? db.write(talk) : (void)files.write(talk);
    messages += message_ids(talk).size();
  }
  return messages;
}

// A task, a relation and an episode of each message that asks to remember something.
class SaidGraph final : public GraphExtractor {
 public:
  std::string model() const override { return "said-graph"; }
  std::string prompt_version() const override { return "1"; }
  bool is_local() const override { return true; }
  HttpRequest plan(std::span<const WindowMessage>, std::string_view) const override { return {}; }
  Result<GraphAnswer> interpret(const Result<HttpResponse>&,
                                std::span<const WindowMessage>) const override {
    return make_error(ErrorKind::kFatal, "graph", "local", "");
  }
  Result<GraphAnswer> extract_local(std::span<const WindowMessage> window,
                                    std::string_view) override {
    GraphAnswer answer;
    for (const auto& message : window) {
      const auto is = message.text.find(" = ");
      if (message.role != "user" || is == std::string::npos) continue;
      GraphNode node;
      node.type = "task";
      node.name = message.text.substr(0, is);
      node.description = message.text;
      node.evidence = {{message.message, message.text}};
      GraphEdge edge;
      edge.type = "REFERENCES";
      edge.from_type = "task";
      edge.from = node.name;
      edge.to_type = "concept";
      edge.to = message.text.substr(is + 3);
      edge.evidence = node.evidence;
      GraphEpisode episode;
      episode.type = "decision";
      episode.title = message.text;
      episode.salience = 0.8;
      episode.evidence = node.evidence;
      answer.nodes.push_back(std::move(node));
      answer.edges.push_back(std::move(edge));
      answer.episodes.push_back(std::move(episode));
    }
    verify_graph(answer, window);
    return answer;
  }
};

struct Outcome {
  std::string messages, facts, graph;
  std::int64_t observed = 0, head = 0, vectors = 0, facts_live = 0;
  std::int64_t said_twice = 0, things = 0, relations = 0, episodes = 0;
  bool sound = false;
  bool operator==(const Outcome&) const = default;
};

// Drains in a child that kills itself after `slices` slices, or `callbacks` progress callbacks; 0:
// never. True: the child came to the end by itself.
bool drain_in_child(const std::string& store_path, const std::string& state_dir, int slices,
                    int callbacks) {
  const pid_t child = fork();
  if (child == 0) {
    ManualClock clock;
    StoreOptions where;
    where.path = store_path;
    auto store = Store::open(where, clock);
    if (!store.ok()) _exit(3);
    int called = 0;
    if (callbacks > 0) {
      store->db().set_progress([&] {
        if (++called == callbacks) kill(getpid(), SIGKILL);
        return false;
      });
    }
    PipelineOptions options;
    options.sources.state_dir = state_dir;
    auto pipeline =
        Pipeline::make(*store, clock,
                       {std::make_shared<FakeEmbedder>(), std::make_shared<FakeExtractor>(), "", "",
                        std::make_shared<SaidGraph>()},
                       options);
    if (!pipeline.ok()) _exit(4);
    OnceOptions once;
    int sliced = 0;
    once.slice = [&] {
      if (slices > 0 && ++sliced == slices) kill(getpid(), SIGKILL);
      return true;
    };
    auto report = (*pipeline)->run_until_idle(once);
    _exit(report.ok() && report->done ? 0 : 5);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) {
    EXPECT_EQ(WEXITSTATUS(status), 0);
    return true;
  }
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  return false;
}

Outcome look(const std::string& store_path) {
  ManualClock clock;
  StoreOptions where;
  where.path = store_path;
  auto store = Store::open(where, clock);
  Outcome out;
  if (!store.ok()) {
    ADD_FAILURE() << describe(store.error());
    return out;
  }
  Database& db = store->db();
  auto messages = make_messages_projection();
  auto facts = make_facts_projection({});
  out.messages = to_hex(live_digest(db, *messages).value().digest);
  out.facts = to_hex(live_digest(db, *facts).value().digest);
  auto graph = make_graph_projection();
  out.graph = to_hex(live_digest(db, *graph).value().digest);
  const auto number = [&](const char* sql) { return db.query_int(sql).value().value_or(-1); };
  out.observed = number("SELECT count(*) FROM events WHERE type = 'message.observed'");
  out.head = number("SELECT max(seq) FROM events");
  out.vectors = number("SELECT count(*) FROM vectors");
  out.facts_live = number("SELECT count(*) FROM facts WHERE is_deleted = 0");
  out.things = number("SELECT count(*) FROM graph_nodes");
  out.relations = number("SELECT count(*) FROM graph_edges");
  out.episodes = number("SELECT count(*) FROM graph_episodes");
  out.said_twice = number(
      "SELECT count(*) FROM (SELECT 1 FROM graph_evidence e JOIN graph_claims c ON c.id = e.claim "
      "GROUP BY e.message, c.kind, c.key HAVING count(*) > 1)");
  auto check = EventLog::verify(db);
  out.sound = check.ok() && check->dense && check->chain_valid;
  return out;
}

TEST(Crash, C034_twenty_kills_during_a_drain_leave_what_an_undisturbed_run_leaves) {
  support::TempDir state, calm_dir, torn_dir;
  const std::size_t messages = build_state(state.path());
  const std::string calm = calm_dir / "clawmark.db", torn = torn_dir / "clawmark.db";
  ASSERT_TRUE(drain_in_child(calm, state.path(), 0, 0));
  Random random(20261129);
  int kills = 0;
  while (kills < kKills) {
    // Slices of growing reach, so that the later stages are hit too.
    const bool by_slice = kills % 2 == 0;
    const int reach = 5 + kills * 4;
    const int slices = by_slice ? static_cast<int>(1 + random.below(reach)) : 0;
    const int callbacks = by_slice ? 0 : static_cast<int>(1 + random.below(3 * reach));
    if (drain_in_child(torn, state.path(), slices, callbacks)) break;
    ++kills;
  }
  drain_in_child(torn, state.path(), 0, 0);
  EXPECT_GE(kills, 8);
  const Outcome undisturbed = look(calm), disturbed = look(torn);
  EXPECT_EQ(undisturbed.observed, static_cast<std::int64_t>(messages));
  EXPECT_EQ(disturbed.observed, static_cast<std::int64_t>(messages));
  EXPECT_TRUE(undisturbed.sound && disturbed.sound);
  EXPECT_EQ(disturbed.head, undisturbed.head);
  EXPECT_EQ(disturbed.messages, undisturbed.messages);
  EXPECT_EQ(disturbed.facts, undisturbed.facts);
  EXPECT_EQ(disturbed.graph, undisturbed.graph);
  EXPECT_EQ(disturbed.said_twice, 0) << "no delta twice";
  EXPECT_GT(undisturbed.things, 0);
  EXPECT_GT(undisturbed.relations, 0);
  EXPECT_GT(undisturbed.episodes, 0);
  EXPECT_EQ(disturbed.vectors, undisturbed.vectors);
  EXPECT_GT(undisturbed.facts_live, 0);
  const auto head = disturbed.head;
  drain_in_child(torn, state.path(), 0, 0);
  EXPECT_EQ(look(torn).head, head) << "a further run appends nothing";
}

}  // namespace
}  // namespace clawmark
