// Carriers that go away and come back: their texts are waited for, or tried again by themselves.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workers/support.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'795'000'000'000 - kHourMs;

std::vector<Entry> talk(int count) {
  std::vector<Entry> out;
  for (int i = 1; i <= count; ++i) {
    out.push_back(message(uuid(i), i % 2 ? "user" : "assistant",
                          "this is message number " + std::to_string(i), kMs + i * 1000));
  }
  return out;
}

void set_away(FakeCarrier& carrier, bool away) {
  carrier.health.state = away ? SourceState::kAbsent : SourceState::kOk;
  carrier.texts_gone = away;
}

// The host's folder on a disk that goes as soon as so many messages are in the log.
void drain_and_lose(World& w, FakeCarrier& carrier, std::int64_t messages) {
  OnceOptions once;
  once.slice = [&] {
    if (w.count("message.observed") == messages) set_away(carrier, true);
    return carrier.health.state == SourceState::kOk;
  };
  ASSERT_TRUE(w.pipeline->run_until_idle(once).ok());
  ASSERT_EQ(w.count("message.observed"), messages);
}

TEST(Embed, a_carrier_that_goes_away_is_waited_for_and_nothing_is_parked) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(3))};
  w.drain();
  ASSERT_EQ(w.embedder->embedded, 3u);
  db->streams = {stream("s1", talk(6))};
  drain_and_lose(w, *db, 6);
  w.waits = 20;
  EXPECT_FALSE(w.drain().done);
  EXPECT_EQ(w.number("SELECT count(*) FROM parked"), 0);
  set_away(*db, false);
  w.clock.advance(5 * kMinuteMs);
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.number("SELECT count(*) FROM parked"), 0);
  EXPECT_EQ(w.embedder->embedded, 6u);
}

TEST(Embed, what_was_set_aside_while_its_carrier_was_away_is_tried_again_by_itself) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(3))};
  drain_and_lose(w, *db, 3);
  w.reopen();  // another process, which has never seen it
  w.waits = 20;
  w.drain();
  EXPECT_GE(w.number("SELECT count(*) FROM parked WHERE reason = 'source_away'"), 3);
  const auto events = w.number("SELECT count(*) FROM events");
  w.reopen();
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM events"), events) << "still away: nothing is tried";
  set_away(*db, false);
  w.reopen();
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM parked"), 0);
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors"), 3);
}

TEST(Ingest, a_carrier_that_is_gone_is_said_to_be_absent_until_it_is_back) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(2))};
  w.drain();
  const auto state = [&] { return w.text("SELECT state FROM source_states"); };
  EXPECT_EQ(state(), "ok");
  const auto held = std::exchange(w.carriers, {});
  w.drain();
  EXPECT_EQ(state(), "absent");
  EXPECT_EQ(w.count("source.fallback"), 1);
  w.drain();
  w.reopen();
  w.drain();
  EXPECT_EQ(w.count("source.fallback"), 1) << "said once";
  w.carriers = held;
  db->streams = {stream("s1", talk(3))};
  w.drain();
  EXPECT_EQ(state(), "ok");
  EXPECT_EQ(w.count("message.observed"), 3);
  w.carriers.clear();
  w.reopen();  // gone while nobody looked
  w.drain();
  EXPECT_EQ(state(), "absent");
}

TEST(Embed, a_cursor_beyond_the_log_stops_its_worker_and_no_other) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(3))};
  w.drain();
  ASSERT_TRUE(w.store->db().run("UPDATE cursors SET pos = pos + 50 WHERE worker = 'embed'").ok());
  db->streams = {stream("s1", talk(6))};
  const auto report = w.pipeline->run_until_idle({});
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->done);
  EXPECT_EQ(w.count("message.observed"), 6);
  for (const auto& worker : report->workers) {
    const bool said = worker.why.find("but the log ends at") != std::string::npos;
    EXPECT_EQ(said, worker.worker == "embed") << worker.worker << ": " << worker.why;
  }
}

TEST(Embed, what_waits_for_an_endpoint_that_never_answered_is_in_sight) {
  for (const int status : {503, 401}) {
    World w;
    w.embedder->local = false;
    w.call = [&](const HttpRequest&) {
      HttpResponse out;
      out.status = status;
      return out;
    };
    w.add("agent-db")->streams = {stream("s1", talk(7))};
    w.waits = 3;
    EXPECT_FALSE(w.drain().done);
    const auto rows = w.pipeline->status();
    const auto embed = std::find_if(rows.begin(), rows.end(),
                                    [](const WorkerStatus& row) { return row.name == "embed"; });
    ASSERT_NE(embed, rows.end());
    EXPECT_EQ(embed->pending, 7) << status << ": " << embed->condition.failure;
    EXPECT_NE(embed->condition.failure, "");
  }
}

// The disk of the store is full in the middle of a drain, and has room again later. Nothing at the
// source changes meanwhile: what was read and not written must be read again all the same.
TEST(Ingest, C158_what_was_read_when_the_disk_was_full_is_read_again_without_a_new_word) {
  World w;
  auto db = w.add("agent-db");
  int n = 0;
  const auto say_in = [&](const std::string& session) {
    std::vector<Entry> some;
    for (int i = 0; i < 40; ++i, ++n) {
      some.push_back(message(uuid(n), "user", "number " + std::to_string(n), kMs + n * 1000));
    }
    db->streams.push_back(stream(session, std::move(some)));
  };
  say_in("before");
  w.drain();
  Database& store = w.store->db();
  const std::int64_t pages = w.number("PRAGMA page_count");
  ASSERT_TRUE(store.exec("PRAGMA max_page_count=" + std::to_string(pages)).ok());
  for (const char* session : {"a", "b", "c"}) say_in(session);
  w.waits = 8;  // enough for each of them to fail by itself, and for the round to end
  EXPECT_FALSE(w.drain().done);
  EXPECT_LT(w.count("message.observed"), n);
  ASSERT_TRUE(store.exec("PRAGMA max_page_count=1000000").ok());
  w.waits = 20;
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.count("message.observed"), n);
}

}  // namespace
}  // namespace clawmark
