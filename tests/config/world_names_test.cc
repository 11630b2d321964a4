// The names of WorldClaw's configuration: they work, a mistake is named, and what means nothing
// here is said once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/config.h"

namespace clawmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Config from_environment(std::map<std::string, std::string> variables) {
  variables.emplace("HOME", "/home/ada");
  return load_config({.file = {}, .environment = std::move(variables), .flags = {}});
}

TEST(WorldNames, defaults_are_those_of_the_original) {
  const Config config = from_environment({});
  EXPECT_EQ(config.large_file_tokens, 25'000);
  EXPECT_EQ(config.decay_half_life_days, 14);
  EXPECT_EQ(config.leaf_chunk_tokens, 20'000);
  EXPECT_EQ(config.leaf_target_tokens, 1'400);
  EXPECT_EQ(config.condensed_target_tokens, 2'200);
  EXPECT_EQ(config.max_expand_tokens, 4'000);
  EXPECT_EQ(config.wc_fresh_tail_count, 32);
  EXPECT_EQ(config.wc_context_threshold, 0.75);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST(WorldNames, each_name_is_taken) {
  const Config config = from_environment({{"WC_LARGE_FILE_TOKEN_THRESHOLD", "5000"},
                                          {"WC_DECAY_HALF_LIFE_DAYS", "30.5"},
                                          {"WC_LEAF_CHUNK_TOKENS", "8000"},
                                          {"WC_LEAF_TARGET_TOKENS", "900"},
                                          {"WC_CONDENSED_TARGET_TOKENS", "1500"},
                                          {"WC_MAX_EXPAND_TOKENS", "2000"},
                                          {"WC_FRESH_TAIL_COUNT", "16"},
                                          {"WC_CONTEXT_THRESHOLD", "0.5"},
                                          {"WC_OPENAI_BASE_URL", "http://127.0.0.1:9/v1/"},
                                          {"WC_SUMMARY_MODEL", "qwen3"},
                                          {"WC_API_KEY", "k"}});
  EXPECT_THAT(config.problems, IsEmpty());
  EXPECT_THAT(config.notes, IsEmpty());
  EXPECT_EQ(config.large_file_tokens, 5000);
  EXPECT_EQ(config.decay_half_life_days, 30.5);
  EXPECT_EQ(config.leaf_chunk_tokens, 8000);
  EXPECT_EQ(config.leaf_target_tokens, 900);
  EXPECT_EQ(config.condensed_target_tokens, 1500);
  EXPECT_EQ(config.max_expand_tokens, 2000);
  EXPECT_EQ(config.wc_fresh_tail_count, 16);
  EXPECT_EQ(config.wc_context_threshold, 0.5);
  EXPECT_EQ(config.summary_url, "http://127.0.0.1:9/v1");
  EXPECT_EQ(config.summary_model, "qwen3");
  EXPECT_EQ(config.summary_api_key, "k");
}

TEST(WorldNames, a_bad_value_is_named_with_its_remedy_and_the_default_stands) {
  const Config config = from_environment({{"WC_CONTEXT_THRESHOLD", "75%"}});
  ASSERT_EQ(config.problems.size(), 1U);
  EXPECT_THAT(config.problems[0], HasSubstr("WC_CONTEXT_THRESHOLD"));
  EXPECT_THAT(config.problems[0], HasSubstr("give a number from 0.1 to 1"));
  EXPECT_EQ(config.wc_context_threshold, 0.75);
  EXPECT_EQ(from_environment({{"WC_LEAF_CHUNK_TOKENS", "0"}}).problems.size(), 1U);
}

TEST(WorldNames, an_endpoint_without_a_model_is_incomplete) {
  const Config config = from_environment({{"WC_OPENAI_BASE_URL", "http://127.0.0.1:9"}});
  ASSERT_EQ(config.problems.size(), 1U);
  EXPECT_THAT(config.problems[0], HasSubstr("set WC_SUMMARY_MODEL"));
}

TEST(WorldNames, what_means_nothing_here_is_taken_and_said) {
  const Config config = from_environment({{"WC_DATABASE_PATH", "~/.openclaw/worldclaw.db"},
                                          {"WC_LARGE_FILE_STORAGE_DIR", "~/.openclaw/wc-files"},
                                          {"WC_SUMMARY_PROVIDER", "anthropic"},
                                          {"WC_SUMMARY_MODEL", "claude-sonnet-4-20250514"}});
  EXPECT_THAT(config.problems, IsEmpty());
  EXPECT_THAT(
      config.notes,
      ElementsAre(HasSubstr("WC_SUMMARY_MODEL"), HasSubstr("WC_SUMMARY_PROVIDER"),
                  HasSubstr("the store is db_path"), HasSubstr("WC_LARGE_FILE_STORAGE_DIR")));
}

TEST(WorldNames, a_slip_in_a_name_is_told_but_other_programs_use_the_prefix_too) {
  EXPECT_THAT(from_environment({{"WC_FRESH_TAIL_CONUT", "16"}}).notes,
              ElementsAre(HasSubstr("did you mean WC_FRESH_TAIL_COUNT?")));
  const Config other = from_environment({{"WC_STORE_CURRENCY_CODE", "EUR"}});
  EXPECT_THAT(other.notes, IsEmpty());
  EXPECT_THAT(other.problems, IsEmpty());
}

}  // namespace
}  // namespace clawmark
