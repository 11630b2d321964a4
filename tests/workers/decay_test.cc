// What a year of silence expires, and what no clock does.

#include <gmock/gmock.h>

#include "tests/workers/support.h"
#include "workers/decay.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'795'000'000'000 - kHourMs;

TEST(Decay, facts_expire_after_a_year_unreinforced_and_not_before) {
  World w;
  auto db = w.add("agent-db");
  const std::int64_t year = 365 * kDayMs;
  db->streams = {
      stream("s1", {message(uuid(1), "user", "remember pref.old = a", kMs - year - kDayMs)}),
      stream("s2", {message(uuid(2), "user", "remember pref.new = b", kMs - kDayMs)})};
  w.drain();
  w.clock.advance(kDayMs);  // the pass of the first day came before there were facts
  w.drain();
  EXPECT_EQ(w.count("fact.expired"), 1);
  EXPECT_EQ(w.text("SELECT group_concat(key) FROM facts WHERE is_deleted = 0"), "pref.new");
  w.drain();
  EXPECT_EQ(w.count("fact.expired"), 1);
}

TEST(Decay, C106_clock_jumps_expire_nothing) {
  World w;
  auto db = w.add("agent-db");
  std::vector<Entry> entries;
  for (int i = 1; i <= 8; ++i) {
    entries.push_back(message(uuid(i), "user", "remember pref.k" + std::to_string(i) + " = v",
                              kMs - 200 * kDayMs + i));
  }
  entries.push_back(message(uuid(50), "user", "hello", kMs));
  db->streams = {stream("s1", entries)};
  w.drain();
  for (const std::int64_t jump : {2'060'000'000'000LL, 0LL, 1'795'100'000'000LL}) {
    w.clock.set({jump});
    w.drain();
    EXPECT_EQ(w.count("fact.expired"), 0) << jump;
  }
}

TEST(Decay, C106_a_mass_expiry_halts_and_says_so) {
  World w;
  auto db = w.add("agent-db");
  std::vector<Entry> entries;
  for (int i = 1; i <= 20; ++i) {
    entries.push_back(message(uuid(i), "user", "remember pref.k" + std::to_string(i) + " = v",
                              kMs - 400 * kDayMs + i));
  }
  entries.push_back(message(uuid(50), "user", "hello", kMs));
  db->streams = {stream("s1", entries)};
  w.drain();
  w.clock.advance(kDayMs);
  w.drain();
  EXPECT_EQ(w.count("fact.expired"), 0);
  std::string shown;
  for (const auto& row : w.pipeline->status()) {
    if (row.name == "decay") shown = row.condition.failure;
  }
  EXPECT_THAT(shown, testing::HasSubstr("20 of 20"));
}

}  // namespace
}  // namespace clawmark
