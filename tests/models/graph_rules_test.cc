// The built-in graph rules: what a message says outright, as "type name [status|slot] …".

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/models/graph_said.h"

namespace clawmark {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::graph_of;
using ::testing::IsEmpty;
using testing::kSaid;

std::vector<std::string> nodes(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& node : graph_of(text).nodes) {
    if (node.type == "person" && node.name == "Ada Byron") continue;
    // Of what a known task might be called, the first.
    if (node.only_status && !out.empty()) continue;
    std::string line = node.type + " " + node.name;
    if (!node.status.empty()) line += " [" + node.status + (node.only_status ? "?" : "") + "]";
    if (node.stated) line += " stated";
    out.push_back(line);
  }
  return out;
}

std::vector<std::string> edges(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& edge : graph_of(text).edges) {
    out.push_back(edge.from + " " + edge.type + " " + edge.to + (edge.closes ? " ended" : ""));
  }
  return out;
}

TEST(GraphRules, decisions_say_what_for_whom_instead_of_what_and_why) {
  const auto answer = graph_of(
      "We decided to use Mollie instead of Stripe as the payment provider, because the fees are "
      "lower.");
  ASSERT_FALSE(answer.nodes.empty());
  const GraphNode& decision = answer.nodes[0];
  EXPECT_EQ(decision.type, "decision");
  EXPECT_EQ(decision.name, "payment provider: Mollie");
  EXPECT_EQ(decision.choice, "Mollie");
  EXPECT_EQ(decision.replaces, "Stripe");
  EXPECT_EQ(decision.slot, "payment provider");
  EXPECT_EQ(decision.reason, "the fees are lower");
  EXPECT_THAT(edges("We decided to use Postgres."),
              Contains("database: Postgres DECIDED_BY Ada Byron"));
  EXPECT_EQ(answer.episodes.at(0).type, "plan_change");
  EXPECT_THAT(nodes("We decided that the first 20 buyers get a free drink."),
              ElementsAre("decision the first 20 buyers get a free drink"));
}

TEST(GraphRules, questions_conditions_and_hedges_are_no_decisions) {
  for (const char* text : {"Should we use Postgres?", "If we use Postgres, it will be slow.",
                           "Maybe we should use Postgres.", "What did we decide to use?",
                           "> We decided to use Postgres.", "```\nWe decided to use Postgres.\n```",
                           "I would have decided to use Postgres."}) {
    EXPECT_THAT(nodes(text), IsEmpty()) << text;
  }
  EXPECT_THAT(graph_of("We decided to use Postgres.", "Bot", "assistant").nodes, IsEmpty());
}

TEST(GraphRules, what_is_used_is_one_at_a_time_by_kind) {
  EXPECT_THAT(edges("We use MySQL."), ElementsAre("project DEPENDS_ON MySQL"));
  EXPECT_THAT(edges("We moved to Postgres."), Contains("project DEPENDS_ON Postgres"));
  for (const char* text : {"We use MySQL.", "We moved to Postgres."}) {
    const auto answer = graph_of(text);
    const auto edge = std::find_if(answer.edges.begin(), answer.edges.end(),
                                   [](const GraphEdge& e) { return e.type == "DEPENDS_ON"; });
    ASSERT_NE(edge, answer.edges.end()) << text;
    EXPECT_EQ(edge->slot, "database");
  }
  EXPECT_THAT(nodes("We use a lot of paper."), IsEmpty());
}

TEST(GraphRules, tasks_and_how_they_stand) {
  EXPECT_THAT(nodes("Next: the newsletter."), ElementsAre("task newsletter [pending]"));
  EXPECT_THAT(nodes("I need to write the release notes."),
              ElementsAre("task release notes [pending]"));
  EXPECT_THAT(nodes("I'm working on the seat map."), ElementsAre("task seat map [active]"));
  EXPECT_THAT(nodes("I finished the seat map."), ElementsAre("task seat map [done]"));
  EXPECT_THAT(nodes("The newsletter is done."), ElementsAre("task newsletter [done?]"));
  EXPECT_THAT(nodes("E-SEAT-409 is solved."), ElementsAre("task E-SEAT-409 [done?]"));
  EXPECT_THAT(nodes("Migration 0007 tomorrow at 8."), ElementsAre("task Migration 0007 [pending]"));
  EXPECT_THAT(nodes("I will put it on the laptop myself."), IsEmpty());
  EXPECT_THAT(nodes("The newsletter is not done."), IsEmpty());
  EXPECT_THAT(nodes("Is the newsletter done?"), IsEmpty());
}

TEST(GraphRules, blockers_by_name_and_by_what_was_said_just_before) {
  EXPECT_THAT(nodes("The newsletter is blocked by the missing logo."),
              ElementsAre("task newsletter [blocked]", "concept missing logo"));
  EXPECT_THAT(edges("The newsletter is blocked by the missing logo."),
              ElementsAre("newsletter BLOCKED_BY missing logo"));
  const auto answer = graph_of(
      "The test sale fails. Two people can buy the same seat, and the log says E-SEAT-409. We are "
      "blocked by this until it is solved.");
  const auto task = std::find_if(answer.nodes.begin(), answer.nodes.end(),
                                 [](const GraphNode& node) { return node.type == "task"; });
  ASSERT_NE(task, answer.nodes.end());
  EXPECT_EQ(task->name, "E-SEAT-409");
  EXPECT_EQ(task->status, "blocked");
  EXPECT_EQ(task->description,
            "The test sale fails. Two people can buy the same seat, and the log says E-SEAT-409.");
}

TEST(GraphRules, files_people_projects_and_what_must_be_kept_to) {
  EXPECT_THAT(nodes("Can you read src/seats.csv and cart.py?"),
              ElementsAre("file src/seats.csv", "file cart.py"));
  EXPECT_THAT(nodes("See https://example.org/a.html for more."), IsEmpty());
  EXPECT_THAT(nodes("The code name of the shop is Ticketbox."), ElementsAre("project Ticketbox"));
  EXPECT_THAT(nodes("The carpenter is called Gregor Hahn."), ElementsAre("person Gregor Hahn"));
  EXPECT_THAT(nodes("F1 and F2 are broken and must never be sold."),
              ElementsAre("constraint F1 and F2 are broken and must never be sold"));
  EXPECT_THAT(
      nodes("Remember that seats F1 and F2 are closed until the carpenter has been."),
      ElementsAre("constraint seats F1 and F2 are closed until the carpenter has been stated"));
  EXPECT_THAT(nodes("Never paste it here."), IsEmpty());
  EXPECT_THAT(nodes("No problem."), IsEmpty());
}

TEST(GraphRules, dates_of_events_are_kept_one_at_a_time) {
  const auto answer = graph_of("The premiere is on 6 December.");
  ASSERT_EQ(answer.nodes.size(), 1u);
  EXPECT_EQ(answer.nodes[0].type, "constraint");
  EXPECT_EQ(answer.nodes[0].slot, "premiere");
  EXPECT_TRUE(answer.nodes[0].due.has_value());
}

TEST(GraphRules, any_script_and_any_bytes_are_safe) {
  for (const char* text :
       {"\u6211\u4eec\u51b3\u5b9a\u4f7f\u7528 Postgres\u3002", "\xFF\xFE We decided to use \xC3",
        "", "   ", "a.", "We decided to use", "\xD9\x82\xD8\xB1\xD8\xB1\xD9\x86\xD8\xA7"}) {
    graph_of(text);
  }
}

TEST(GraphRules, each_message_is_read_by_itself_so_chunks_do_not_matter) {
  std::vector<WindowMessage> window(3);
  const char* texts[] = {"We use MySQL.", "Next: the newsletter.", "We moved to Postgres."};
  for (std::size_t n = 0; n < window.size(); ++n) {
    window[n].message = static_cast<std::int64_t>(n + 1);
    window[n].role = "user";
    window[n].text = texts[n];
    window[n].at = kSaid;
  }
  const auto extractor = make_builtin_graph_extractor();
  const auto whole = extractor->extract_local(window, "UTC");
  std::vector<std::string> together, apart;
  for (const auto& node : whole->nodes) together.push_back(node.type + node.name);
  for (auto& message : window) {
    const auto part = extractor->extract_local({&message, 1}, "UTC");
    for (const auto& node : part->nodes) apart.push_back(node.type + node.name);
  }
  EXPECT_EQ(together, apart);
}

}  // namespace
}  // namespace clawmark
