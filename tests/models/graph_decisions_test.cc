// What decisions settle: two about one subject follow one another, others stand side by side.

#include <gmock/gmock.h>

#include "tests/models/graph_said.h"

namespace clawmark::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Row {
  const char* said;
  const char* decision;  // empty: none
};

void expect_decisions(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const auto found = things_of("decision", row.said);
    if (*row.decision == '\0') {
      EXPECT_THAT(found, IsEmpty()) << row.said;
    } else {
      EXPECT_THAT(found, ElementsAre(row.decision)) << row.said;
    }
  }
}

TEST(GraphDecisions, a_choice_settles_something_for_its_subject_only) {
  expect_decisions({
      {"We decided to use Postgres as the database for the shop.",
       "database for the shop: Postgres | database for shop = Postgres"},
      {"We decided to use SQLite for the unit tests.",
       "database for the unit tests: SQLite | database for unit tests = SQLite"},
      {"We decided to use Memcached as the cache.", "cache: Memcached | cache = Memcached"},
      {"We decided to use Redis only for tests.",
       "cache for tests: Redis | cache for tests = Redis"},
      {"For the wiki, we decided to use MySQL.",
       "database for the wiki: MySQL | database for wiki = MySQL"},
      {"For the wiki we decided to use MySQL.",
       "database for the wiki: MySQL | database for wiki = MySQL"},
      {"We decided to use Docker on the staging server.",
       "orchestration for the staging server: Docker | orchestration for staging server = Docker"},
      {"We decided to use React for the frontend.", "frontend: React | frontend = React"},
      {"We decided to use Stripe for the shop.",
       "use Stripe for the shop | Stripe for shop = Stripe"},
      // what it is for is out of reach: it settles nothing
      {"We decided to use Postgres for that.", "use Postgres for that"},
      // no subject
      {"We decided to use Postgres for its speed.", "database: Postgres | database = Postgres"},
      {"We decided to use Postgres for now.", "database: Postgres | database = Postgres"},
      {"We decided to use Postgres in December.", "database: Postgres | database = Postgres"},
      {"We decided to use Postgres in the end.", "database: Postgres | database = Postgres"},
      {"We decided to use Postgres as agreed.", "database: Postgres | database = Postgres"},
      {"Decision: use Postgres as our main database.", "database: Postgres | database = Postgres"},
  });
  EXPECT_THAT(relations_of("DEPENDS_ON", "We decided to use SQLite for the unit tests."),
              ElementsAre("project project > component SQLite | database for unit tests"));
}

TEST(GraphDecisions, two_choices_of_one_sentence_have_a_subject_each) {
  EXPECT_THAT(
      things_of("decision", "We decided to use Vue for the shop and React for the admin page."),
      ElementsAre("frontend for the shop: Vue | frontend for shop = Vue",
                  "frontend for the admin page: React | frontend for admin page = React"));
  expect_decisions({
      {"We decided to use Postgres for the shop and the wiki.",
       "database for the shop: Postgres | database for shop = Postgres"},
      {"We've decided to go with Hetzner for hosting.", "hosting: Hetzner | hosting = Hetzner"},
  });
}

TEST(GraphDecisions, changes_of_mind_say_what_they_replace) {
  expect_decisions({
      {"We decided to switch the payment provider to Mollie.",
       "payment provider: Mollie | payment provider = Mollie"},
      {"We decided to switch the supplier from M\u00FCller to Schmidt.",
       "supplier: Schmidt | supplier = Schmidt | replaces M\u00FCller"},
      {"We changed the payment provider to Mollie.",
       "payment provider: Mollie | payment provider = Mollie"},
      {"We decided to replace Stripe with Mollie.", "replace Stripe with Mollie | replaces Stripe"},
      {"We replaced Stripe with Mollie because of the fees.",
       "replace Stripe with Mollie | replaces Stripe"},
      {"I've decided to switch from Flask to FastAPI.",
       "web_framework: FastAPI | web_framework = FastAPI | replaces Flask"},
      {"We decided to use Mollie instead of Stripe for the shop.",
       "use Mollie instead of Stripe for the shop | Stripe for shop = Mollie"},
      {"We decided to migrate the shop to Postgres.",
       "database for the shop: Postgres | database for shop = Postgres"},
      {"We no longer use Stripe.", "no longer use Stripe | replaces Stripe"},
      {"We don't use Stripe any more.", "no longer use Stripe | replaces Stripe"},
      {"We decided to stop using Jira.", "no longer use Jira | replaces Jira"},
      // for the wiki only: it ends nothing by name
      {"We no longer use MySQL for the wiki.", "no longer use MySQL for the wiki"},
      // outings, removals, talk
      {"We don't use Stripe.", ""},
      {"We moved from Sweden to Norway.", ""},
      {"We moved to Berlin.", ""},
      {"We changed the subject to politics.", ""},
      {"We dropped Anna at the airport.", ""},
      {"We went with Anna to the lake.", ""},
      {"We went with the flow.", ""},
      {"Let's go with Anna to the lake.", ""},
  });
  EXPECT_THAT(relations_of("DEPENDS_ON", "We no longer use MySQL for the wiki."),
              ElementsAre("project project > component MySQL | database for wiki ended"));
}

TEST(GraphDecisions, what_was_merely_not_taken_changes_no_plan) {
  for (const char* said : {"We decided to use Postgres for the shop, not MySQL.",
                           "We decided to use Postgres over MySQL for the shop."}) {
    EXPECT_THAT(episodes_of(said), ElementsAre("decision: database for the shop: Postgres"));
    EXPECT_THAT(things_of("decision", said),
                ElementsAre("database for the shop: Postgres | database for shop = Postgres"));
  }
}

TEST(GraphDecisions, words_that_make_way_name_what_was_decided_before) {
  expect_decisions({
      {"We decided to paint the door blue.",
       "paint the door blue | paint the door = paint the door blue"},
      {"We decided to paint the door red instead of blue.",
       "paint the door red instead of blue | paint the door = paint the door red | replaces paint "
       "the door blue"},
      {"We decided to meet in Berlin instead of Paris.",
       "meet in Berlin instead of Paris | replaces meet in Paris"},
      {"We decided to serve cake instead.", "serve cake instead"},
  });
}

TEST(GraphDecisions, one_persons_choice_counts_when_it_settles_something) {
  expect_decisions({
      {"I've chosen SQLite as the database.", "database: SQLite | database = SQLite"},
      {"I've decided on Postgres for the shop.",
       "database for the shop: Postgres | database for shop = Postgres"},
      {"I chose pasta.", ""},
      {"I've decided on the following schema.", ""},
      {"I decided to go to the gym.", ""},
  });
}

TEST(GraphDecisions, what_somebody_else_wrote_is_nobodys_decision_here) {
  for (const char* said : {"Here is the mail from Peter: We decided to use Fortran.",
                           "Here's the message from Peter:\n\nHi all. We decided to use Fortran.",
                           "Peter wrote: we decided to use Fortran.",
                           "Forwarded message from Peter. We decided to use Fortran.",
                           "Fwd: We decided to use Fortran."}) {
    EXPECT_THAT(things_of("decision", said), IsEmpty()) << said;
  }
  expect_decisions({
      {"I wrote a mail to Peter. We decided to use Fortran as the language.",
       "language: Fortran | language = Fortran"},
      {"News from the meeting: we decided to use Fortran as the language.",
       "language: Fortran | language = Fortran"},
  });
}

TEST(GraphDecisions, dates_move) {
  for (const auto& [said, date] : std::initializer_list<std::pair<const char*, const char*>>{
           {"We decided to launch on 1 December.", "launch: 2026-12-01 | launch = 2026-12-01"},
           {"We decided to launch on 5 December instead.",
            "launch: 2026-12-05 | launch = 2026-12-05"},
           {"The launch date is 3 December.", "launch: 2026-12-03 | launch = 2026-12-03"},
           {"The date of the launch is 3 December.", "launch: 2026-12-03 | launch = 2026-12-03"},
           {"The launch moved to 5 December.", "launch: 2026-12-05 | launch = 2026-12-05"},
           {"The launch has been postponed to 7 December.",
            "launch: 2026-12-07 | launch = 2026-12-07"},
           {"The launch was moved from 3 December to 5 December.",
            "launch: 2026-12-05 | launch = 2026-12-05"},
           {"We postponed the launch to 7 December.", "launch: 2026-12-07 | launch = 2026-12-07"},
           {"The premiere was moved to 8 December.",
            "premiere: 2026-12-08 | premiere = 2026-12-08"},
           {"The launch is now on 9 December.", "launch: 2026-12-09 | launch = 2026-12-09"},
           {"The deadline was extended to 9 December.",
            "deadline: 2026-12-09 | deadline = 2026-12-09"},
           {"We decided that the launch is on 9 December.",
            "launch: 2026-12-09 | launch = 2026-12-09"},
           {"The carpenter was moved to 8 December.",
            "carpenter: 2026-12-08 | carpenter = 2026-12-08"},
           {"We decided to move the meeting to 4 December.",
            "meeting: 2026-12-04 | meeting = 2026-12-04"}}) {
    EXPECT_THAT(things_of("constraint", said), ElementsAre(date)) << said;
  }
  expect_decisions({
      {"We decided to launch on 5 December instead.", "launch on 5 December | launch = 2026-12-05"},
      {"The launch has been postponed to 7 December.", "launch: 2026-12-07 | launch = 2026-12-07"},
      {"The launch is now on 9 December.", "launch: 2026-12-09 | launch = 2026-12-09"},
      {"The launch is on 9 December.", ""},
      {"The carpenter was moved to 8 December.", ""},
  });
  for (const char* said : {"The party was on 8 December.", "The desk was moved to the office.",
                           "The launch is postponed."}) {
    EXPECT_THAT(things_of("constraint", said), IsEmpty()) << said;
  }
}

}  // namespace
}  // namespace clawmark::testing
