// The audit trail as someone reads it in the sqlite3 shell.

#include <gmock/gmock.h>
#include <stdio.h>

#include "world.h"

namespace clawmark::testing_world {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string shell(const World& w, const std::string& sql) {
  const std::string command = "sqlite3 -readonly '" + w.dir + "/clawmark.db' \"" + sql + "\" 2>&1";
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "no shell";
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
  pclose(pipe);
  return out;
}

TEST(Audit, both_queries_run_as_written_in_the_plain_shell) {
  if (system("command -v sqlite3 > /dev/null") != 0) GTEST_SKIP() << "no sqlite3 shell here";
  World w;
  const Seq m = w.say({.at = day(3)});
  w.extract({{"pref.editor", "helix", 0.9, {m}}, {"pref.theme", "dark", 0.5, {m}}});
  w.state("user.city", "Lyon", day(4));
  w.fold();
  EXPECT_EQ(shell(w, "SELECT event_type, COUNT(*) FROM memory_events GROUP BY 1;"),
            "create|2\nreject|1\n");
  EXPECT_EQ(shell(w,
                  "SELECT key, confidence, source FROM facts WHERE is_deleted=0 ORDER BY "
                  "updated_at DESC LIMIT 20;"),
            "user.city|1.0|user\npref.editor|0.9|extracted\n");
  EXPECT_THAT(shell(w, "SELECT created_at, updated_at FROM facts ORDER BY key"),
              HasSubstr("2026-01-04T00:00:00.000Z|2026-01-04T00:00:00.000Z"));
}

TEST(Audit, fallen_back_sources_and_parked_extractions_are_in_it) {
  World w;
  NewEvent fallback;
  fallback.type = event_type::kSourceFallback;
  fallback.payload = {{"carrier", "lcm"}, {"reason", "drift"}, {"message", "column gone"}};
  w.append(fallback);
  NewEvent parked;
  parked.type = event_type::kBatchParked;
  parked.payload = {{"worker", "extract"}, {"reason", "parse_error"}, {"detail", "no JSON"}};
  w.append(parked);
  parked.payload["worker"] = "embed";
  w.append(parked);
  w.fold();
  EXPECT_THAT(w.rows("SELECT event_type || ' ' || memory_key || ' ' || new_value || ' ' || source "
                     "FROM memory_events ORDER BY id"),
              ElementsAre("source_fallback source.lcm column gone selectSource",
                          "extract_error extractor.parse_error no JSON extractor"));
}

TEST(Audit, an_observation_names_its_message_quote_and_sessions) {
  World w;
  const Seq m = w.say({.at = day(3)});
  w.sight(m, "s2");
  w.extract({"pref.editor", "helix", 0.9, {m}});
  w.fold();
  EXPECT_THAT(
      w.rows("SELECT key || '|' || value || '|' || source || '|' || said_at || '|' || quote "
             "|| '|' || sessions || '|' || state FROM fact_observations"),
      ElementsAre("pref.editor|helix|extracted|2026-01-04T00:00:00.000Z|quote of "
                  "helix|s1 s2|active"));
}

TEST(Audit, hostile_keys_are_refused_and_cut) {
  World w;
  const Seq m = w.say({.at = day(0)});
  w.extract({std::string(5000, 'x'), "v", 0.9, {m}});
  w.extract({"pref.ok", std::string(2001, 'v'), 0.9, {m}});
  w.extract({"pref.ok", " \n", 0.9, {m}});
  w.extract({.key = "pref.ok", .value = "v", .evidence = {m}, .holder = ""});
  w.fold();
  EXPECT_THAT(
      w.rows("SELECT new_value || ' ' || length(memory_key) FROM memory_events ORDER BY id"),
      ElementsAre("KEY_FORMAT 100", "VALUE_SIZE 7", "VALUE_SIZE 7", "HOLDER 7"));
  EXPECT_EQ(w.one("SELECT count(*) FROM facts"), "0");
}

TEST(Audit, a_redacted_event_leaves_no_trace_and_the_rest_as_a_rebuild_would_give) {
  World w;
  const Seq m1 = w.say({.at = day(0)});
  const Seq m2 = w.say({.at = day(5)});
  const Seq first = w.extract({"user.city", "Lyon", 0.9, {m1}});
  w.extract({"user.city", "Lyon", 0.9, {m2}});
  w.fold();
  w.redact(first);
  w.fold();
  EXPECT_THAT(w.audit("user.city"), ElementsAre("create -→Lyon extracted"));
  EXPECT_EQ(w.fact("user.city")->created, day(5));
  const auto before = w.digest(*w.facts);
  ASSERT_TRUE(rebuild(w.db(), *w.facts, w.clock.now(), {}).ok());
  EXPECT_EQ(w.digest(*w.facts), before);
}

}  // namespace
}  // namespace clawmark::testing_world
