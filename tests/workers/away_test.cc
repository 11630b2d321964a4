// Carriers that go away and come back: their texts are waited for, or tried again by themselves.

#include <gtest/gtest.h>

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
  w.waits = 20;
  EXPECT_FALSE(w.drain().done);
  EXPECT_EQ(w.count("message.observed"), 6);
  EXPECT_EQ(w.number("SELECT count(*) FROM cursors WHERE state = 'stopped' AND worker = 'embed' AND"
                     " failure LIKE '%but the log ends at%'"),
            1);
  EXPECT_EQ(w.number("SELECT count(*) FROM cursors WHERE state = 'stopped'"), 1);
}

}  // namespace
}  // namespace clawmark
