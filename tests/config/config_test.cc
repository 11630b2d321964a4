#include "base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

using support::TempDir;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Variables = std::map<std::string, std::string>;

Config from_environment(Variables variables) {
  variables.emplace("HOME", "/home/ada");
  return load_config({.file = {}, .environment = std::move(variables), .flags = {}});
}

Config from_text(const TempDir& dir, const std::string& text, Variables variables = {}) {
  support::write_text(dir / "config.json", text);
  variables.emplace("HOME", dir.path());
  return load_config({.file = dir / "config.json", .environment = variables, .flags = {}});
}

std::string shown(const Config& config, const std::string& key) {
  for (const auto& [name, value] : show_config(config)) {
    if (name == key) return value;
  }
  return "no such key";
}

TEST(Config, nothing_given_is_complete) {
  const Config config = from_environment({});
  EXPECT_THAT(config.problems, IsEmpty());
  EXPECT_EQ(config.db_path, "/home/ada/.local/share/clawmark/clawmark.db");
  EXPECT_EQ(config.socket, "/home/ada/.local/share/clawmark/clawmark.sock");
  EXPECT_EQ(config.state_dir, "/home/ada/.openclaw");
  EXPECT_EQ(config.recall_limit, 6);
  EXPECT_EQ(config.confidence_threshold, 0.8);
  EXPECT_EQ(config.origins.at("recall_limit"), "default");
}

TEST(Config, names_and_defaults_of_recursive_claw_work_as_variables_and_in_the_file) {
  const Config plain = from_environment({});
  EXPECT_EQ(plain.rc_mode, "tools");
  EXPECT_EQ(plain.rc_fresh_tail, 20);
  EXPECT_DOUBLE_EQ(plain.rc_budget_per_query, 0.05);
  EXPECT_DOUBLE_EQ(plain.rc_budget_per_turn, 0.10);
  EXPECT_EQ(plain.rc_query_timeout_ms, 30'000);
  EXPECT_EQ(plain.rc_max_concurrent, 4);
  EXPECT_EQ(plain.rc_max_depth, 1);
  const TempDir dir;
  const Config both = from_text(dir,
                                R"({"rc_mode": "repl", "rc_fresh_tail": 30, "rc_provider": "google",
                                    "rc_budget_per_turn": 0.5})",
                                {{"RC_FRESH_TAIL", "40"},
                                 {"RC_MODEL", "m"},
                                 {"RC_API_KEY", "k"},
                                 {"RC_DATABASE_PATH", "~/.openclaw/recursive-claw.db"},
                                 {"RC_BUDGET_PER_QUERY", "0.02"},
                                 {"RC_MAX_DEPTH", "2"},
                                 {"RC_OF_SOMETHING_ELSE", "1"}});
  EXPECT_THAT(both.problems, IsEmpty());
  EXPECT_EQ(both.rc_mode, "repl");
  EXPECT_EQ(both.rc_fresh_tail, 40);
  EXPECT_EQ(both.rc_provider, "google");
  EXPECT_DOUBLE_EQ(both.rc_budget_per_query, 0.02);
  EXPECT_DOUBLE_EQ(both.rc_budget_per_turn, 0.5);
  EXPECT_EQ(both.rc_database_path, dir.path() + "/.openclaw/recursive-claw.db");
  EXPECT_EQ(shown(both, "rc_api_key"), "(set)");
  EXPECT_EQ(both.origins.at("rc_fresh_tail"), "environment");
}

TEST(Config, bad_values_of_recursive_claw_s_names_are_named_with_the_remedy) {
  const std::pair<const char*, const char*> bad[] = {
      {"RC_MODE", "both"},           {"RC_FRESH_TAIL", "0"},       {"RC_FRESH_TAIL", "many"},
      {"RC_PROVIDER", "moon"},       {"RC_URL", "ftp://x"},        {"RC_BUDGET_PER_QUERY", "lots"},
      {"RC_BUDGET_PER_TURN", "NaN"}, {"RC_BUDGET_PER_TURN", "-1"}, {"RC_BUDGET_PER_QUERY", ""},
      {"RC_MAX_CONCURRENT", "0"},    {"RC_QUERY_TIMEOUT_MS", "1"}, {"RC_MAX_DEPTH", "deep"},
      {"RC_DATABASE_PATH", "here"}};
  for (const auto& [name, value] : bad) {
    const Config config = from_environment({{name, value}});
    ASSERT_EQ(config.problems.size(), 1u) << name << "=" << value;
    EXPECT_THAT(config.problems.front(), AllOf(HasSubstr(name), HasSubstr("give ")));
  }
  const Config endpoint = from_environment({{"RC_PROVIDER", "compatible"}});
  ASSERT_EQ(endpoint.problems.size(), 1u);
  EXPECT_THAT(endpoint.problems.front(), HasSubstr("set RC_URL"));
}

TEST(Config, names_of_the_original_still_work) {
  const Config config = from_environment({{"CLAWMARK_DB_PATH", "~/m.db"},
                                          {"CLAWMARK_SOURCE", "lcm"},
                                          {"CLAWMARK_TRANSCRIPTS_DIR", "/t"},
                                          {"CLAWMARK_LCM_DB_PATH", "/l.db"},
                                          {"CLAWMARK_EMBEDDING_URL", "http://127.0.0.1:9/v1/"},
                                          {"CLAWMARK_EMBEDDING_MODEL", "bge-m3"},
                                          {"CLAWMARK_EMBEDDING_DIM", "1024"},
                                          {"CLAWMARK_EXTRACT_URL", "https://models.example/v1"},
                                          {"CLAWMARK_EXTRACT_MODEL", "small"},
                                          {"CLAWMARK_CONFIDENCE_THRESHOLD", "0.5"},
                                          {"CLAWMARK_RECALL_LIMIT", "3"},
                                          {"CLAWMARK_IDLE_HOURS", "1.5"},
                                          {"CLAWMARK_RERANK_URL", "http://r.example"}});
  EXPECT_THAT(config.problems, IsEmpty());
  EXPECT_EQ(config.db_path, "/home/ada/m.db");
  EXPECT_EQ(config.source, "lcm");
  EXPECT_EQ(config.embedding_url, "http://127.0.0.1:9/v1");
  EXPECT_EQ(config.embedding_dim, 1024);
  EXPECT_EQ(config.idle_hours, 1.5);
  EXPECT_EQ(config.rerank_url, "http://r.example");
  EXPECT_EQ(config.origins.at("db_path"), "environment");
}

TEST(Config, flag_beats_environment_beats_file) {
  TempDir dir;
  support::write_text(dir / "c.json",
                      R"({"recall_limit": 1, "idle_hours": 2, "log_level": "info"})");
  const Config config =
      load_config({.file = dir / "c.json",
                   .environment = {{"CLAWMARK_RECALL_LIMIT", "2"}, {"CLAWMARK_IDLE_HOURS", "4"}},
                   .flags = {{"recall_limit", "3"}}});
  EXPECT_EQ(config.recall_limit, 3);
  EXPECT_EQ(config.idle_hours, 4);
  EXPECT_EQ(config.log_level, "info");
  EXPECT_EQ(config.origins.at("recall_limit"), "flag");
  EXPECT_EQ(config.origins.at("idle_hours"), "environment");
  EXPECT_EQ(config.origins.at("log_level"), "file " + (dir / "c.json"));
}

struct BadValue {
  const char* variable;
  const char* value;
  const char* remedy;  // part of the message that says what to give
};

class BadValues : public testing::TestWithParam<BadValue> {};

// The original took these: "80%" became NaN and no fact was ever injected; empty became 0.
TEST_P(BadValues, are_named_with_value_and_remedy_and_the_default_stands) {
  const auto& bad = GetParam();
  const Config config = from_environment({{bad.variable, bad.value}});
  ASSERT_EQ(config.problems.size(), 1u) << bad.variable;
  EXPECT_THAT(config.problems[0],
              AllOf(HasSubstr(bad.variable), HasSubstr(bad.value), HasSubstr(bad.remedy)));
  const Config untouched = from_environment({});
  EXPECT_EQ(show_config(config), show_config(untouched));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadValues,
    testing::Values(BadValue{"CLAWMARK_CONFIDENCE_THRESHOLD", "80%", "a number from 0 to 1"},
                    BadValue{"CLAWMARK_CONFIDENCE_THRESHOLD", "nan", "a number from 0 to 1"},
                    BadValue{"CLAWMARK_CONFIDENCE_THRESHOLD", "1.5", "a number from 0 to 1"},
                    BadValue{"CLAWMARK_CONFIDENCE_THRESHOLD", "", "is empty"},
                    BadValue{"CLAWMARK_RECALL_LIMIT", "", "whole number from 0 to 50"},
                    BadValue{"CLAWMARK_RECALL_LIMIT", "-1", "whole number from 0 to 50"},
                    BadValue{"CLAWMARK_RECALL_LIMIT", "6.5", "whole number from 0 to 50"},
                    BadValue{"CLAWMARK_RECALL_LIMIT", "0x10", "whole number from 0 to 50"},
                    BadValue{"CLAWMARK_IDLE_HOURS", "-3", "a number from"},
                    BadValue{"CLAWMARK_IDLE_HOURS", "inf", "a number from"},
                    BadValue{"CLAWMARK_EMBEDDING_DIM", "abc", "whole number"},
                    BadValue{"CLAWMARK_SOURCE", "sqlite",
                             "one of auto, lcm, transcripts, agent-db"},
                    BadValue{"CLAWMARK_RETENTION", "all", "one of auto, reference, verbatim"},
                    BadValue{"CLAWMARK_EMBEDDING_URL", "localhost:8080", "a URL such as"},
                    BadValue{"CLAWMARK_EMBEDDING_URL", "http://", "a URL such as"},
                    BadValue{"CLAWMARK_DB_PATH", "memory.db", "absolute path"},
                    BadValue{"CLAWMARK_TIMEZONE", "Middle/Earth", "IANA time zone"},
                    BadValue{"CLAWMARK_VERIFY_TLS", "maybe", "true or false"},
                    BadValue{"CLAWMARK_LOG_LEVEL", "loud", "one of error"}));

TEST(Config, unknown_keys_are_named_and_the_likely_one_offered) {
  TempDir dir;
  const Config file = from_text(dir, R"({"recal_limit": 3})");
  EXPECT_THAT(file.problems,
              ElementsAre(AllOf(HasSubstr("recal_limit"), HasSubstr("did you mean recall_limit"))));
  const Config variable = from_environment({{"CLAWMARK_RECAL_LIMIT", "3"}});
  EXPECT_THAT(variable.problems, ElementsAre(AllOf(HasSubstr("CLAWMARK_RECAL_LIMIT"),
                                                   HasSubstr("CLAWMARK_RECALL_LIMIT"))));
}

TEST(Config, syntax_errors_say_line_and_column) {
  TempDir dir;
  const Config config =
      from_text(dir, "{\n  // a comment\n  \"recall_limit\": 4,\n  \"idle_hours\": oops\n}\n");
  ASSERT_EQ(config.problems.size(), 1u);
  EXPECT_THAT(config.problems[0],
              AllOf(HasSubstr("line 4"), HasSubstr("column 17"), HasSubstr("config.json")));
  EXPECT_EQ(config.recall_limit, 6);
  EXPECT_THAT(from_text(dir, "{} {}").problems, ElementsAre(HasSubstr("line 1")));
  EXPECT_THAT(from_text(dir, "").problems, ElementsAre(HasSubstr("line 1")));
  EXPECT_THAT(from_text(dir, "[1]").problems, ElementsAre(HasSubstr("one JSON object")));
}

TEST(Config, files_may_hold_comments_trailing_commas_and_lists) {
  TempDir dir;
  const Config config = from_text(dir, R"({
    // who
    "ignore_sessions": ["agent:*:cron:*", "agent:x:*"],  /* never */
    "verify_tls": false,
    "recall_limit": 4,
  })");
  EXPECT_THAT(config.problems, IsEmpty());
  EXPECT_THAT(config.ignore_sessions, ElementsAre("agent:*:cron:*", "agent:x:*"));
  EXPECT_FALSE(config.verify_tls);
  EXPECT_THAT(from_text(dir, R"({"recall_limit": [1]})").problems,
              ElementsAre(HasSubstr("recall_limit")));
  EXPECT_THAT(from_text(dir, R"({"recall_limit": null})").problems,
              ElementsAre(HasSubstr("recall_limit")));
  EXPECT_THAT(from_text(dir, R"({"toolsets": [1]})").problems,
              ElementsAre(HasSubstr("list of strings")));
}

TEST(Config, a_rule_of_sharing_names_two_globs) {
  TempDir dir;
  EXPECT_THAT(
      from_text(dir, R"({"share_sessions": ["agent:main:telegram:group:* > agent:main:main"]})")
          .problems,
      IsEmpty());
  for (const char* rule : {"agent:main:main", " > x", "x > ", "a > b > c", "a>b"}) {
    EXPECT_THAT(from_text(dir, R"({"share_sessions": [")" + std::string(rule) + "\"]}").problems,
                ElementsAre(HasSubstr("FROM > TO")))
        << rule;
  }
}

TEST(Config, a_named_file_that_is_not_there_is_a_problem_a_missing_usual_one_is_not) {
  TempDir dir;
  const Config named =
      load_config({.file = dir / "none.json", .environment = {{"HOME", dir.path()}}, .flags = {}});
  EXPECT_THAT(named.problems, ElementsAre(HasSubstr("none.json")));
  EXPECT_THAT(
      load_config({.file = {}, .environment = {{"HOME", dir.path()}}, .flags = {}}).problems,
      IsEmpty());
  support::write_text(dir / ".config/clawmark/config.json", R"({"recall_limit": 9})");
  EXPECT_EQ(
      load_config({.file = {}, .environment = {{"HOME", dir.path()}}, .flags = {}}).recall_limit,
      9);
}

TEST(Config, an_endpoint_without_its_model_names_the_missing_variable) {
  const Config config = from_environment({{"CLAWMARK_EMBEDDING_URL", "http://e.example"},
                                          {"CLAWMARK_EXTRACT_URL", "http://x.example"}});
  EXPECT_THAT(config.problems, ElementsAre(HasSubstr("CLAWMARK_EMBEDDING_MODEL"),
                                           HasSubstr("CLAWMARK_EXTRACT_MODEL")));
}

TEST(Config, C169_credentials_show_nowhere) {
  const Config config = from_environment(
      {{"CLAWMARK_EMBEDDING_URL", "http://user:pw-hidden@127.0.0.1:9/v1"},
       {"CLAWMARK_EMBEDDING_MODEL", "m"},
       {"CLAWMARK_EMBEDDING_API_KEY", "sk-EXAMPLE"},
       {"CLAWMARK_EXTRACT_URL", "https://x.test/v1?api-key=pw-hidden&v=2#pw-hidden"},
       {"CLAWMARK_EXTRACT_MODEL", "m"},
       {"CLAWMARK_RERANK_URL", "ftp://user:pw-hidden@host"}});
  EXPECT_EQ(shown(config, "extract_url"), "https://x.test/v1?api-key=(hidden)&v=(hidden)#(hidden)");
  EXPECT_EQ(config.embedding_url,
            "http://user:pw-hidden@127.0.0.1:9/v1");  // the transport moves it
  EXPECT_EQ(shown(config, "embedding_url"), "http://127.0.0.1:9/v1");
  EXPECT_EQ(shown(config, "embedding_api_key"), "(set)");
  EXPECT_EQ(shown(config, "extract_api_key"), "(not set)");
  ASSERT_EQ(config.problems.size(), 1u);
  EXPECT_THAT(config.problems[0], Not(HasSubstr("pw-hidden")));
  for (const auto& [key, value] : show_config(config)) {
    EXPECT_THAT(value, AllOf(Not(HasSubstr("pw-hidden")), Not(HasSubstr("sk-EXAMPLE")))) << key;
  }
}

TEST(Config, one_api_key_serves_both_endpoints) {
  const Config config =
      from_environment({{"CLAWMARK_API_KEY", "k1"}, {"CLAWMARK_EXTRACT_API_KEY", "k2"}});
  EXPECT_EQ(config.embedding_api_key, "k1");
  EXPECT_EQ(config.extract_api_key, "k2");
  EXPECT_THAT(config.problems, IsEmpty());
}

TEST(Config, the_hosts_own_variable_names_the_state_folder) {
  EXPECT_EQ(from_environment({{"OPENCLAW_STATE_DIR", "/srv/claw"}}).state_dir, "/srv/claw");
  EXPECT_EQ(from_environment({{"OPENCLAW_STATE_DIR", "/srv/claw"}, {"CLAWMARK_STATE_DIR", "/x"}})
                .state_dir,
            "/x");
}

TEST(Config, C167_without_HOME_the_password_database_answers) {
  const Config config = load_config({.file = {}, .environment = {}, .flags = {}});
  EXPECT_TRUE(config.db_path.starts_with('/'));
  EXPECT_THAT(config.problems, IsEmpty());
}

TEST(Config, the_table_is_complete_and_each_default_is_what_it_says) {
  std::set<std::string_view> names, variables;
  const Config config = from_environment({{"TZ", "UTC"}});
  for (const auto& key : config_keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_TRUE(variables.insert(key.environment).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    const std::string value = shown(config, std::string(key.name));
    const bool computed = key.type == "path" || key.type == "zone" || key.type == "secret";
    if (computed) continue;
    EXPECT_EQ(value, key.fallback) << key.name;
  }
  EXPECT_EQ(names.size(), show_config(config).size());
}

TEST(Config, unknown_tool_families_are_refused) {
  EXPECT_THAT(from_environment({{"CLAWMARK_TOOLSETS", "clawmark, magic"}}).problems,
              ElementsAre(HasSubstr("magic")));
}

}  // namespace
}  // namespace clawmark
