#include <gtest/gtest.h>

#include <set>

#include "base/clock.h"
#include "sources/source.h"
#include "sources/source_resolver.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::Era;
using support::TempDir;

const SystemClock kClock;

std::vector<std::string> found(const SourceOptions& options) {
  std::vector<std::string> out;
  for (const auto& open : discover_sources(options, kClock)) {
    out.push_back(std::string(open.source->carrier()) + "/" + open.agent + "/" +
                  std::to_string(open.preference));
  }
  return out;
}

using Names = std::vector<std::string>;

class DiscoverTest : public testing::Test {
 protected:
  DiscoverTest() {
    support::AgentDbWriter(dir_.path(), "main").write(talk_);
    support::TranscriptWriter(dir_.path(), "main").write(old_);
    support::TranscriptWriter(dir_.path(), "ops").write(ops_);
    support::LcmWriter(dir_ / "lcm.db").write(talk_);
    options_.state_dir = dir_.path();
  }
  TempDir dir_;
  SourceOptions options_;
  support::Conversation talk_ = support::make_conversation({.seed = 1, .messages = 4});
  support::Conversation old_ =
      support::make_conversation({.seed = 2, .messages = 3, .era = Era::kFiles3});
  support::Conversation ops_ = support::make_conversation({.seed = 3,
                                                           .messages = 3,
                                                           .era = Era::kFiles3,
                                                           .agent = "ops",
                                                           .session_key = "agent:ops:main"});
};

TEST_F(DiscoverTest, auto_takes_every_carrier_of_every_agent_in_order_of_preference) {
  EXPECT_EQ(found(options_),
            (Names{"lcm//0", "agent-db/main/1", "transcripts/main/2", "transcripts/ops/2"}));
}

TEST_F(DiscoverTest, a_choice_restricts) {
  options_.choice = SourceChoice::kAgentDb;
  EXPECT_EQ(found(options_), Names{"agent-db/main/1"});
  options_.choice = SourceChoice::kLcm;
  EXPECT_EQ(found(options_), Names{"lcm//0"});
  options_.choice = SourceChoice::kTranscripts;
  EXPECT_EQ(found(options_), (Names{"transcripts/main/2", "transcripts/ops/2"}));
}

TEST_F(DiscoverTest, C001_files_of_july_and_rows_of_september_are_both_read) {
  std::set<std::string> ids;
  TimeMs newest_db, newest_files;
  for (auto& open : discover_sources(options_, kClock)) {
    for (const auto& stream : test::streams(*open.source)) {
      auto& newest = open.source->carrier() == "transcripts" ? newest_files : newest_db;
      newest = std::max(newest, stream.newest);
      for (const auto& id : test::drain(*open.source, stream).message_ids()) ids.insert(id);
    }
  }
  std::set<std::string> all;
  for (const auto* c : {&talk_, &old_, &ops_}) {
    for (const auto& id : support::message_ids(*c)) all.insert(id);
  }
  EXPECT_EQ(ids, all);
  EXPECT_GT(newest_db.value, 0);
  EXPECT_GT(newest_files.value, 0);
}

TEST_F(DiscoverTest, a_further_folder_and_a_named_database_are_taken) {
  TempDir other;
  support::write_text(other / "flat/s1.jsonl", "");
  options_.transcripts_dir = other / "flat";
  options_.lcm_path = other / "missing.db";
  EXPECT_EQ(found(options_), (Names{"lcm//0", "agent-db/main/1", "transcripts/main/2",
                                    "transcripts/ops/2", "transcripts/main/2"}));
  auto sources = discover_sources(options_, kClock);
  EXPECT_EQ(sources[0].source->validate().state, SourceState::kAbsent);
}

TEST_F(DiscoverTest, the_path_in_the_hosts_configuration_is_followed) {
  support::write_text(dir_ / "openclaw.json",
                      "{ // comment\n\"plugins\":{\"entries\":{\"lossless-claw\":{\"config\":{"
                      "\"databasePath\":\"elsewhere/lcm2.db\",},},},},}");
  const support::LcmWriter made(dir_ / "lcm.db");
  auto sources = discover_sources(options_, kClock);
  EXPECT_EQ(sources[0].source->carrier(), "lcm");
  EXPECT_NE(sources[0].source->path().find("elsewhere/lcm2.db"), std::string::npos);
  support::write_text(
      dir_ / "openclaw.json",
      R"({"plugins":{"entries":{"lossless-claw":{"config":{"databasePath":":memory:"}}}}})");
  EXPECT_EQ(found(options_)[0], "agent-db/main/1");
}

TEST_F(DiscoverTest, the_resolver_gives_texts_by_sighting_and_hash_and_never_across_agents) {
  std::vector<TextRequest> requests;
  std::vector<std::string> texts;
  auto sources = discover_sources(options_, kClock);
  for (auto& open : sources) {
    for (const auto& stream : test::streams(*open.source)) {
      for (const auto& e : test::drain(*open.source, stream).entries) {
        if (e.kind != EntryKind::kMessage) continue;
        const Sighting gone{"agent-db", "session:gone", "1"};
        const Sighting here{std::string(open.source->carrier()), stream.key, e.place};
        requests.push_back({stream.agent, e.entry_id, e.hash, {gone, here}});
        texts.push_back(e.text);
      }
    }
  }
  SourceResolver resolver(std::move(sources));
  const auto got = resolver.resolve(requests);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(got[i], texts[i]);
  auto altered = requests;
  altered[0].hash = sha256("something else");
  altered[1].sightings.clear();
  EXPECT_FALSE(resolver.resolve(altered)[0].has_value());
  EXPECT_FALSE(resolver.resolve(altered)[1].has_value());
  auto stranger = requests.back();
  ASSERT_EQ(stranger.agent, "ops");
  stranger.agent = "main";
  EXPECT_FALSE(resolver.resolve({{stranger}})[0].has_value());
}

}  // namespace
}  // namespace clawmark
