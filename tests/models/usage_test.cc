// What servers say that a call took, and what of it is believed.

#include "models/usage.h"

#include <gtest/gtest.h>

#include "models/ask.h"

namespace clawmark {
namespace {

TEST(Usage, C164_a_count_that_cannot_be_true_is_as_if_nothing_were_said) {
  const auto read = [](const std::string& usage) {
    const std::string content = "{\\\"facts\\\":[]}" + std::string(2000, ' ');
    const std::string body = R"({"choices":[{"message":{"content":")" + content +
                             R"("},"finish_reason":"stop"}],"usage":)" + usage + "}";
    const std::vector<WindowMessage> window(1);
    const auto answer = make_endpoint_extractor({"http://model.test", "m", "", 0, 1000, "", true})
                            ->interpret(HttpResponse{200, {}, body}, window);
    EXPECT_TRUE(answer.ok()) << usage;
    return answer.ok() ? answer->usage : Usage{-1, -1};
  };
  EXPECT_EQ(read(R"({"prompt_tokens":900,"completion_tokens":400})").input_tokens, 900);
  EXPECT_EQ(read(R"({"prompt_tokens":900,"completion_tokens":400})").output_tokens, 400);
  for (const std::string bad : {"-5000", "1", "1e15", "9223372036854775807", "\"many\"", "null"}) {
    const Usage usage = read(R"({"prompt_tokens":)" + (bad == "1" ? "0" : bad) +
                             R"(,"completion_tokens":)" + bad + "}");
    EXPECT_EQ(usage.input_tokens, 0) << bad;
    EXPECT_EQ(usage.output_tokens, 0) << bad;
  }
}

TEST(Usage, C164_the_bytes_of_question_and_answer_bound_what_is_believed) {
  const json::object body{
      {"usage", json::object{{"prompt_tokens", 3}, {"completion_tokens", 9000}}}};
  EXPECT_EQ(usage_of(body, 4000, 10).input_tokens, 0) << "far fewer than such a question has";
  EXPECT_EQ(usage_of(body, 100, 10).input_tokens, 3);
  EXPECT_EQ(usage_of(body, 100, 10).output_tokens, 9000) << "it thought, unseen";
  EXPECT_EQ(plausible_tokens(1'000'000, 4000, kUnseenQuestionMax), 0);
}

TEST(Usage, C164_no_provider_is_believed_a_negative_or_endless_count) {
  struct Case {
    Provider provider;
    std::string before, input, output, after;
  };
  const std::vector<Case> cases = {
      {Provider::kAnthropic,
       R"({"content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{)",
       "\"input_tokens\":", ",\"output_tokens\":", "}}"},
      {Provider::kAnthropic,
       R"({"content":[{"type":"text","text":"yes"}],"usage":{"input_tokens":9,)",
       "\"cache_read_input_tokens\":", ",\"output_tokens\":", "}}"},
      {Provider::kOpenai, R"({"choices":[{"message":{"content":"yes"}}],"usage":{)",
       "\"prompt_tokens\":", ",\"completion_tokens\":", "}}"},
      {Provider::kGoogle,
       R"({"candidates":[{"content":{"parts":[{"text":"yes"}]}}],"usageMetadata":{)",
       "\"promptTokenCount\":", ",\"candidatesTokenCount\":5,\"thoughtsTokenCount\":", "}}"}};
  for (const Case& one : cases) {
    AskOptions options;
    options.provider = one.provider;
    for (const std::string count : {"-5000", "9223372036854775807"}) {
      const std::string body = one.before + one.input + count + one.output + count + one.after;
      const auto answer = interpret_ask(options, HttpResponse{200, {}, body});
      ASSERT_TRUE(answer.ok()) << body;
      EXPECT_EQ(answer->usage.input_tokens, 0) << body;
      EXPECT_EQ(answer->usage.output_tokens, 0) << body;
    }
  }
  AskOptions router;
  router.provider = Provider::kOpenrouter;
  for (const std::string cost : {"-1", "1e12"}) {
    const auto answer =
        interpret_ask(router, HttpResponse{200,
                                           {},
                                           R"({"choices":[{"message":{"content":"yes"}}],"usage":)"
                                           R"({"cost":)" +
                                               cost + "}}"});
    ASSERT_TRUE(answer.ok());
    EXPECT_FALSE(answer->cost_usd) << cost;
  }
}

}  // namespace
}  // namespace clawmark
