// Work: what ends it, what is in its way, who does it; and what is no work at all.

#include <gmock/gmock.h>

#include "tests/models/graph_said.h"

namespace clawmark::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> tasks(const std::string& said) {
  return things_of("task", said);
}

TEST(GraphTasks, what_is_done_ends_the_task_that_names_it) {
  // What makes something goes by what it makes.
  EXPECT_THAT(tasks("TODO: write the invoice for ACME."),
              ElementsAre("invoice for ACME [pending]"));
  EXPECT_THAT(graph_of("TODO: write the invoice for ACME.").nodes.at(0).aliases,
              ElementsAre("write the invoice for ACME"));
  for (const char* said : {"The invoice for ACME is done.", "I wrote the invoice for ACME.",
                           "The invoice for ACME is written."}) {
    EXPECT_THAT(tasks(said), ElementsAre("invoice for ACME [done?]")) << said;
  }
  // Another goes by its verb, too.
  EXPECT_THAT(tasks("I need to fix the login page."), ElementsAre("fix the login page [pending]"));
  EXPECT_THAT(
      tasks("I fixed the login page."),
      ElementsAre("login page [done]", "fix login page [done?]", "fix the login page [done?]"));
  for (const char* said : {"The newsletter is sent.", "I sent the newsletter.",
                           "The newsletter went out.", "The newsletter has been sent."}) {
    EXPECT_THAT(tasks(said), ElementsAre("newsletter [done?]", "send newsletter [done?]",
                                         "send the newsletter [done?]"))
        << said;
  }
  // What was looked at is not done.
  EXPECT_THAT(tasks("I tested the login page."),
              ElementsAre("test login page [done?]", "test the login page [done?]"));
  EXPECT_THAT(tasks("TODO: fix E-SEAT-409."), ElementsAre("E-SEAT-409 [pending]"));
  EXPECT_THAT(tasks("E-SEAT-409 is solved."), ElementsAre("E-SEAT-409 [done?]"));
  EXPECT_THAT(tasks("I went out with Anna."), IsEmpty());
}

TEST(GraphTasks, what_is_not_done_after_all_is_open_again) {
  for (const char* said :
       {"The price list is not done after all.", "Actually, the price list isn't done."}) {
    EXPECT_THAT(tasks(said), ElementsAre("price list [pending?]")) << said;
  }
  EXPECT_THAT(tasks("E-SEAT-409 is open again."), Contains("E-SEAT-409 [pending?]"));
  for (const char* said : {"The price list is not done.", "The price list is almost done.",
                           "The price list is not done yet.", "The shop is open."}) {
    EXPECT_THAT(tasks(said), IsEmpty()) << said;
  }
}

TEST(GraphTasks, dates_are_when_and_no_part_of_the_name) {
  const auto answer = graph_of("I need to send the newsletter by Friday.");
  ASSERT_FALSE(answer.nodes.empty());
  EXPECT_EQ(answer.nodes[0].name, "send the newsletter");
  EXPECT_TRUE(answer.nodes[0].due.has_value());
}

TEST(GraphTasks, talk_is_no_work) {
  for (const char* said :
       {"We need to make some awesome memories.", "I need to make sure to pick a quiet time.",
        "I'll check it out.", "I started with the basic setup.", "I'm working on a new project.",
        "I started working on going to the gym.", "I finished 1,200 pages.", "I'll call Jonas.",
        "I will make sure Jessica knows.", "The shop is three blocks away."}) {
    EXPECT_THAT(graph_of(said).nodes, Each(::testing::Field(&GraphNode::only_status, true)))
        << said;
  }
}

TEST(GraphTasks, blockers_end) {
  for (const char* said :
       {"The export is not blocked any more.", "The export is unblocked.",
        "The export isn't blocked any more.", "The export is no longer blocked."}) {
    EXPECT_THAT(tasks(said), ElementsAre("export [active?]")) << said;
  }
  EXPECT_THAT(tasks("The export works now."), Contains("export [done?]"));
  EXPECT_THAT(tasks("We are no longer blocked by the DNS change."), Contains("DNS change [done?]"));
  EXPECT_THAT(relations_of("BLOCKED_BY", "The upload is no longer blocked by CORS."),
              ElementsAre("task upload > concept CORS ended", "task upload > task CORS ended"));
  EXPECT_THAT(relations_of("BLOCKED_BY", "The missing logo no longer blocks the newsletter."),
              Contains("task newsletter > concept missing logo ended"));
  for (const char* said :
       {"We are not blocked by the DNS change.", "The road is blocked.", "Dinner works now."}) {
    EXPECT_THAT(tasks(said), IsEmpty()) << said;
  }
}

TEST(GraphTasks, a_blocker_that_is_a_task_is_that_task) {
  EXPECT_THAT(tasks("The launch is blocked by Migration 0008."),
              ElementsAre("launch [blocked]", "Migration 0008"));
  EXPECT_THAT(relations_of("BLOCKED_BY", "Next: the index. The launch is blocked by the index."),
              ElementsAre("task launch > task index"));
  EXPECT_THAT(relations_of("BLOCKED_BY", "The launch is blocked by the missing logo."),
              ElementsAre("task launch > concept missing logo"));
}

TEST(GraphTasks, C092_who_is_assigned_to_what_and_no_longer) {
  const std::string work = "person Noa > component Billing";
  for (const char* said : {"Noa is assigned to Billing.", "Billing is assigned to Noa.",
                           "Noa is responsible for Billing."}) {
    EXPECT_THAT(relations_of("ASSIGNED_TO", said), ElementsAre(work)) << said;
    EXPECT_THAT(tasks(said), IsEmpty()) << said;
  }
  for (const char* said :
       {"Noa is no longer assigned to Billing.", "Billing is no longer assigned to Noa.",
        "Noa isn't assigned to Billing any more."}) {
    EXPECT_THAT(relations_of("ASSIGNED_TO", said), Contains(work + " ended")) << said;
  }
  for (const char* said : {"The seat map is assigned to Noa.", "Noa is assigned to the seat map.",
                           "Noa is responsible for the seat map."}) {
    EXPECT_THAT(relations_of("ASSIGNED_TO", said), ElementsAre("task seat map > person Noa"))
        << said;
  }
  EXPECT_THAT(relations_of("ASSIGNED_TO", "The seat map is no longer assigned to Noa."),
              ElementsAre("task seat map > person Noa ended"));
  // Both could be the person, or it perhaps never was so.
  for (const char* said : {"Noa is assigned to Atlas.", "Noa is not assigned to Billing."}) {
    EXPECT_THAT(relations_of("ASSIGNED_TO", said), IsEmpty()) << said;
  }
}

TEST(GraphTasks, what_has_a_name_is_not_always_a_person) {
  EXPECT_THAT(things_of("constraint", "Remember that the guest Wi-Fi is called Lanterne-5."),
              ElementsAre("the guest Wi-Fi is called Lanterne-5 stated"));
  for (const char* said : {"Remember that the guest Wi-Fi is called Lanterne-5.",
                           "The server name is called Hugo.", "My dog is called Bello."}) {
    EXPECT_THAT(things_of("person", said), IsEmpty()) << said;
  }
  EXPECT_THAT(things_of("person", "The carpenter is called Gregor Hahn."),
              ElementsAre("Gregor Hahn"));
  EXPECT_THAT(things_of("component", "The repository is called lanterne/ticketbox."),
              ElementsAre("lanterne/ticketbox"));
}

TEST(GraphTasks, reminders_are_tasks_and_memories_nothing) {
  EXPECT_THAT(tasks("Remember to call Jonas tomorrow."), ElementsAre("call Jonas [pending]"));
  EXPECT_THAT(things_of("constraint", "Remember that you must never sell F1."),
              ElementsAre("you must never sell F1 stated"));
  EXPECT_THAT(things_of("constraint", "Remember that Jonas prefers tea."),
              ElementsAre("Jonas prefers tea stated"));
  EXPECT_THAT(things_of("constraint", "From now on always use metric units."),
              ElementsAre("always use metric units stated"));
  for (const char* said :
       {"Remember to call Jonas tomorrow.", "Remember that time in Rome.",
        "Remember the time we went to Rome.", "Remember to have fun!", "Remember, Jon, just do it.",
        "Remember that healing and moving on take time.", "Never did I see him in Rome.",
        "Never tried mountain climbing in Rome."}) {
    EXPECT_THAT(things_of("constraint", said), IsEmpty()) << said;
  }
}

}  // namespace
}  // namespace clawmark::testing
