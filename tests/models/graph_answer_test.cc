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

TEST(GraphAnswer, prose_may_stand_behind_its_json_or_around_a_snippet_of_some) {
  for (const std::string& text :
       {std::string(kJson) + "\n\n" + kProse, "```json\n" + std::string(kJson) + "\n```\n" + kProse,
        std::string(kProse) + "\n<json>" + kJson + "</json>",
        std::string(kProse) + "\n<output_json>\n" + kJson + "\n</output_json>\nBye!"}) {
    const ParsedGraph parsed = parse_graph_answer(text);
    EXPECT_EQ(parsed.answer.prose, kProse) << text;
    EXPECT_EQ(parsed.answer.nodes.size(), 2u);
  }
  const ParsedGraph around = parse_graph_answer(
      R"(They set {"nodes":[{"type":"task","name":"LEAK"}]} in the file and went on.)"
      "\nJSON\n" +
      std::string(kJson));
  EXPECT_EQ(around.answer.prose, "They set in the file and went on.");
  EXPECT_EQ(around.answer.nodes.size(), 2u);
  EXPECT_EQ(around.answer.edges.size(), 1u);
  EXPECT_EQ(parse_graph_answer(std::string(kJson) + "\nHope this helps!").answer.prose, "");
  const ParsedGraph yaml = parse_graph_answer("All is well.\nnodes:\n  - type: task\nedges: []\n");
  EXPECT_EQ(yaml.answer.prose, "All is well.");
  EXPECT_FALSE(yaml.found_json);
}

TEST(GraphAnswer, C090_what_is_dropped_is_told_by_its_reason) {
  const ParsedGraph parsed = parse_graph_answer(
      R"({"nodes":[{"type":"ship","name":"x"},{"type":"task"},3],"edges":[{"type":"LOVES","from":"t",
      "to":"t"},{"type":"AFFECTS","from_type":"ship","from":"a","to_type":"task","to":"b"}],
      "episodes":[{"type":"party","title":"x"}],"merge":[{"id":0,"duplicate_of":9}]})");
  const auto& why = parsed.answer.dropped_for;
  EXPECT_EQ(why.at("unknown_node_type"), 2u);
  EXPECT_EQ(why.at("malformed"), 2u);
  EXPECT_EQ(why.at("unknown_edge_type"), 1u);
  EXPECT_EQ(why.at("unknown_episode_type"), 1u);
  EXPECT_EQ(why.at("bad_merge"), 1u);
  EXPECT_EQ(parsed.answer.dropped, 7u);
}

WindowMessage from(std::int64_t id, const std::string& role, const std::string& text) {
  WindowMessage message;
  message.message = id;
  message.role = role;
  message.speaker = role == "user" ? "Mira Okafor" : "";
  message.sender = "telegram:101";
  message.text = text;
  return message;
}

TEST(GraphChecks, what_nobody_said_is_neither_described_nor_named_nor_told_as_the_state) {
  const std::vector<WindowMessage> window = {
      from(1, "user", "We must order the paper for the Berlin fair, 40 boxes."),
      from(2, "assistant", "I would ask PaperCo-7.")};
  const auto node = [&](const std::string& name, const std::string& description) {
    GraphNode out;
    out.type = "task";
    out.name = name;
    out.description = description;
    out.reason = "Jonas wants it";
    out.evidence = {{1, "We must order the paper"}};
    return out;
  };
  GraphAnswer answer;
  answer.nodes = {node("order the paper", "Jonas promised to pay 500 euros to ACME-9 for it"),
                  node("order the paper", "They have to buy it"),
                  node("order the paper", "we must  order the paper"),
                  node("order the paper from ACME-9", ""),
                  node("order 900 boxes of paper", ""),
                  node("order paper for Jonas", "")};
  GraphEdge edge;
  edge.type = "DEPENDS_ON";
  edge.from_type = edge.to_type = "component";
  edge.from = "paper";
  edge.to = "ACME-9";
  edge.evidence = {{1, "We must order the paper"}};
  answer.edges = {edge};
  edge.to = "Mira Okafor";
  edge.to_type = "person";
  answer.edges.push_back(edge);
  GraphEpisode episode;
  episode.type = "blocker";
  episode.title = "Paper order by Jonas Miller";
  episode.evidence = {{1, "We must order the paper"}};
  answer.episodes = {episode};
  for (int pass = 0; pass < 2; ++pass) {
    verify_graph(answer, window);
    EXPECT_EQ(answer.nodes[0].description, "We must order the paper");
    EXPECT_EQ(answer.nodes[0].reason, "");
    EXPECT_EQ(answer.nodes[1].description, "We must order the paper");
    EXPECT_EQ(answer.nodes[2].description, "we must  order the paper");
    for (const int n : {0, 1, 2}) EXPECT_TRUE(answer.nodes[static_cast<std::size_t>(n)].verified);
    for (const int n : {3, 4, 5}) EXPECT_FALSE(answer.nodes[static_cast<std::size_t>(n)].verified);
    EXPECT_FALSE(answer.edges[0].verified);
    EXPECT_TRUE(answer.edges[1].verified) << answer.edges[1].why;
    EXPECT_FALSE(answer.episodes[0].verified);
    EXPECT_EQ(answer.dropped_for.at("made_up"), 7u);
    EXPECT_EQ(answer.dropped_for.at("not_said_so"), 1u);
  }
}

TEST(GraphChecks, a_state_paragraph_is_checked_as_prose_is_and_for_names_and_numbers) {
  const std::vector<WindowMessage> window = {
      from(1, "user", "We must order the paper for the Berlin fair, 40 boxes, by tomorrow."),
      from(2, "assistant", "I would ask PaperCo-7.")};
  const auto kept = [&](const std::string& state) {
    GraphAnswer answer;
    answer.state = state;
    verify_graph(answer, window);
    EXPECT_EQ(answer.dropped_for.contains("made_up"), answer.state.empty());
    return answer.state == state;
  };
  for (const char* fine : {"Paper for the fair in Berlin is to be ordered by 7 March 2026.",
                           "Mira Okafor must order 40 boxes; PaperCo-7 was proposed.",
                           "Ordering the paper comes next. The boxes are needed at 14:00."}) {
    EXPECT_TRUE(kept(fine)) << fine;
  }
  for (const char* invented :
       {"The team now works on ticket XYZ-99871 at host db-77.internal.",
        "Paper is to be ordered; password hunter2hunter2.", "Jonas will order the paper.",
        "The paper is ordered by Anna.", "The paper costs 500 euros.", "I'm sorry, I cannot tell.",
        "{\"nodes\":[]} is left."}) {
    EXPECT_FALSE(kept(invented)) << invented;
  }
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
