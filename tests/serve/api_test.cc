#include <gtest/gtest.h>

#include "base/utf8.h"
#include "serve/inject.h"
#include "serve/status.h"
#include "world.h"

namespace clawmark {
namespace {

const json::object kAda = World::caller("agent:main:telegram:direct:101", "101");

class Api : public ::testing::Test {
 protected:
  HttpAnswer call(const std::string& method, const std::string& path,
                  const std::string& body = "") {
    return answer_call(*world.serving, {method, path, {}, body});
  }
  World world;
};

TEST_F(Api, errors_have_a_code_and_the_protocol) {
  const std::tuple<std::string, std::string, std::string, int, std::string> cases[] = {
      {"GET", "/", "", 404, "not_found"},
      {"GET", "/v1/inject", "", 405, "bad_method"},
      {"POST", "/v1/status", "{}", 405, "bad_method"},
      {"POST", "/v1/inject", "{", 400, "bad_json"},
      {"POST", "/v1/inject", "[1]", 400, "bad_json"},
      {"POST", "/v1/inject", R"({"prompt":[1]})", 400, "invalid"},
      {"POST", "/v1/tools/", "{}", 404, "not_found"},
      {"POST", "/v1/tools/clawmark_drop", "{}", 404, "not_found"},
      {"POST", "/v1/admin/nothing", "{}", 404, "not_found"},
      {"POST", "/v1/admin/facts", R"({"params":{"as":"agent:other:main"}})", 400, "invalid"},
  };
  for (const auto& [method, path, body, status, code] : cases) {
    const HttpAnswer answer = call(method, path, body);
    EXPECT_EQ(answer.status, status) << method << path << answer.body;
    const auto parsed = must(parse_json(answer.body));
    EXPECT_EQ(get_int(parsed.as_object(), "protocol"), 1);
    EXPECT_EQ(text_of(parsed.as_object().at("error").as_object(), "code"), code) << answer.body;
  }
}

TEST_F(Api, a_client_that_is_bound_to_somebody_says_so_instead_of_a_caller) {
  const auto set = [&](const std::string& who) {
    return call("POST", "/v1/tools/clawmark_set",
                "{" + who + R"("params":{"key":"pref.editor","value":"helix"}})");
  };
  EXPECT_EQ(set(R"("as":"telegram:101",)").status, 200);
  EXPECT_EQ(set(R"("as":"",)").status, 400);
  EXPECT_EQ(set(R"("as":7,)").status, 400);
  EXPECT_EQ(set(R"("as":"all",)").status, 400);
  EXPECT_EQ(set(R"("as":"owner","caller":{"agent":"main"},)").status, 400);
  const auto found = [&](const std::string& who) {
    return call("POST", "/v1/tools/clawmark_search",
                R"({"as":")" + who + R"(","params":{"query":"editor"}})")
        .body;
  };
  EXPECT_NE(found("telegram:101").find("helix"), std::string::npos);
  EXPECT_EQ(found("telegram:202").find("helix"), std::string::npos);
}

TEST_F(Api, bodies_of_any_shape_never_break_it) {
  const std::string bodies[] = {
      "{}",
      "null",
      "1",
      R"({"caller":7,"prompt":[],"window":"x","budget_chars":"many"})",
      R"({"caller":{"agent":{"a":1}},"prompt":null,"budget_chars":-5})",
      R"({"caller":{"agent":"main","session_key":"agent:main:main"},"prompt":"x","budget_chars":1e300})",
      R"({"params":{"limit":-3,"query":9,"days":"x","key":{}}})"};
  for (const char* path :
       {"/v1/inject", "/v1/tools/clawmark_set", "/v1/tools/clawmark_search",
        "/v1/tools/clawmark_forget", "/v1/tools/clawmark_review", "/v1/tools/clawmark_reconcile",
        "/v1/notify", "/v1/hello", "/v1/admin/search", "/v1/admin/events", "/v1/admin/inject"}) {
    for (const std::string& body : bodies) {
      const HttpAnswer answer = call("POST", path, body);
      EXPECT_LT(answer.status, 500) << path << body << answer.body;
      EXPECT_TRUE(parse_json(answer.body).ok());
    }
  }
}

TEST_F(Api, inject_answers_in_the_shape_of_the_contract) {
  world.state("person:telegram:101", "user.name", "Ada");
  const Seq seq = world.say({.text = "my dentist is Doctor Weber", .session_id = "old"});
  const auto answer = world.inject(kAda, "who is my dentist?");
  for (const char* key : {"facts_block", "facts_version", "recall_block", "items", "skipped",
                          "degraded", "elapsed_ms"}) {
    EXPECT_TRUE(answer.contains(key)) << key;
  }
  const auto& item = answer.at("items").as_array().at(0).as_object();
  EXPECT_EQ(text_of(item, "kind"), "recall");
  EXPECT_EQ(text_of(item, "id"), std::to_string(seq.value));
  EXPECT_EQ(text_of(answer, "facts_version").size(), 16U);
}

TEST_F(Api, C114_both_blocks_together_stay_within_the_budget) {
  for (int i = 0; i < 60; ++i)
    world.state("person:telegram:101", "pref.k" + std::to_string(i), std::string(100, 'v'));
  for (int i = 0; i < 8; ++i) {
    world.say({.text = "heron " + std::to_string(i * 31) + " " +
                       std::string(300, static_cast<char>('a' + i)),
               .session_id = "s" + std::to_string(i)});
  }
  for (const int budget : {0, 10, 200, 500, 1000, 6000, 6200, 7000, 12000, 99999}) {
    const auto answer =
        world.inject(kAda, "where is the heron", json::object{{"count", 0}}, budget);
    EXPECT_LE(chars(answer.at("facts_block")) + chars(answer.at("recall_block")),
              static_cast<std::size_t>(std::min(budget, 12000)));
    EXPECT_LE(chars(answer.at("facts_block")), 6000U);
  }
}

TEST_F(Api, C112_the_facts_block_changes_only_when_facts_change) {
  world.state("person:telegram:101", "user.name", "Ada");
  const auto first = world.inject(kAda, "one question");
  for (int turn = 0; turn < 10; ++turn) {
    world.clock.advance(3 * kMinuteMs);
    world.say({.text = "question " + std::to_string(turn), .session_id = "now"});
    const auto next = world.inject(kAda, "another question " + std::to_string(turn));
    EXPECT_EQ(text_of(next, "facts_block"), text_of(first, "facts_block"));
    EXPECT_EQ(text_of(next, "facts_version"), text_of(first, "facts_version"));
  }
  world.state("person:telegram:101", "user.pet", "cat");
  EXPECT_NE(text_of(world.inject(kAda, "x"), "facts_version"), text_of(first, "facts_version"));
}

TEST_F(Api, without_a_prompt_there_are_facts_and_no_recall) {
  world.state("person:telegram:101", "user.name", "Ada");
  const auto answer = world.inject(kAda, "  ");
  EXPECT_EQ(text_of(answer, "skipped"), "no_prompt");
  EXPECT_TRUE(holds(answer, "user.name"));
}

TEST_F(Api, an_inert_daemon_says_so_everywhere_and_breaks_nothing) {
  world.state("person:telegram:101", "user.name", "Ada");
  world.config->problems = {"recall_limit: \"many\" is no number; set a number from 0 to 50"};
  const auto answer = world.inject(kAda, "hi");
  EXPECT_EQ(text_of(answer, "skipped"), "inert");
  EXPECT_FALSE(holds(answer, "Ada"));
  EXPECT_TRUE(get_bool(world.post("/v1/hello", {}), "inert"));
  EXPECT_EQ(call("GET", "/healthz").status, 503);
  EXPECT_EQ(call("POST", "/v1/tools/clawmark_search", "{}").status, 503);
  EXPECT_NE(call("GET", "/v1/status").body.find("recall_limit"), std::string::npos);
}

TEST_F(Api, hello_is_remembered_and_blocked_hooks_are_red) {
  EXPECT_EQ(call("GET", "/healthz").body, "ok\n");
  const auto hello =
      world.post("/v1/hello", {{"plugin_version", "0.1.0"},
                               {"host_version", "2026.9.6"},
                               {"placement", {{"facts", "appendSystemContext"}}},
                               {"blocked_hooks", json::array{"before_prompt_build"}}});
  EXPECT_EQ(text_of(hello, "version"), "0.1.0-test");
  const auto status = must(parse_json(call("GET", "/v1/status").body)).as_object();
  EXPECT_EQ(text_of(status.at("plugin").as_object(), "host_version"), "2026.9.6");
  const HttpAnswer health = call("GET", "/healthz");
  EXPECT_EQ(health.status, 503);
  EXPECT_NE(health.body.find("allowConversationAccess"), std::string::npos);
}

TEST_F(Api, status_counts_and_a_stopped_worker_is_red) {
  world.say({.text = "hello"});
  world.worker_states = {{"embed", "stopped", "sqlite/corrupt: x", {3}, 7, 2, {0}, {0}}};
  const auto status = must(parse_json(call("GET", "/v1/status").body)).as_object();
  EXPECT_EQ(get_int(status.at("counts").as_object(), "messages"), 1);
  EXPECT_EQ(get_int(status.at("workers").as_array()[0].as_object(), "lag"), 7);
  EXPECT_EQ(call("GET", "/healthz").status, 503);
}

TEST_F(Api, metrics_are_prometheus_text_with_our_names) {
  world.inject(kAda, "hi there");
  world.inject(World::caller("agent:main:cron:x"), "hi");
  const HttpAnswer answer = call("GET", "/metrics");
  EXPECT_TRUE(answer.content_type.starts_with("text/plain; version=0.0.4"));
  for (const char* line :
       {"# TYPE clawmark_inject_seconds histogram", "clawmark_inject_seconds_count 2",
        "clawmark_inject_seconds_bucket{le=\"+Inf\"} 2",
        "clawmark_refusals_total{reason=\"lane\"} 1", "# TYPE clawmark_events gauge",
        "clawmark_requests_total{route=\"/v1/inject\",status=\"200\"} 2"}) {
    EXPECT_NE(answer.body.find(line), std::string::npos) << line << "\n" << answer.body;
  }
  EXPECT_EQ(Metrics::label("path", "a\"b\\c\nd"), "path=\"a\\\"b\\\\c\\nd\"");
}

TEST_F(Api, notify_passes_the_hint_on) {
  EXPECT_EQ(
      call("POST", "/v1/notify", R"({"caller":{"session_key":"agent:main:main"},"kind":"reset"})")
          .status,
      202);
  EXPECT_EQ(world.notified, (std::vector<std::string>{"reset agent:main:main"}));
}

TEST_F(Api, the_operator_sees_all_holders_or_borrows_ones_eyes) {
  world.state("person:telegram:101", "user.name", "Ada");
  world.state("person:telegram:202", "user.name", "Bob");
  const auto all = world.post("/v1/admin/facts", {{"params", json::object{}}});
  EXPECT_EQ(all.at("facts").as_array().size(), 2U);
  const auto one = world.post("/v1/admin/facts", {{"params", {{"as", "telegram:202"}}}});
  ASSERT_EQ(one.at("facts").as_array().size(), 1U);
  EXPECT_EQ(text_of(one, "notes"), "");
  EXPECT_TRUE(holds(one, "Bob"));
  const auto dry =
      world.post("/v1/admin/inject", {{"params", {{"as", "telegram:101"}, {"prompt", "hi"}}}});
  EXPECT_TRUE(holds(dry, "Ada"));
  EXPECT_FALSE(holds(dry, "Bob"));
  const auto events = world.post("/v1/admin/events", {{"params", {{"type", "fact.stated"}}}});
  EXPECT_EQ(events.at("events").as_array().size(), 2U);
  EXPECT_EQ(text_of(world.post("/v1/admin/rebuild", {}), "ran"), "rebuild");
  EXPECT_TRUE(world.post("/v1/admin/parked_list", {}).at("parked").as_array().empty());
}

TEST_F(Api, facts_say_how_many_messages_nobody_looked_through_yet) {
  for (int i = 0; i < 10; ++i) world.say({.text = "heron note " + std::to_string(i)});
  must(
      world.store.db().run("INSERT OR REPLACE INTO cursors(worker, generation, pos) "
                           "VALUES ('extract', 1, 4)"));
  const auto facts = world.post("/v1/admin/facts", {{"params", json::object{}}});
  EXPECT_EQ(text_of(facts, "notes"), "6 messages of 10 still to be looked through for facts.");
}

TEST_F(Api, reading_works_without_a_writer_and_writing_says_what_to_do) {
  world.state("person:telegram:101", "user.name", "Ada");
  ServingParts parts;
  parts.config = world.config;
  parts.clock = &world.clock;
  parts.open_reader = [path = world.dir.file("clawmark.db")] {
    return Store::open_read_only(path);
  };
  parts.bodies = &world.bodies;
  parts.new_id = [] { return std::string("x"); };
  Serving alone(std::move(parts));
  EXPECT_NE(answer_call(alone, {"POST", "/v1/admin/facts", {}, "{}"}).body.find("Ada"),
            std::string::npos);
  EXPECT_EQ(answer_call(alone, {"GET", "/v1/status", {}, ""}).status, 200);
  const HttpAnswer set = answer_call(
      alone, {"POST", "/v1/admin/set", {}, R"({"params":{"key":"pref.x","value":"y"}})"});
  EXPECT_EQ(set.status, 503);
  EXPECT_NE(set.body.find("start it"), std::string::npos);
}

TEST_F(Api, a_store_that_is_not_there_is_an_answer) {
  ServingParts parts;
  parts.config = world.config;
  parts.clock = &world.clock;
  parts.open_reader = [path = world.dir.file("none.db")] { return Store::open_read_only(path); };
  parts.bodies = &world.bodies;
  parts.new_id = [] { return std::string("x"); };
  Serving lost(std::move(parts));
  EXPECT_EQ(answer_call(lost, {"POST", "/v1/inject", {}, "{}"}).status, 404);
  EXPECT_EQ(answer_call(lost, {"GET", "/healthz", {}, ""}).status, 503);
  EXPECT_EQ(answer_call(lost, {"GET", "/v1/status", {}, ""}).status, 200);
  EXPECT_EQ(answer_call(lost, {"GET", "/metrics", {}, ""}).status, 200);
}

}  // namespace
}  // namespace clawmark
