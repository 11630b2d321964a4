// Messages without a usable time stand where they stand in their stream, and are counted.

#include "base/json.h"
#include "tests/workers/support.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'793'700'000'000;

std::int64_t righted(World& w) {
  const auto counters = parse_json(w.text("SELECT counters FROM source_states LIMIT 1"));
  return counters.ok() && counters->is_object() ? get_int(counters->get_object(), "times_righted")
                                                : -1;
}

TEST(Times, an_entry_without_a_time_stands_behind_the_one_before_it) {
  for (const char* carrier : {"transcripts", "agent-db", "lcm"}) {
    SCOPED_TRACE(carrier);
    World w;
    auto held = w.add(carrier, std::string(carrier) == "lcm" ? "/lcm.db" : "/fake");
    held->batch_items = 2;
    held->streams = {
        stream("s1", {message(uuid(1), "user", "one", 0), message(uuid(2), "user", "two", kMs),
                      message(uuid(3), "user", "ok", 0), message(uuid(4), "user", "ok", 0),
                      message(uuid(5), "user", "five", kMs + 60'000)})};
    w.drain();
    EXPECT_EQ(w.count("message.observed"), 5) << "equal words stay two";
    EXPECT_EQ(w.text("SELECT group_concat(d, ' ') FROM (SELECT occurred_ms - 1793700000000 AS d"
                     " FROM events WHERE type = 'message.observed' ORDER BY seq)"),
              "-1 0 1 2 60000");
    EXPECT_EQ(righted(w), 3);
    EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE occurred_ms < 946684800000"), 0);
  }
}

TEST(Times, a_stream_without_any_usable_time_stands_at_the_time_of_reading) {
  World w;
  w.add("transcripts")->streams = {
      stream("s1", {message(uuid(1), "user", "one", 0), message(uuid(2), "user", "two", 0)})};
  w.drain();
  EXPECT_EQ(w.number("SELECT min(occurred_ms) FROM messages"), w.clock.now().value + 1);
  EXPECT_EQ(w.number("SELECT max(occurred_ms) FROM messages"), w.clock.now().value + 2);
}

TEST(Times, read_again_a_message_without_a_time_is_the_same_message) {
  World w;
  auto files = w.add("transcripts");
  std::vector<Entry> talk = {message("0000000a", "user", "one", kMs),
                             message("0000000b", "user", "two", 0),
                             message("0000000c", "user", "three", 0)};
  files->streams = {stream("s1", talk)};
  w.drain();
  files->streams = {stream("s1", {talk.begin() + 1, talk.end()})};
  w.drain();
  EXPECT_EQ(w.count("source.epoch"), 1);
  EXPECT_EQ(w.count("message.observed"), 3);
}

}  // namespace
}  // namespace clawmark
