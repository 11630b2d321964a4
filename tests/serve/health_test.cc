// What status and /healthz say, and when.

#include "serve/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "serve/status.h"
#include "world.h"

namespace clawmark {
namespace {

TEST(Health, every_warning_has_a_code_of_its_own_and_a_remedy) {
  std::set<std::string_view> codes;
  for (const WarningKind& kind : warning_kinds()) {
    EXPECT_TRUE(codes.insert(kind.code).second) << kind.code;
    EXPECT_FALSE(kind.remedy.empty()) << kind.code;
    EXPECT_LE(kind.visible_after_ms, 5 * kMinuteMs) << kind.code;
  }
  for (const WarningKind& kind : warning_kinds()) {
    EXPECT_TRUE(kind.depends_on.empty() || codes.contains(kind.depends_on)) << kind.code;
  }
}

TEST(Health, a_sign_is_told_once_it_has_held_and_ends_with_it) {
  HealthMemory memory;
  const std::vector<Sign> busy = {{"source_busy", "db", "the store is locked"}};
  EXPECT_TRUE(memory.judge(busy, 0).empty());
  EXPECT_TRUE(memory.judge(busy, kMinuteMs).empty());
  EXPECT_EQ(memory.judge(busy, 2 * kMinuteMs).size(), 1u);
  EXPECT_TRUE(memory.judge({}, 3 * kMinuteMs).empty());
  EXPECT_TRUE(memory.judge(busy, 4 * kMinuteMs).empty()) << "it begins anew";
}

TEST(Health, what_follows_from_another_is_not_told_and_red_comes_first) {
  HealthMemory memory;
  const auto told = memory.judge(
      {{"parked", "", "p"}, {"worker_stuck", "embed", "s"}, {"worker_stopped", "embed", "x"}}, 0);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].code, "worker_stopped");
  EXPECT_TRUE(told[0].red);
  EXPECT_EQ(told[1].code, "parked");
}

class HealthWorld : public ::testing::Test {
 protected:
  int health() { return answer_call(*world.serving, {"GET", "/healthz", {}, ""}).status; }
  void wait(std::int64_t ms) {
    for (; ms > 0; ms -= kMinuteMs) {
      world.clock.advance(std::min(ms, kMinuteMs));
      for (auto& worker : world.worker_states) worker.beat_at = world.clock.now();
      (void)health();  // the watchdog asks all the time
    }
  }
  World world;
};

TEST_F(HealthWorld, a_worker_that_does_not_move_is_red_within_five_minutes_whatever_it_says) {
  for (const char* state : {"running", "waiting", "blocked"}) {
    world.worker_states = {{"embed", state, "blocked: http_401", {3}, 7, 2, {0}, {0}}};
    world.worker_states[0].name += state;
    wait(kMinuteMs);
    EXPECT_EQ(health(), 200) << state;
    wait(4 * kMinuteMs);
    EXPECT_EQ(health(), 503) << state;
    world.worker_states[0].position = {4};
    EXPECT_EQ(health(), 200) << "it moved: " << state;
  }
}

TEST_F(HealthWorld, who_has_nothing_to_do_or_waits_for_a_window_or_for_midnight_is_not_stuck) {
  world.worker_states = {
      {"search", "running", "", {9}, 0, 0, {0}, {0}},
      {"extract", "running", "", {3}, 12, 0, {0}, {0}},
      {"embed", "blocked", "blocked: daily budget spent, until 2026-12-01", {3}, 7, 0, {0}, {0}}};
  wait(30 * kMinuteMs);
  EXPECT_EQ(health(), 200);
  const auto told = warnings(*world.serving);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].code, "budget_spent");
  wait(4 * kHourMs);
  EXPECT_EQ(health(), 503) << "a window is older than idle_hours";
}

TEST_F(HealthWorld, a_worker_that_no_longer_comes_round_is_red) {
  world.worker_states = {{"ingest", "running", "", {3}, 0, 0, {0}, world.clock.now()}};
  EXPECT_EQ(health(), 200);
  world.clock.advance(5 * kMinuteMs);
  EXPECT_EQ(health(), 503);
}

TEST_F(HealthWorld, C001_the_old_store_after_an_upgrade_is_retired_and_any_other_silence_is_told) {
  auto& db = world.store.db();
  const auto add = [&](const char* carrier, const char* path, const char* state, int newest) {
    must(db.run("INSERT INTO source_states(carrier, path, state, newest_ms) VALUES(?, ?, ?, ?)",
                carrier, path, state, newest));
  };
  add("transcripts", "/s/agents/main/sessions", "stale", 100);
  add("agent-db", "/s/agents/main/agent/openclaw-agent.sqlite", "ok", 900);
  EXPECT_TRUE(warnings(*world.serving).empty());
  const HttpAnswer answer = answer_call(*world.serving, {"GET", "/v1/status", {}, ""});
  EXPECT_THAT(answer.body, testing::HasSubstr("\"retired\""));
  add("transcripts", "/s/agents/work/sessions", "stale", 100);
  add("lcm", "/s/lcm.db", "stale", 100);
  const auto told = warnings(*world.serving);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].code, "source_stale");
}

TEST_F(HealthWorld, a_damaged_file_is_red_whatever_reads_it) {
  EXPECT_EQ(health(), 200);
  auto& db = world.store.db();
  // A root page that is none: as a read of a damaged one ends.
  must(db.exec("PRAGMA writable_schema = ON"));
  must(db.exec("UPDATE sqlite_schema SET rootpage = 2147483 WHERE name = 'skipped_lines'"));
  must(db.exec("PRAGMA writable_schema = RESET"));
  world.serving->readers.clear();
  wait(kMinuteMs);
  EXPECT_EQ(health(), 503);
  const auto told = warnings(*world.serving);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].code, "store");
  EXPECT_TRUE(told[0].red);
}

TEST_F(HealthWorld, a_state_folder_that_is_not_there_is_named) {
  world.config->state_dir = world.dir.file(".");
  EXPECT_TRUE(warnings(*world.serving).empty());
  world.config->state_dir = world.dir.file("no-such-folder");
  const auto told = warnings(*world.serving);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].code, "source_absent");
  EXPECT_THAT(told[0].message, testing::HasSubstr(world.config->state_dir));
  world.config->lcm_db_path = world.dir.file("lcm.db");
  EXPECT_TRUE(warnings(*world.serving).empty()) << "it is read from elsewhere";
}

TEST(Health, C171_status_reports_the_version_of_sqlite) {
  World world;
  const HttpAnswer answer = answer_call(*world.serving, {"GET", "/v1/status", {}, ""});
  EXPECT_THAT(answer.body, testing::ContainsRegex("\"sqlite\":\"3\\.[0-9]+\\.[0-9]+\""));
}

}  // namespace
}  // namespace clawmark
