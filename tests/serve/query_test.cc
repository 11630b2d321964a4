// Questions to a model: each provider's own protocol against a server that is strict about it, the
// answer's sources, and money that is never spent twice.

#include <gtest/gtest.h>

#include "asking.h"

namespace clawmark {
namespace {

TEST(Ask, each_provider_is_spoken_to_in_its_own_protocol_and_its_usage_is_charged) {
  for (const Row& row : kRows) {
    Asking a([&](const ScriptRequest& request) { return speak(row.name, request, {}); }, row);
    const auto reply = a.desk().ask(a.question());
    ASSERT_TRUE(reply.ok()) << row.name << " " << describe(reply.error());
    EXPECT_EQ(reply->text, "Mollie [m1]") << row.name;
    EXPECT_EQ(reply->usage.input_tokens, 900) << row.name;
    EXPECT_EQ(reply->usage.output_tokens, 30) << row.name;
    EXPECT_EQ(reply->micro_usd, row.micro_usd) << row.name;
    EXPECT_EQ(a.spent("reserved_micro_usd"), 0) << row.name;
    EXPECT_EQ(a.spent("spent_micro_usd"), row.micro_usd) << row.name;
    EXPECT_EQ(
        must(a.world.store.db().query_int("SELECT micro_usd FROM spend WHERE worker = 'query'")),
        row.micro_usd);
  }
}

TEST(Ask, a_wrong_key_is_said_without_the_key_and_costs_nothing) {
  for (const Row& row : kRows) {
    Asking a([&](const ScriptRequest& request) { return speak(row.name, request, {}); }, row);
    a.settings.ask.api_key = "k-wrong-and-secret";
    const auto reply = a.desk().ask(a.question());
    ASSERT_FALSE(reply.ok()) << row.name;
    EXPECT_EQ(describe(reply.error()).find("k-wrong"), std::string::npos);
    EXPECT_EQ(a.spent("spent_micro_usd"), 0) << row.name;
  }
}

TEST(Ask, a_busy_provider_is_asked_once_more_when_it_says_so) {
  for (const Row& row : kRows) {
    const int status = std::string(row.name) == "anthropic" ? 529 : 429;
    std::atomic<int> asked{0};
    Asking a(
        [&](const ScriptRequest& request) -> ScriptAnswer {
          if (++asked > 1) return speak(row.name, request, {});
          if (std::string(row.name) == "google") {
            return {
                429,
                R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.02s"}]}})",
                {},
                false};
          }
          return {status,
                  R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})",
                  {{"retry-after", "0"}},
                  false};
        },
        row);
    EXPECT_TRUE(a.desk().ask(a.question()).ok()) << row.name;
    EXPECT_EQ(asked, 2) << row.name;
  }
}

TEST(Ask, a_limit_that_lasts_is_reported_and_not_waited_for) {
  Asking a([](const ScriptRequest&) -> ScriptAnswer {
    return {429, R"({"error":{"message":"rate limited"}})", {{"retry-after", "120"}}, false};
  });
  const auto reply = a.desk().ask(a.question());
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().reason, "http_429");
  EXPECT_EQ(a.server.requests(), 1);
  EXPECT_EQ(a.spent("spent_micro_usd") + a.spent("reserved_micro_usd"), 0);
}

TEST(Ask, refusals_and_answers_that_are_none_are_told_apart) {
  const struct {
    std::size_t row;
    const char* body;
    const char* reason;
  } cases[] = {
      {0, R"({"content":[],"stop_reason":"refusal","usage":{"input_tokens":9,"output_tokens":1}})",
       "refused"},
      {0, R"({"content":[],"stop_reason":"end_turn"})", "empty"},
      {1,
       R"({"choices":[{"message":{"content":null,"refusal":"I cannot"},"finish_reason":"stop"}]})",
       "refused"},
      {1, R"({"choices":[]})", "bad_answer"},
      {2, R"({"promptFeedback":{"blockReason":"SAFETY"}})", "refused"},
      {2, R"({"candidates":[{"finishReason":"SAFETY"}]})", "refused"},
      {3, R"({"error":{"code":402,"message":"Insufficient credits"}})", "http_402"},
      {4, "<html>proxy</html>", "html"},
      {4, "null", "bad_answer"}};
  for (const auto& row : cases) {
    Asking a([&](const ScriptRequest&) -> ScriptAnswer { return {200, row.body, {}, false}; },
             kRows[row.row]);
    const auto reply = a.desk().ask(a.question());
    ASSERT_FALSE(reply.ok()) << row.body;
    EXPECT_EQ(reply.error().reason, row.reason) << row.body;
  }
}

TEST(Ask, an_answer_cut_at_its_limit_says_so) {
  Asking a([](const ScriptRequest&) -> ScriptAnswer {
    return {
        200,
        R"({"content":[{"type":"text","text":"half"}],"stop_reason":"max_tokens","usage":{"input_tokens":9,"output_tokens":1024}})",
        {},
        false};
  });
  EXPECT_TRUE(a.desk().ask(a.question())->cut);
}

TEST(Ask, what_may_have_been_worked_on_counts_as_spent) {
  Asking a([](const ScriptRequest&) -> ScriptAnswer { return {200, "", {}, true}; });
  ASSERT_FALSE(a.desk().ask(a.question(std::string(3000, 'x'))).ok());
  EXPECT_GT(a.spent("spent_micro_usd"), 500);
  EXPECT_EQ(a.spent("reserved_micro_usd"), 0);
}

// --- Money ------------------------------------------------------------------------------------

TEST(Budget, a_question_over_its_limit_or_the_turns_is_not_asked) {
  Asking a([](const ScriptRequest& request) { return anthropic(request, {}); });
  EXPECT_EQ(a.desk().ask(a.question(std::string(200'000, 'x'))).error().reason, "over_query");
  Question cheap = a.question();
  cheap.usd_max = 0.001;
  EXPECT_EQ(a.desk().ask(cheap).error().reason, "over_query");
  Question generous = a.question(std::string(200'000, 'x'));
  generous.usd_max = 100;  // never more than the operator allows
  EXPECT_EQ(a.desk().ask(generous).error().reason, "over_query");
  EXPECT_EQ(a.server.requests(), 0);
}

TEST(Budget, a_turn_ends_its_questions_and_the_next_turn_begins_anew) {
  const ProviderSays dear{"long", 20'000, 1'000};  // 0.025 USD each
  Asking a([&](const ScriptRequest& request) { return anthropic(request, dear); });
  int asked = 0;
  Result<Reply> last = a.desk().ask(a.question());
  for (; last.ok() && asked < 20; last = a.desk().ask(a.question())) ++asked;
  EXPECT_EQ(last.error().reason, "over_turn");
  EXPECT_EQ(asked, 4);
  EXPECT_LE(a.spent("spent_micro_usd"), 100'000);
  Question other = a.question();
  other.owner = "main\nkey\nbob";
  EXPECT_TRUE(a.desk().ask(other).ok()) << "another's turn is another's budget";
  a.world.clock.advance(1000);
  a.desk().begin_turn("main\nkey\nada");
  EXPECT_TRUE(a.desk().ask(a.question()).ok());
}

TEST(Budget, C164_a_question_is_held_by_the_days_cap_as_all_that_asks_models) {
  const ProviderSays dear{"long", 20'000, 1'000};  // 0.025 USD
  Asking a([&](const ScriptRequest& request) { return anthropic(request, dear); });
  a.settings.daily_usd_max = 0.03;
  ASSERT_TRUE(a.desk().ask(a.question()).ok());
  Question other = a.question();
  other.owner = "main\nkey\nbob";
  const auto held = a.desk().ask(other);
  ASSERT_FALSE(held.ok());
  EXPECT_EQ(held.error().reason, "over_day");
  EXPECT_TRUE(is_over_budget(held.error()));
  EXPECT_EQ(a.server.requests(), 1);
  EXPECT_EQ(must(a.world.store.db().query_int("SELECT micro_usd FROM spend")), 25'000);
  EXPECT_EQ(must(a.world.store.db().query_int("SELECT calls FROM spend")), 1);
  a.world.clock.advance(kDayMs);
  EXPECT_TRUE(a.desk().ask(other).ok());
}

TEST(Budget, what_was_spent_outlives_a_restart_in_the_middle_of_a_turn) {
  const ProviderSays dear{"long", 80'000, 1'000};
  Asking a([&](const ScriptRequest& request) { return anthropic(request, dear); });
  ASSERT_TRUE(a.desk().ask(a.question()).ok());
  EXPECT_EQ(a.spent("spent_micro_usd"), 85'000);
  a.made.reset();
  EXPECT_TRUE(a.desk().ask(a.question()).ok());  // 15,000 are left
  EXPECT_EQ(a.desk().ask(a.question()).error().reason, "over_turn");
}

TEST(Budget, questions_at_once_never_reserve_more_than_there_is) {
  Asking a([](const ScriptRequest& request) { return anthropic(request, {"x", 9'000, 200}); });
  a.settings.turn_usd_max = 0.03;
  std::vector<Question> questions(12, a.question(std::string(12'000, 'x')));
  int answered = 0, over = 0;
  for (const auto& reply : a.desk().ask_all(questions)) {
    if (reply.ok()) {
      ++answered;
    } else if (reply.error().reason == "over_turn") {
      ++over;
    }
  }
  EXPECT_EQ(answered + over, 12);
  EXPECT_EQ(answered, a.server.requests());
  EXPECT_LE(a.spent("spent_micro_usd"), 30'000);
  EXPECT_LE(a.server.at_once_max(), 4);
  EXPECT_EQ(a.spent("reserved_micro_usd"), 0);
}

TEST(QueryDesk, without_turns_money_is_bounded_by_the_clock_and_a_restart_changes_nothing) {
  Asking a([](const ScriptRequest& request) { return speak("anthropic", request, {}); });
  a.settings.turn_usd_max = 0.03;
  const auto ask_until_over = [&] {
    int answered = 0;
    for (; answered < 100; ++answered) {
      a.desk().begin_turn_by_clock("main\nkey\nada", 600'000);
      const auto reply = a.desk().ask(a.question());
      if (reply.ok()) continue;
      EXPECT_EQ(reply.error().reason, "over_turn");
      break;
    }
    return answered;
  };
  const int first = ask_until_over();
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 100);
  EXPECT_EQ(ask_until_over(), 0);
  a.made.reset();  // a restart within the window
  EXPECT_EQ(ask_until_over(), 0);
  a.world.clock.advance(600'000);
  EXPECT_EQ(ask_until_over(), first);
}

// --- rc_query ---------------------------------------------------------------------------------

TEST(Query, answers_from_the_history_with_the_messages_it_rests_on) {
  std::string prompt;
  Asked* self = nullptr;
  Asked a([&](const ScriptRequest& request) {
    prompt = request.body;
    return anthropic(
        request, {"Mollie [m" + std::to_string(self->second.value) + "], not [m99999]", 500, 20});
  });
  self = &a;
  const auto answer =
      a.world.tool("rc_query", kAda, {{"question", "Which payment provider did we choose?"}});
  ASSERT_TRUE(get_bool(answer, "ok")) << to_text(answer);
  const auto& details = answer.at("details").as_object();
  ASSERT_EQ(details.at("sources").as_array().size(), 1U);
  EXPECT_EQ(get_string(details.at("sources").as_array()[0].as_object(), "id"),
            std::to_string(a.second.value));
  EXPECT_EQ(get_string(details, "confidence"), "high");
  EXPECT_NEAR(get_double(details, "costUsd"), 0.0006, 1e-9);
  EXPECT_NE(prompt.find("Mollie replaces Stripe"), std::string::npos);
  EXPECT_LT(prompt.find("We chose Stripe"), prompt.find("Mollie replaces"));
}

TEST(Query, nothing_found_asks_nobody_and_a_strangers_history_stays_out) {
  Asked a([](const ScriptRequest& request) { return anthropic(request, {}); });
  const auto bob = World::caller("agent:main:telegram:direct:202", "202", "s2");
  for (const char* scope : {"current", "all"}) {
    const auto answer = a.world.tool(
        "rc_query", bob, {{"question", "Which payment provider did we choose?"}, {"scope", scope}});
    EXPECT_FALSE(holds(answer, "Mollie"));
  }
  EXPECT_EQ(a.server.requests(), 0);
}

TEST(Query, a_long_message_leaves_room_for_the_others_and_the_budget_shrinks_the_prompt) {
  std::size_t bytes = 0;
  Asked a([&](const ScriptRequest& request) {
    bytes = request.body.size();
    return anthropic(request, {});
  });
  for (int i = 0; i < 30; ++i) {
    a.world.say(
        {.text = "payment provider note " + std::to_string(i) + " " + std::string(20'000, 'x')});
  }
  EXPECT_TRUE(get_bool(
      a.world.tool("rc_query", kAda, {{"question", "payment provider?"}, {"budget", 0.015}}),
      "ok"));
  EXPECT_LT(bytes, 40'000U);
  EXPECT_GT(bytes, 5'000U);
  const auto poor =
      a.world.tool("rc_query", kAda, {{"question", "payment provider?"}, {"budget", 0.0001}});
  EXPECT_FALSE(get_bool(poor, "ok", true));
  EXPECT_TRUE(holds(poor, "rc_grep"));
}

TEST(Query, a_budget_that_is_none_is_refused_and_nobody_is_asked) {
  int asked = 0;
  Asked a([&](const ScriptRequest& request) {
    ++asked;
    return anthropic(request, {});
  });
  a.world.say({.text = "payment provider note"});
  for (const json::value& budget : {json::value(0), json::value(-1.5), json::value("0.01"),
                                    json::value(json::array{0.01}), json::value(true)}) {
    const auto answer =
        a.world.tool("rc_query", kAda, {{"question", "payment provider?"}, {"budget", budget}});
    EXPECT_FALSE(get_bool(answer, "ok", true)) << to_text(budget);
    EXPECT_TRUE(holds(answer, "above 0")) << to_text(budget);
  }
  EXPECT_EQ(asked, 0);
}

TEST(Query, without_a_model_it_names_the_remedy) {
  World w;
  w.say({.text = "hello"});
  EXPECT_TRUE(holds(w.tool("rc_query", kAda, {{"question", "hello?"}}), "No model can be asked"));
}

TEST(Query, a_prompt_begins_the_turn_and_a_script_asks_under_the_same_budget) {
  Asked a([](const ScriptRequest& request) { return anthropic(request, {"yes", 30'000, 100}); });
  const auto ask = [&](const std::string& code) {
    return to_text(a.world.tool("rc_repl", kAda, {{"code", code}}));
  };
  EXPECT_NE(ask("FINAL(llm_query_parallel(['a', 'b']).join())").find("yes,yes"), std::string::npos);
  EXPECT_NE(ask("FINAL(llm_query('c'))").find("yes"), std::string::npos);
  EXPECT_NE(ask("for (;;) llm_query('d')").find("of this turn's budget"), std::string::npos);
  a.world.clock.advance(1000);
  a.world.inject(kAda, "next prompt");
  EXPECT_NE(ask("FINAL(llm_query('e'))").find("yes"), std::string::npos);
}

TEST(Query, of_what_a_script_asks_beside_each_other_what_was_answered_is_kept) {
  Asked a([](const ScriptRequest& request) -> ScriptAnswer {
    if (request.body.find("broken") == std::string::npos) return anthropic(request, {"yes"});
    return {400, R"({"type":"error","error":{"message":"cannot"}})", {}, false};
  });
  const auto ask = [&](const std::string& code) {
    return to_text(a.world.tool("rc_repl", kAda, {{"code", code}}));
  };
  const std::string mixed = ask("FINAL(llm_query_parallel(['a', 'broken', 'b']).join('|'))");
  EXPECT_NE(mixed.find("yes|[no answer: "), std::string::npos) << mixed;
  EXPECT_NE(mixed.find("]|yes"), std::string::npos) << mixed;
  const std::string none = ask("FINAL(llm_query_parallel(['broken', 'broken']))");
  EXPECT_EQ(none.find("[no answer"), std::string::npos) << none;
  EXPECT_NE(none.find("Error"), std::string::npos) << none;
}

TEST(Tokens, estimates_do_not_fall_far_below_what_tokenizers_count) {
  EXPECT_GE(estimate_tokens("The quick brown fox jumps over the lazy dog."), 10);
  EXPECT_GE(estimate_tokens("日本語の検索テスト"), 9);
  EXPECT_GE(estimate_tokens("Привет, как дела сегодня?"), 8);
  EXPECT_EQ(prefix_tokens(std::string(1000, 'x'), 33).size(), 100U);
}

}  // namespace
}  // namespace clawmark
