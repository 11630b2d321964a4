// What is said while a long history is read: in order of progress, not of time.

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/limits.h"
#include "projections/rebuild.h"
#include "tests/workers/support.h"
#include "workers/ingest.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'793'700'000'000;

TEST(Live, what_is_said_during_a_large_drain_is_searchable_long_before_the_drain_ends) {
  World w;
  auto db = w.add("agent-db");
  int id = 0;
  for (int s = 0; s < 300; ++s) {
    std::vector<Entry> talk;
    for (int i = 0; i < 30; ++i) {
      ++id;
      talk.push_back(message(uuid(id), i % 2 ? "assistant" : "user",
                             "old line " + std::to_string(id), kMs + id * 1000));
    }
    db->streams.push_back(stream("old" + std::to_string(s), std::move(talk)));
  }
  IngestOptions options;
  options.discover = [&] {
    std::vector<OpenSource> out(1);
    out[0].source = std::make_unique<FakeSource>(db);
    out[0].agent = "main";
    return out;
  };
  IngestPort ingest(*w.store, w.pipeline->bodies(), options);
  Load load;
  load.items_max = 100;
  // As the driver does: one piece of each worker in turn; a load and a commit are two pieces.
  const auto turn = [&] {
    const auto batch = ingest.load(load, w.clock.now());
    ASSERT_TRUE(batch.ok());
    ASSERT_TRUE(ingest.commit(Commit{}, w.clock.now()).ok());
    for (Projection* projection : w.pipeline->projections()) {
      const auto generation = live_generation(w.store->db(), projection->name());
      ASSERT_TRUE(generation.ok());
      for (int piece = 0; piece < 2; ++piece) {
        ASSERT_TRUE(
            fold_step(w.store->db(), *projection, *generation, kFoldBatch, w.clock.now()).ok());
      }
    }
  };
  const auto searchable = [&] {
    return w.number(
        "SELECT count(*) FROM messages m JOIN search_docs__g1 d ON d.message = m.seq"
        " WHERE m.session_id = 'now' AND m.recallable = 1 AND d.state = 'indexed'");
  };
  for (int i = 0; i < 3; ++i) turn();
  db->streams.push_back(
      stream("now", {message(uuid(id + 1), "user", "the heron is back", w.clock.now().value)}));
  w.clock.advance(kRelistMs + 1);
  int turns = 0;
  while (searchable() == 0 && turns < 200) {
    turn();
    ++turns;
  }
  EXPECT_LE(turns, 5);
  EXPECT_LT(w.count("message.observed"), id * 2 / 3) << "the drain was over before it came";
  EXPECT_GT(ingest.streams_left(), 50u);
}

// With its threads, the log never runs far ahead of what is made of it, however much there is to
// read: what is said now is folded after so many events at most.
TEST(Live, reading_a_long_history_does_not_run_ahead_of_what_is_made_of_it) {
  World w;
  auto db = w.add("agent-db");
  int id = 0;
  for (int s = 0; s < 250; ++s) {
    std::vector<Entry> one;
    for (int i = 0; i < 50; ++i, ++id) {
      one.push_back(message(uuid(id), i % 2 ? "assistant" : "user",
                            "old line " + std::to_string(id), kMs + id * 1000));
    }
    db->streams.push_back(stream("old" + std::to_string(s), std::move(one)));
  }
  std::atomic<bool> over{false};
  std::int64_t furthest = 0;
  w.pipeline->start({});
  std::thread watch([&] {
    auto reader = Store::open_read_only(w.store->path());
    ASSERT_TRUE(reader.ok());
    while (!over) {
      const auto ahead = reader->query_int(
          "SELECT (SELECT max(seq) FROM events) - min(pos) FROM cursors WHERE worker LIKE "
          "'project.%'");
      if (ahead.ok() && *ahead) furthest = std::max(furthest, **ahead);
    }
  });
  const auto report = w.pipeline->drain(300'000);
  over = true;
  watch.join();
  w.pipeline->stop();
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->done);
  EXPECT_EQ(w.count("message.observed"), id);
  EXPECT_GT(furthest, 0);
  EXPECT_LE(furthest, 4'000);
}

}  // namespace
}  // namespace clawmark
