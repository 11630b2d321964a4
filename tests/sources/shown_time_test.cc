// Times that a carrier shows wrongly: righted by one rule, or given as unknown and said to be so.

#include <gtest/gtest.h>

#include "base/clock.h"
#include "sources/agent_db_source.h"
#include "sources/lcm_source.h"
#include "sources/shown_time.h"
#include "sources/transcript_source.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'795'979'827'724;
constexpr char kIso[] = "2026-11-29T19:17:07.724Z";

TEST(ShownTime, milliseconds_stay_and_other_units_are_recognised) {
  EXPECT_EQ(shown_time(kMs).time.value, kMs);
  EXPECT_TRUE(shown_time(kMs).as_is);
  EXPECT_EQ(shown_time(kMs / 1000).time.value, kMs / 1000 * 1000);
  EXPECT_EQ(shown_time(kMs * 1000).time.value, kMs);
  EXPECT_EQ(shown_time(kMs * 1'000'000).time.value, kMs);
  EXPECT_FALSE(shown_time(kMs / 1000).as_is);
  EXPECT_EQ(shown_time(std::to_string(kMs / 1000)).time.value, kMs / 1000 * 1000);
  EXPECT_EQ(shown_time(std::to_string(kMs)).time.value, kMs);
  EXPECT_TRUE(shown_time(kIso).as_is);
}

TEST(ShownTime, what_can_be_no_time_is_unknown) {
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, -kMs, std::int64_t{12345},
                                    std::int64_t{253'402'300'799'000}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(shown_time(number).time.value, 0) << number;
    EXPECT_FALSE(shown_time(number).as_is) << number;
  }
  for (const char* text : {"", "soon", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "12x"}) {
    EXPECT_EQ(shown_time(std::string_view(text)).time.value, 0) << text;
  }
}

// As the host writes an entry: `timestamp` of the entry and of the message as given.
std::string entry_text(const std::string& id, const std::string& entry,
                       const std::string& message) {
  return R"({"type":"message","id":")" + id + R"(","parentId":null,"timestamp":)" + entry +
         R"(,"message":{"role":"user","content":"text of )" + id + R"(","timestamp":)" + message +
         "}}";
}

const std::vector<std::pair<std::string, std::string>> kShown = {
    {"\"" + std::string(kIso) + "\"", std::to_string(kMs)},
    {"0", "0"},
    {"-5", "-5"},
    {std::to_string(kMs / 1000), std::to_string(kMs / 1000)},
    {"\"9999-12-31T23:59:59.000Z\"", "253402300799000"},
    {"\"not a time\"", "\"x\""},
    {"0", std::to_string(kMs)}};

void expect_righted(const std::vector<Entry>& entries) {
  std::vector<Entry> said;
  for (const Entry& entry : entries) {
    if (entry.kind == EntryKind::kMessage && entry.text.starts_with("text of")) {
      said.push_back(entry);
    }
  }
  ASSERT_EQ(said.size(), kShown.size());
  EXPECT_EQ(said[0].time.value, kMs);
  EXPECT_FALSE(said[0].time_off);
  for (const std::size_t unknown : {1, 2, 4, 5}) {
    EXPECT_EQ(said[unknown].time.value, 0) << unknown;
    EXPECT_EQ(said[unknown].message_time.value, 0) << unknown;
    EXPECT_TRUE(said[unknown].time_off) << unknown;
  }
  EXPECT_EQ(said[3].time.value, kMs / 1000 * 1000);
  EXPECT_TRUE(said[3].time_off);
  EXPECT_EQ(said[6].time.value, kMs) << "the message's own time stands in for the entry's";
}

TEST(ShownTime, of_transcript_files_is_righted) {
  support::TempDir dir;
  std::string text =
      R"({"type":"session","version":3,"id":"s1","timestamp":")" + std::string(kIso) + "\"}\n";
  for (std::size_t i = 0; i < kShown.size(); ++i) {
    text += entry_text("m" + std::to_string(i), kShown[i].first, kShown[i].second) + "\n";
  }
  support::write_text(dir / "agents/main/sessions/s1.jsonl", text);
  TranscriptSource source({dir / "agents/main/sessions"}, "main", {});
  expect_righted(test::drain(source, test::stream_of(source, "s1")).entries);
}

TEST(ShownTime, of_the_agent_database_is_righted) {
  support::TempDir dir;
  support::AgentDbWriter writer(dir.path(), "main");
  const auto talk = support::make_conversation({.seed = 5, .messages = 2});
  writer.write(talk);
  for (std::size_t i = 0; i < kShown.size(); ++i) {
    writer.append_json(talk.session_id,
                       entry_text("00000000-0000-4000-8000-00000000000" + std::to_string(i),
                                  kShown[i].first, kShown[i].second),
                       kMs);
  }
  const SystemClock clock;
  AgentDbSource source(dir / "agents/main/agent/openclaw-agent.sqlite", "main", {}, clock);
  expect_righted(test::drain(source, test::stream_of(source, talk.session_id)).entries);
}

TEST(ShownTime, of_lcm_is_righted) {
  support::TempDir dir;
  support::LcmWriter writer(dir / "lcm.db");
  const auto talk = support::make_conversation({.seed = 5, .messages = 12});
  writer.write(talk);
  const std::vector<std::pair<std::string, std::int64_t>> shown = {
      {"2026-11-29 19:17:07", kMs / 1000 * 1000},
      {"1795979827", kMs / 1000 * 1000},
      {"1795979827724", kMs},
      {"0", 0},
      {"1970-01-01 00:00:00", 0},
      {"9999-12-31 23:59:59", 0},
      {"yesterday", 0},
      {"", 0}};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    writer.db().run(
        "UPDATE messages SET created_at = ? WHERE message_id = (SELECT message_id FROM"
        " messages ORDER BY message_id LIMIT 1 OFFSET ?)",
        {shown[i].first, static_cast<std::int64_t>(i)});
  }
  const SystemClock clock;
  LcmSource source(dir / "lcm.db", dir / "lcm-files", {}, clock);
  const auto entries = test::drain(source, test::stream_of(source, talk.session_id)).entries;
  ASSERT_GE(entries.size(), shown.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    EXPECT_EQ(entries[i].time.value, shown[i].second) << shown[i].first;
    EXPECT_EQ(entries[i].time_off, i != 0 && i != 2) << shown[i].first;
  }
}

}  // namespace
}  // namespace clawmark
