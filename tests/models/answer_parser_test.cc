#include "models/answer_parser.h"

#include <gtest/gtest.h>

namespace clawmark {
namespace {

const std::string kOne = R"({"facts":[{"key":"editor","value":"helix"}]})";

class Wrapped : public testing::TestWithParam<std::string> {};

TEST_P(Wrapped, C063_one_fact_however_it_is_wrapped) {
  const ParsedAnswer answer = parse_answer(GetParam());
  EXPECT_TRUE(answer.found);
  EXPECT_FALSE(answer.cut);
  ASSERT_EQ(answer.facts.size(), 1u) << GetParam();
  EXPECT_EQ(answer.facts[0].key, "editor");
  EXPECT_EQ(answer.facts[0].value, "helix");
}

INSTANTIATE_TEST_SUITE_P(
    Answers, Wrapped,
    testing::Values(kOne, "Sure!\n```json\n" + kOne + "\n```\nI found one fact.",
                    "```JSON\r\n" + kOne + "\r\n```\r\n", "~~~\n" + kOne + "\n~~~",
                    "```json\n" + kOne, "Facts [1] and {so on}:\n" + kOne + " Hope it helps {x}!",
                    "<think>maybe {\"facts\":[{\"key\":\"a\",\"value\":\"b\"}]}</think>\n" + kOne,
                    "thinking without its opening tag {\"facts\":[]}</think>" + kOne,
                    "\xEF\xBB\xBF" + kOne, R"([{"key":"editor","value":"helix"}])",
                    R"({"key":"editor","value":"helix"})",
                    R"({"facts":[{"key":"editor","value":"helix",},],})",
                    R"({'facts':[{'key':'editor','value':'helix'}]})",
                    R"({facts:[{key:"editor",value:"helix"}]} // done)",
                    R"({"thoughts":"a [b] {c}","facts":[{"key":"editor","value":"helix"}]})"));

TEST(AnswerParser, C065_fences_inside_values_stay_byte_for_byte) {
  const ParsedAnswer answer = parse_answer(
      "```json\n{\"facts\":[{\"key\":\"docs.style\",\"value\":\"Quote logs in ```text blocks``` "
      "please\"}]}\n```");
  ASSERT_EQ(answer.facts.size(), 1u);
  EXPECT_EQ(answer.facts[0].value, "Quote logs in ```text blocks``` please");
}

TEST(AnswerParser, C065_empty_list_is_an_answer) {
  for (const char* text :
       {"Here is the JSON:\n```json\n[]\n```", "{\"facts\":[]}", "{\"facts\": [ ] }", "[]"}) {
    const ParsedAnswer answer = parse_answer(text);
    EXPECT_TRUE(answer.found) << text;
    EXPECT_FALSE(answer.cut) << text;
    EXPECT_TRUE(answer.facts.empty());
  }
}

TEST(AnswerParser, null_prose_and_silence_are_no_answer) {
  for (const char* text :
       {"", "null", "No facts.", "{}", "I'd say [so] {and so}", "{\"facts\":null}",
        "<think>hm {\"facts\":[", "```json\n```", "{\"error\":\"x\"}", "[1,2,3]"}) {
    EXPECT_FALSE(parse_answer(text).found) << text;
  }
}

TEST(AnswerParser, C066_trailing_commas_are_taken_and_cut_items_never) {
  const ParsedAnswer comma = parse_answer(R"({"facts":[{"key":"city","value":"Lisbon",},]})");
  ASSERT_EQ(comma.facts.size(), 1u);
  EXPECT_EQ(comma.facts[0].value, "Lisbon");
  const std::string whole =
      R"({"facts":[{"key":"a","value":"b","confidence":0.95,"evidence":[{"message":3,"quote":"q"}]},{"key":"rent","value":"1,200"}]})";
  const std::size_t second = whole.find("{\"key\":\"rent");
  for (std::size_t length = whole.find("}]}") + 3; length < whole.size() - 1; ++length) {
    const ParsedAnswer cut = parse_answer(std::string_view(whole).substr(0, length));
    ASSERT_TRUE(cut.found) << length;
    EXPECT_TRUE(cut.cut) << length;
    const bool has_second = length >= whole.size() - 2;
    ASSERT_EQ(cut.facts.size(), has_second ? 2u : 1u) << length << " " << second;
    EXPECT_EQ(cut.facts[0].value, "b");
  }
}

TEST(AnswerParser, reads_evidence_confidence_and_due_in_the_shapes_that_models_use) {
  const ParsedAnswer answer = parse_answer(R"({"facts":[
    {"key":"a","value":"v","confidence":"0.9","evidence":{"message":"#12","quote":"q\u00e9"},"due":"2026-03-06T09:00+09:00"},
    {"key":"b","value":true,"confidence":95,"evidence":"just a quote"},
    {"key":"c","value":["x","y"],"quote":"z","message":4},
    {"key":"","value":"no key"}, {"value":"none"}, 7, {"key":"d","value":{"o":1}}]})");
  ASSERT_EQ(answer.facts.size(), 3u);
  EXPECT_EQ(answer.dropped, 4u);
  EXPECT_EQ(answer.facts[0].confidence, 0.9);
  EXPECT_EQ(answer.facts[0].evidence[0].message, 12);
  EXPECT_EQ(answer.facts[0].evidence[0].quote, "q\xC3\xA9");
  EXPECT_EQ(answer.facts[0].due, "2026-03-06T09:00+09:00");
  EXPECT_EQ(answer.facts[1].value, "true");
  EXPECT_EQ(answer.facts[1].confidence, 1.0);
  EXPECT_EQ(answer.facts[1].evidence[0].quote, "just a quote");
  EXPECT_EQ(answer.facts[2].value, "x, y");
  EXPECT_EQ(answer.facts[2].evidence[0].message, 4);
}

TEST(AnswerParser, a_broken_item_costs_only_itself) {
  const ParsedAnswer answer = parse_answer(
      R"({"facts":[{"key":"a","value":"1"},{"key":"b" "value":"2"},{"key":"c","value":"3"}]})");
  ASSERT_EQ(answer.facts.size(), 2u);
  EXPECT_EQ(answer.facts[1].key, "c");
  EXPECT_EQ(answer.dropped, 1u);
}

TEST(AnswerParser, any_bytes_are_safe) {
  std::uint64_t seed = 42;
  const std::string_view alphabet = "{}[]\",:'\\u0 tfn/*<>think`~9.-e\n\xFF\xC3\xA9";
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? "{\"facts\":[" : "";
    for (int i = 0; i < 60; ++i) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      text.push_back(alphabet[(seed >> 33) % alphabet.size()]);
    }
    const ParsedAnswer answer = parse_answer(text);
    EXPECT_LE(answer.facts.size(), 60u);
  }
  parse_answer(std::string(100'000, '['));
  parse_answer("{\"facts\":" + std::string(100'000, '{'));
}

}  // namespace
}  // namespace clawmark
