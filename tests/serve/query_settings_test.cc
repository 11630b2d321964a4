// Whose model is asked, and within which limits: from the rc_* keys.

#include <gtest/gtest.h>

#include "serve/query_desk.h"

namespace clawmark {
namespace {

QuerySettings settings_of(const std::map<std::string, std::string>& environment) {
  return query_settings(load_config({.file = {}, .environment = environment, .flags = {}}),
                        environment);
}

TEST(QuerySettings, the_first_provider_with_a_key_is_taken_and_what_is_missing_is_named) {
  EXPECT_EQ(settings_of({{"OPENAI_API_KEY", "k"}}).ask.model, "gpt-4o-mini");
  EXPECT_EQ(settings_of({{"GOOGLE_API_KEY", "k"}, {"ANTHROPIC_API_KEY", "a"}}).ask.model,
            "claude-haiku-4-5");
  EXPECT_EQ(settings_of({{"RC_PROVIDER", "openai"}, {"RC_MODEL", "x"}, {"OPENAI_API_KEY", "k"}})
                .ask.model,
            "x");
  for (const std::map<std::string, std::string>& bad : {std::map<std::string, std::string>{},
                                                        {{"RC_PROVIDER", "compatible"}},
                                                        {{"RC_PROVIDER", "openai"}}}) {
    EXPECT_FALSE(settings_of(bad).problem.empty());
  }
}

TEST(QuerySettings, keys_of_the_file_count_as_variables_do) {
  Config config;
  config.rc_provider = "openai";
  config.rc_budget_per_query = 0.2;
  config.rc_budget_per_turn = 0.3;
  config.rc_max_concurrent = 2;
  config.rc_query_timeout_ms = 5000;
  const QuerySettings settings = query_settings(config, {{"OPENAI_API_KEY", "k"}});
  EXPECT_EQ(settings.problem, "");
  EXPECT_EQ(settings.ask.api_key, "k");
  EXPECT_DOUBLE_EQ(settings.query_usd_max, 0.2);
  EXPECT_DOUBLE_EQ(settings.turn_usd_max, 0.3);
  EXPECT_EQ(settings.concurrent_max, 2);
  EXPECT_EQ(settings.ask.timeout_ms, 5000);
}

}  // namespace
}  // namespace clawmark
