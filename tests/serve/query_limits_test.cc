// What a question may cost and bring at most: broken answers, models without a known price, answers
// without end, and what a script sends along.

#include <gtest/gtest.h>

#include "asking.h"
#include "base/guard.h"
#include "base/limits_history.h"
#include "base/utf8.h"
#include "workers/prices.h"

namespace clawmark {
namespace {

TEST(Ask, what_broke_off_in_the_middle_is_paid_once_and_not_asked_again) {
  for (const bool head_came : {false, true}) {
    Asking a([&](const ScriptRequest& request) {
      ScriptAnswer answer = anthropic(request, {});
      answer.hang_up = !head_came;
      answer.missing = 100;
      return answer;
    });
    const auto reply = a.desk().ask(a.question(std::string(3000, 'x')));
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().reason, "closed") << head_came;
    EXPECT_EQ(a.server.requests(), 1) << head_came;
    EXPECT_GT(a.spent("spent_micro_usd"), 500) << head_came;
    EXPECT_EQ(a.spent("reserved_micro_usd"), 0) << head_came;
  }
}

TEST(Budget, a_model_without_a_known_price_is_asked_with_fewer_excerpts) {
  Asked a([](const ScriptRequest& request) { return anthropic(request, {}); });
  a.settings.ask.model = "house-model-9b";
  a.make_desk();
  for (int i = 0; i < 30; ++i) {
    a.world.say({.text = "payment provider note " + std::to_string(i) + std::string(9'000, 'x')});
  }
  const json::object params{{"question", "Which payment provider did we choose?"}};
  const auto answer = a.world.tool("rc_query", kAda, params);
  EXPECT_TRUE(get_bool(answer, "ok")) << to_text(answer);
  EXPECT_EQ(a.server.requests(), 1);
}

TEST(Budget, a_refusal_says_when_the_price_of_the_model_is_not_known) {
  Asking a([](const ScriptRequest& request) { return anthropic(request, {}); });
  Question question = a.question(std::string(200'000, 'x'));
  const auto known = a.desk().ask(question);
  EXPECT_EQ(known.error().message.find("prices.json"), std::string::npos);
  question.model = "house-model-9b";
  const auto unknown = a.desk().ask(question);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().reason, "over_query");
  EXPECT_NE(unknown.error().message.find("price of house-model-9b is not known"),
            std::string::npos);
  EXPECT_NE(unknown.error().message.find("prices.json"), std::string::npos);
}

TEST(Query, what_a_script_sends_along_arrives_whatever_it_is) {
  std::string prompt;
  Asked a([&](const ScriptRequest& request) {
    const auto body = body_of(request);
    prompt = get_string(find_array(body, "messages")->front().as_object(), "content");
    return anthropic(request, {"yes", 200, 5});
  });
  const auto sent = [&](const std::string& code) {
    prompt.clear();
    const auto answer = a.world.tool("rc_repl", kAda, {{"code", code}});
    EXPECT_TRUE(get_bool(answer, "ok")) << to_text(answer);
    const std::string ours = own_call("");
    EXPECT_TRUE(prompt.starts_with(ours)) << prompt;
    return prompt.substr(std::min(ours.size(), prompt.size()));
  };
  EXPECT_EQ(sent("llm_query('Sum?', [1, {a: 'b'}])"), "Sum?\n\n[1,{\"a\":\"b\"}]");
  EXPECT_EQ(sent("llm_query_parallel(['Sum?'], {n: [2]})"), "Sum?\n\n{\"n\":[2]}");
  EXPECT_EQ(sent("llm_query('Odd?', 7)"), "Odd?\n\n7");
  EXPECT_EQ(sent("llm_query('Odd?', 7n)"), "Odd?\n\n7");
  EXPECT_EQ(sent("llm_query({ask: 'Odd?'}, 'seven')"), "{\"ask\":\"Odd?\"}\n\nseven");
  EXPECT_EQ(sent("llm_query('Who?', null)"), "Who?");
  EXPECT_EQ(sent("llm_query('Who?')"), "Who?");
  EXPECT_NE(sent("llm_query('Which?', peek(0, 1))").find("\"speaker\""), std::string::npos);
}

TEST(Query, an_answer_of_a_server_that_heeds_no_limit_is_cut_and_says_so) {
  Asked a([](const ScriptRequest& request) {
    return anthropic(request, {std::string(3'000'000, 'y'), 500, 20});
  });
  const auto answer = a.world.tool("rc_query", kAda, {{"question", "Which payment provider?"}});
  ASSERT_TRUE(get_bool(answer, "ok"));
  EXPECT_LE(chars(answer.at("text")), kHistoryAnswerMax);
  EXPECT_LE(chars(answer.at("details").as_object().at("answer")), kHistoryAnswerMax);
  EXPECT_TRUE(holds(answer, "(cut at the answer's limit)"));
  a.world.clock.advance(1000);
  a.world.inject(kAda, "next prompt");  // so much text was dear
  const auto script = a.world.tool("rc_repl", kAda,
                                   {{"code",
                                     "const t = llm_query('x'); print(t.length, "
                                     "t.endsWith(\"(cut at the answer's limit)\"))"}});
  EXPECT_TRUE(holds(script, " true")) << to_text(script);
}

}  // namespace
}  // namespace clawmark
