// What models write when asked for prose and JSON, and what of it may reach a context.

#include <gmock/gmock.h>

#include "base/json.h"
#include "models/graph/answer.h"

namespace clawmark {
namespace {

constexpr char kProse[] = "They chose Mollie over Stripe.\n\nThe seats F1 {and F2} stay closed.";
constexpr char kJson[] =
    R"({"state":"Mollie is next.","nodes":[{"type":"decision","name":"payment: Mollie","slot":"payment",
"evidence":[{"message":1,"quote":"We take Mollie"}]},{"type":"component","name":"Mollie",
"evidence":[{"message":1,"quote":"We take Mollie"}]}],"edges":[{"type":"affects","from":"payment: Mollie",
"to":"Mollie"}],"episodes":[{"type":"decision","title":"Mollie","salience":0.9}],
"merge":[{"id":0,"duplicate_of":1}]})";

TEST(GraphAnswer, prose_and_deltas_come_apart_however_the_json_is_fenced) {
  for (const std::string& text :
       {std::string(kProse) + "\nJSON\n" + kJson,
        std::string(kProse) + "\n```json\n" + kJson + "\n```",
        std::string(kProse) + "\n~~~\n" + kJson,
        std::string(kProse) + "\n\n" + kJson + "\nHope this helps!",
        "<think>{\"nodes\":[]}</think>" + std::string(kProse) + "\n" + kJson}) {
    const ParsedGraph parsed = parse_graph_answer(text);
    EXPECT_TRUE(parsed.found_json);
    EXPECT_EQ(parsed.answer.prose, kProse);
    EXPECT_EQ(parsed.answer.state, "Mollie is next.");
    EXPECT_EQ(parsed.answer.nodes.size(), 2u);
    ASSERT_EQ(parsed.answer.edges.size(), 1u);
    EXPECT_EQ(parsed.answer.edges[0].type, "AFFECTS");
    EXPECT_EQ(parsed.answer.edges[0].from_type, "decision");
    EXPECT_EQ(parsed.answer.episodes.size(), 1u);
  }
}

TEST(GraphAnswer, json_never_reaches_the_prose_wherever_the_answer_is_cut) {
  const std::string whole = std::string(kProse) + "\n```json\n" + kJson + "\n```\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const ParsedGraph parsed = parse_graph_answer(std::string_view(whole).substr(0, length));
    for (const char* mark : {"\"nodes\"", "\"state\"", "evidence", "```", "{\"", "[{"}) {
      EXPECT_EQ(parsed.answer.prose.find(mark), std::string::npos)
          << "cut at " << length << ": " << parsed.answer.prose;
      EXPECT_EQ(parsed.answer.state.find(mark), std::string::npos);
    }
    EXPECT_TRUE(std::string_view(kProse).starts_with(parsed.answer.prose));
  }
}

TEST(GraphAnswer, json_before_or_inside_prose_and_without_quotes_does_not_leak_either) {
  for (const char* text :
       {"{\"nodes\":[],\"prose\":\"Fine. {\\\"nodes\\\":[]}\"}", "{nodes: [], edges: []} tail",
        "Text \"nodes\": [ {\"type\": \"task\"", "[{\"type\":\"task\"}]", "Fine.\n{"}) {
    const std::string prose = parse_graph_answer(text).answer.prose;
    EXPECT_EQ(prose.find('{'), std::string::npos) << prose;
    EXPECT_EQ(prose.find("nodes"), std::string::npos) << prose;
  }
}

TEST(GraphAnswer, malformed_or_missing_json_keeps_the_prose) {
  for (const char* text :
       {"All is well.", "All is well.\n{\"nodes\": oops", "All is well.\n```json\n"}) {
    EXPECT_EQ(parse_graph_answer(text).answer.prose, "All is well.") << text;
  }
}

TEST(GraphAnswer, C090_bad_merges_are_ignored_and_counted_and_the_others_applied) {
  const ParsedGraph bad = parse_graph_answer(
      R"({"nodes":[{"type":"component","name":"auth"},{"type":"component","name":"auth service"}],
      "merge":[{"id":0,"duplicate_of":99},{"id":0,"duplicate_of":-5},{"id":7,"duplicate_of":0},
      {"id":"x"},7,{"id":1,"duplicate_of":1},{"id":1,"duplicate_of":0}]})");
  ASSERT_EQ(bad.answer.merges.size(), 1u);
  EXPECT_EQ(bad.answer.merges[0].from, "auth service");
  EXPECT_EQ(bad.answer.merges[0].into, "auth");
  EXPECT_EQ(bad.answer.dropped, 6u);
}

TEST(GraphAnswer, unknown_types_are_dropped_and_counted_and_numbers_clamped) {
  const ParsedGraph parsed = parse_graph_answer(
      R"({"nodes":[{"type":"ship","name":"x"},{"type":"task"},{"type":"task","name":"t","confidence":7}],
      "edges":[{"type":"LOVES","from":"t","to":"t"}],
      "episodes":[{"type":"party","title":"x"},{"type":"error","title":"y","salience":-3}]})");
  EXPECT_EQ(parsed.answer.nodes.size(), 1u);
  EXPECT_LE(parsed.answer.nodes[0].confidence, 1.0);
  ASSERT_EQ(parsed.answer.episodes.size(), 1u);
  EXPECT_GE(parsed.answer.episodes[0].salience, 0.0);
  EXPECT_EQ(parsed.answer.dropped, 4u);
}

TEST(GraphEndpoint, asks_once_for_both_and_believes_only_what_people_said) {
  EndpointOptions options;
  options.url = "http://127.0.0.1:1";
  options.model = "m";
  const auto extractor = make_endpoint_graph_extractor(options);
  WindowMessage message;
  message.message = 1;
  message.role = "user";
  message.speaker = "Ada";
  message.text = "We take Mollie, not Stripe.";
  const std::string body = extractor->plan({&message, 1}, "UTC").body;
  EXPECT_NE(body.find("We take Mollie"), std::string::npos);
  const std::string content =
      std::string("Ada chose Mollie.\n") +
      R"({"nodes":[{"type":"component","name":"Mollie","evidence":[{"message":1,"quote":"We take Mollie"}]},
      {"type":"component","name":"PayPal","evidence":[{"message":1,"quote":"PayPal it is"}]}]})";
  HttpResponse response;
  response.status = 200;
  response.body = to_text(json::object{
      {"choices", json::array{json::object{{"message", json::object{{"content", content}}}}}}});
  const auto answer = extractor->interpret(response, {&message, 1});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->prose, "Ada chose Mollie.");
  ASSERT_EQ(answer->nodes.size(), 2u);
  EXPECT_TRUE(answer->nodes[0].verified);
  EXPECT_FALSE(answer->nodes[1].verified);
}

}  // namespace
}  // namespace clawmark
