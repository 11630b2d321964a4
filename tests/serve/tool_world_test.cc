// The world model's tools: what they say, to whom, from where, and what when the store is broken.

#include <gmock/gmock.h>

#include "log/graph_events.h"
#include "projections/rebuild.h"
#include "world.h"

namespace clawmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMine[] = "agent:main:telegram:direct:101";
constexpr char kGroup[] = "agent:main:telegram:group:-7";

// A world whose graph is known: what people said, and what was understood.
struct Known : World {
  Known() {
    seats = say({.text = "The test sale fails with E-SEAT-409, we are blocked"});
    stripe = say({.text = "We decided to use Stripe", .session_key = kGroup, .session_id = "g"});
    mollie = say(
        {.text = "We use Mollie instead, lower fees", .session_key = kGroup, .session_id = "g"});
    item("node", {{"type", "task"}, {"name", "E-SEAT-409"}, {"status", "blocked"}}, seats);
    item("node", {{"type", "component"}, {"name", "shop"}}, seats);
    item("edge",
         {{"type", "AFFECTS"},
          {"from_type", "task"},
          {"from", "E-SEAT-409"},
          {"to_type", "component"},
          {"to", "shop"}},
         seats);
    item("edge",
         {{"type", "DEPENDS_ON"},
          {"from_type", "component"},
          {"from", "shop"},
          {"to_type", "task"},
          {"to", "E-SEAT-409"}},
         seats);
    item("episode", {{"type", "blocker"}, {"title", "Blocked: E-SEAT-409"}, {"salience", 0.9}},
         seats);
    item("node",
         {{"type", "decision"},
          {"name", "payment: Stripe"},
          {"slot", "payment"},
          {"choice", "Stripe"}},
         stripe, "group:" + std::string(kGroup));
    item("node",
         {{"type", "decision"},
          {"name", "payment: Mollie"},
          {"slot", "payment"},
          {"choice", "Mollie"},
          {"reason", "lower fees"}},
         mollie, "group:" + std::string(kGroup));
  }

  void item(const std::string& kind, json::object body, Seq message,
            const std::string& holder = "person:telegram:101") {
    body["holder"] = holder;
    body["verified"] = true;
    body["confidence"] = 0.9;
    body["evidence"] = json::array{json::object{{"message", message.value}, {"quote", "said"}}};
    NewEvent event;
    event.type = event_type::kGraphCompleted;
    event.scope.agent = "main";
    event.dedupe_key = "graph:" + std::to_string(++items);
    event.occurred = clock.now();
    event.payload = {{"messages", json::array{message.value}},
                     {"session_id", "s1"},
                     {kind + "s", json::array{std::move(body)}}};
    append(std::move(event));
    fold();
  }
  std::string restore(const json::object& who, json::object params = {}) {
    return text_of(tool("wc_restore", who, params), "text");
  }
  void break_table(const std::string& table) {
    const int generation = must(live_generation(store.db(), "graph"));
    must(store.db().exec("DROP TABLE " + table + "__g" + std::to_string(generation)));
  }

  json::object mine = caller(kMine, "101"), group = caller(kGroup, "101");
  Seq seats, stripe, mollie;
  int items = 0;
};

TEST(WorldTools, restore_says_where_things_stand_and_where_each_line_comes_from) {
  Known w;
  const std::string text = w.restore(w.group);
  EXPECT_THAT(text, HasSubstr("Decisions in force:\n- payment: Mollie, because: lower fees ["));
  EXPECT_THAT(text, HasSubstr("Replaced since:\n- payment: Stripe (until "));
  const json::object answer = w.tool("wc_restore", w.group, {});
  const auto* lines = find_array(*find_object(answer, "details"), "lines");
  ASSERT_NE(lines, nullptr);
  ASSERT_FALSE(lines->empty());
  for (const auto& line : *lines) {
    EXPECT_GT(get_int(line.get_object(), "message"), 0) << to_text(line);
    EXPECT_NE(get_string(line.get_object(), "date"), "");
    EXPECT_NE(get_string(line.get_object(), "session_id"), "");
  }
  EXPECT_EQ(text, w.restore(w.group)) << "the same store, the same text";
}

TEST(WorldTools, nobody_sees_what_was_said_elsewhere) {
  Known w;
  EXPECT_THAT(w.restore(w.group), Not(HasSubstr("E-SEAT-409")));
  EXPECT_THAT(w.restore(w.mine), HasSubstr("E-SEAT-409"));
  EXPECT_THAT(w.restore(w.mine), Not(HasSubstr("Mollie")));
  const auto stranger = World::caller("agent:main:telegram:direct:303", "303");
  EXPECT_THAT(w.restore(stranger), HasSubstr("Nothing is known yet"));
  for (const char* name : {"E-SEAT-409", "payment: Mollie"}) {
    const json::object params{{"action", "node"}, {"name", name}};
    EXPECT_FALSE(get_bool(w.tool("wc_graph", stranger, params), "ok", true));
  }
  const json::object forged{{"holder", "person:telegram:101"}, {"as", "owner"}};
  EXPECT_THAT(w.restore(stranger, forged), Not(HasSubstr("E-SEAT-409")));
}

TEST(WorldTools, graph_lists_shows_and_walks_and_asks_back_when_a_name_is_not_one_thing) {
  Known w;
  const auto graph = [&](json::object params) { return w.tool("wc_graph", w.mine, params); };
  EXPECT_THAT(text_of(graph({}), "text"), HasSubstr("E-SEAT-409 (blocked)"));
  const auto walk = graph({{"action", "traverse"}, {"name", "e-seat-409"}, {"depth", 9}});
  EXPECT_THAT(text_of(walk, "text"), HasSubstr("1 step away:\n- component"));
  EXPECT_THAT(text_of(walk, "text"), HasSubstr("E-SEAT-409 AFFECTS shop"));
  w.item("node", {{"type", "project"}, {"name", "Shop"}}, w.seats);
  const auto two = graph({{"action", "node"}, {"name", "shop"}});
  EXPECT_FALSE(get_bool(two, "ok", true));
  EXPECT_THAT(text_of(two, "text"), HasSubstr("Several things"));
  EXPECT_EQ(find_array(*find_object(two, "details"), "candidates")->size(), 2u);
  EXPECT_TRUE(
      get_bool(graph({{"action", "node"}, {"name", "shop"}, {"nodeType", "project"}}), "ok"));
  EXPECT_THAT(text_of(graph({{"action", "dance"}}), "text"),
              HasSubstr("one of list, node, traverse"));
  EXPECT_THAT(text_of(graph({{"action", "node"}, {"name", "nope"}}), "text"),
              HasSubstr("Nothing is known"));
}

TEST(WorldTools, episodes_and_search_find_by_words_and_say_what_is_wrong) {
  Known w;
  EXPECT_THAT(text_of(w.tool("wc_episode", w.mine, {{"minSalience", 0.5}}), "text"),
              HasSubstr("blocker (90%): Blocked: E-SEAT-409"));
  EXPECT_THAT(text_of(w.tool("wc_episode", w.mine, {{"minSalience", 0.95}}), "text"),
              HasSubstr("No such episode"));
  EXPECT_THAT(text_of(w.tool("wc_search", w.mine, {{"query", "seat"}, {"scope", "graph"}}), "text"),
              HasSubstr("task, blocked: E-SEAT-409"));
  EXPECT_THAT(text_of(w.tool("wc_search", w.mine, {{"query", "x"}, {"scope", "moon"}}), "text"),
              HasSubstr("one of all, graph"));
  EXPECT_THAT(text_of(w.tool("wc_expand", w.mine, {{"summaryId", "../../etc"}}), "text"),
              HasSubstr("like sum_42"));
  EXPECT_THAT(text_of(w.tool("wc_expand", w.mine, {{"summaryId", "sum_999"}}), "text"),
              HasSubstr("There is no summary"));
}

TEST(WorldTools, a_summary_opens_to_its_messages_for_those_who_heard_them) {
  Known w;
  NewEvent event;
  event.type = event_type::kGraphCompleted;
  event.scope.agent = "main";
  event.dedupe_key = "graph:prose";
  event.occurred = w.clock.now();
  event.payload = {{"messages", json::array{w.stripe.value, w.mollie.value}},
                   {"session_id", "g"},
                   {"holder", "group:" + std::string(kGroup)},
                   {"prose", "They moved to Mollie."},
                   {"state", "Mollie is next."}};
  w.append(std::move(event));
  w.fold();
  const std::string id = "sum_" + std::to_string(must(EventLog::head(w.store.db())).value);
  const std::string open = text_of(w.tool("wc_expand", w.group, {{"summaryId", id}}), "text");
  EXPECT_THAT(open, HasSubstr("They moved to Mollie."));
  EXPECT_THAT(open, HasSubstr("\"We decided to use Stripe\""));
  EXPECT_THAT(text_of(w.tool("wc_expand", w.mine, {{"summaryId", id}}), "text"),
              HasSubstr("There is no summary"));
  EXPECT_THAT(w.restore(w.group), HasSubstr(": Mollie is next. ["));
}

TEST(WorldTools, C094_a_broken_store_is_said_and_hides_no_other_section) {
  Known w;
  w.break_table("graph_edges");
  const auto walk = w.tool("wc_graph", w.mine, {{"action", "traverse"}, {"name", "shop"}});
  EXPECT_FALSE(get_bool(walk, "ok", true));
  EXPECT_THAT(text_of(walk, "text"), HasSubstr("could not be read"));
  EXPECT_EQ(find_array(*find_object(walk, "details"), "degraded")->size(), 1u);
  w.break_table("graph_episodes");
  const json::object restored = w.tool("wc_restore", w.group, {});
  EXPECT_THAT(text_of(restored, "text"), HasSubstr("payment: Mollie"));
  EXPECT_THAT(text_of(restored, "text"), HasSubstr("This part could not be read"));
  EXPECT_GE(find_array(*find_object(restored, "details"), "degraded")->size(), 2u);
  w.break_table("graph_nodes");
  const json::object nothing = w.tool("wc_restore", w.group, {});
  EXPECT_THAT(text_of(nothing, "text"), Not(HasSubstr("Nothing is known")));
}

TEST(WorldTools, as_of_a_time_shows_what_was_known_then) {
  Known w;
  const auto before =
      must(w.store.db().query_int("SELECT occurred_ms FROM events WHERE seq = ?", w.stripe.value));
  const std::string at = format_iso(TimeMs{before.value_or(0)});
  const std::string text = w.restore(w.group, {{"at", at}});
  EXPECT_THAT(text, HasSubstr("payment: Stripe"));
  EXPECT_THAT(text, Not(HasSubstr("Mollie")));
  EXPECT_THAT(w.restore(w.group, {{"at", "yesterday"}}), HasSubstr("`at` is a time"));
}

TEST(WorldTools, as_of_a_log_position_shows_what_the_log_knew_then) {
  Known w;
  const auto known =
      must(w.store.db().query_int("SELECT max(seq) FROM events WHERE type = 'graph.completed' AND "
                                  "payload NOT LIKE '%Mollie%'"));
  const std::string text = w.restore(w.group, {{"at", std::to_string(known.value_or(0))}});
  EXPECT_THAT(text, HasSubstr("payment: Stripe"));
  EXPECT_THAT(text, Not(HasSubstr("Mollie")));
  EXPECT_THAT(w.restore(w.group, {{"at", "soon"}}), HasSubstr("`at` is a time"));
  EXPECT_THAT(w.restore(w.group, {{"at", "999999"}}), HasSubstr("the log has no event 999999"));
}

TEST(WorldTools, explain_leads_from_any_line_back_to_the_message_and_its_source) {
  Known w;
  const auto why = [&](const std::string& line) {
    return text_of(
        w.post("/v1/admin/explain", {{"params", {{"line", line}, {"as", "telegram:101"}}}}),
        "text");
  };
  const auto* lines =
      find_array(*find_object(w.tool("wc_restore", w.mine, {}), "details"), "lines");
  ASSERT_NE(lines, nullptr);
  const std::string restored = w.restore(w.mine);
  const auto at = restored.find("- E-SEAT-409");
  ASSERT_NE(at, std::string::npos) << restored;
  for (const std::string& line : {restored.substr(at, restored.find('\n', at) - at),
                                  std::string("E-SEAT-409"), std::to_string(w.seats.value)}) {
    EXPECT_THAT(why(line), HasSubstr("message " + std::to_string(w.seats.value))) << line;
    EXPECT_THAT(why(line), HasSubstr("read from ")) << line;
  }
  EXPECT_THAT(why(std::to_string(w.seats.value)), HasSubstr("\u2192 task E-SEAT-409 (live)"));
  EXPECT_THAT(why("E-SEAT-409"), HasSubstr("(graph.completed"));
  EXPECT_THAT(why(std::to_string(w.mollie.value)), HasSubstr("Nothing that can be seen here"))
      << "what was said in a group is not shown through one person's eyes";
  EXPECT_THAT(why("payment: Mollie"), HasSubstr("Nothing that can be seen here"));
}

TEST(WorldTools, explain_answers_for_a_fact_of_a_past_prompt_but_not_for_one_that_was_forgotten) {
  World w;
  const auto why = [&](const std::string& line) {
    return w.post("/v1/admin/explain", {{"params", {{"line", line}, {"as", "telegram:101"}}}});
  };
  const Seq said = w.say({.text = "I use helix"});
  w.conclude("person:telegram:101", "pref.editor", "helix", said);
  must(w.store.db().run("DELETE FROM facts__g1"));  // ended; what was said of it stays
  const std::string text = text_of(why("- pref.editor: helix (2026-11-01, concluded)"), "text");
  EXPECT_THAT(text, HasSubstr("What was the fact pref.editor"));
  EXPECT_THAT(text, HasSubstr("it no longer holds"));
  EXPECT_THAT(text, HasSubstr("message " + std::to_string(said.value)));

  w.state("person:telegram:101", "pref.pet", "cat");
  w.tool("clawmark_forget", World::caller("agent:main:telegram:direct:101", "101"),
         {{"key", "pref.pet"}});
  EXPECT_THAT(text_of(why("pref.pet"), "text"), HasSubstr("Nothing that can be seen here"));
}

TEST(WorldTools, what_was_made_one_is_listed_and_undone_by_name) {
  Known w;
  const auto unmerge = [&](json::object params) {
    return w.post("/v1/admin/unmerge", {{"params", std::move(params)}});
  };
  EXPECT_THAT(text_of(unmerge({}), "text"), HasSubstr("Nothing was made one"));
  NewEvent merged;
  merged.type = event_type::kGraphMerged;
  merged.dedupe_key = "merged";
  merged.scope.agent = "main";
  merged.occurred = w.clock.now();
  merged.payload = {{"holder", "person:telegram:101"},
                    {"type", "task"},
                    {"from", "E-SEAT-409"},
                    {"into", "E-SEAT-410"}};
  w.append(std::move(merged));
  w.fold();
  EXPECT_THAT(text_of(unmerge({}), "text"), HasSubstr("taken for"));
  const auto other = unmerge({{"name", "E-SEAT-999"}});
  EXPECT_FALSE(get_bool(other, "ok", true));
  EXPECT_THAT(text_of(unmerge({{"name", "E-SEAT-409"}}), "text"), HasSubstr("by itself again"));
  EXPECT_THAT(text_of(unmerge({}), "text"), HasSubstr("Nothing was made one"));
  EXPECT_EQ(
      must(w.store.db().query_int("SELECT count(*) FROM events WHERE type = 'graph.unmerged'")), 1);
}

TEST(WorldTools, explain_answers_for_the_line_it_was_asked_for_or_says_what_is_near) {
  Known w;
  const auto why = [&](const std::string& line) {
    return w.post("/v1/admin/explain", {{"params", {{"line", line}, {"as", "telegram:101"}}}});
  };
  const std::string seats = std::to_string(w.seats.value);
  const auto no = [&](const std::string& line, const std::string& says) {
    const json::object answer = why(line);
    EXPECT_FALSE(get_bool(answer, "ok", true)) << line;
    EXPECT_THAT(text_of(answer, "text"), HasSubstr(says)) << line;
    EXPECT_THAT(text_of(answer, "text"), Not(HasSubstr("read from"))) << line;
  };
  no("- E-SEAT-409 is blocked [2026-11-03, Ada, session s1, message ffffffff]", "Nothing that");
  no("- 2026-11-03: \"the test sale fails with E-PRICE-7\"", "in message " + seats);
  for (const std::string words :
       {"the test sale  fails with E-SEAT-409", "The test sale fails\u2026",
        "Ada: what now? / Ben: The test sale fails with E-SEAT-409, we are blocked"}) {
    EXPECT_THAT(text_of(why("- 2026-11-03: \"" + words + "\""), "text"),
                HasSubstr("message " + seats))
        << words;
  }
  const auto entry =
      must(w.store.db().query_text("SELECT entry_id FROM messages WHERE seq = ?", w.seats.value));
  EXPECT_THAT(text_of(why(entry.value_or("")), "text"), HasSubstr("message " + seats));
}

TEST(WorldTools, what_is_not_shown_and_what_does_not_exist_is_said) {
  Known w;
  for (int n = 0; n < 15; ++n) {
    w.item("node",
           {{"type", "task"},
            {"name", "task " + std::to_string(n)},
            {"status", "pending"},
            {"due_ms", w.clock.now().value - 5 * 86'400'000}},
           w.seats);
  }
  const std::string restored = w.restore(w.mine);
  EXPECT_THAT(restored, HasSubstr("and 3 not shown here: ask for things of type task"));
  EXPECT_THAT(restored, HasSubstr(", past)"));
  const auto graph = [&](json::object params) {
    return text_of(w.tool("wc_graph", w.mine, params), "text");
  };
  EXPECT_THAT(graph({{"limit", 5}}), HasSubstr("the newest 5; more are known"));
  EXPECT_THAT(graph({{"limit", 100}}), Not(HasSubstr("more are known")));
  EXPECT_THAT(graph({{"nodeType", "moon"}}), HasSubstr("it is one of project, component"));
  EXPECT_THAT(text_of(w.tool("wc_episode", w.mine, {{"eventType", "moon"}}), "text"),
              HasSubstr("it is one of decision, plan_change"));
  EXPECT_THAT(graph({{"action", "node"}, {"name", "task 99"}}), Not(HasSubstr("task 9\n")))
      << "what is asked for by its number is no other";
  const Seq head = must(EventLog::head(w.store.db()));
  EXPECT_THAT(w.restore(w.mine, {{"at", std::to_string(head.value)}}),
              HasSubstr("as the log knew it at event " + std::to_string(head.value)));
}

TEST(WorldTools, a_session_that_begins_is_told_where_things_were_left_off) {
  Known w;
  const auto inject = [&](std::int64_t count) {
    return w.inject(w.mine, "good morning, what was I doing?", json::object{{"count", count}});
  };
  const json::object first = inject(0);
  EXPECT_THAT(get_string(first, "recall_block"),
              HasSubstr(", where things were left off: \"Blocked: E-SEAT-409\""));
  EXPECT_EQ(get_string(find_array(first, "items")->front().get_object(), "kind"), "state");
  EXPECT_THAT(get_string(inject(7), "recall_block"), Not(HasSubstr("left off")));
  w.config->state_chars = 20;
  EXPECT_THAT(get_string(inject(0), "recall_block"), Not(HasSubstr("left off"))) << "capped";
  w.config->state_chars = 0;
  EXPECT_THAT(get_string(inject(0), "recall_block"), Not(HasSubstr("left off")));
}

TEST(WorldTools, what_is_said_again_is_one_line_of_where_things_were_left_off) {
  Known w;
  for (int n = 1; n <= 3; ++n) {
    const Seq again = w.say({.text = "We decided to use Postgres as the database",
                             .at = {w.clock.now().value + n * 4 * kDayMs}});
    w.item("episode", {{"type", "decision"}, {"title", "database: Postgres"}, {"salience", 0.8}},
           again);
  }
  w.clock.advance(20 * kDayMs);
  const auto count = [](const std::string& text) {
    const auto from = text.find("Where things were left off");
    const std::string part = text.substr(from, text.find("\n\n", from) - from);
    std::size_t times = 0;
    for (std::size_t at = part.find("database: Postgres"); at != std::string::npos;
         at = part.find("database: Postgres", at + 1)) {
      ++times;
    }
    return times;
  };
  const std::string restored = w.restore(w.mine);
  EXPECT_EQ(count(restored), 1u) << restored;
  EXPECT_THAT(restored, HasSubstr("Blocked: E-SEAT-409")) << "and what was said before has room";
}

TEST(WorldTools, a_line_cites_the_message_whose_words_it_quotes) {
  Known w;
  const Seq planned = w.say({.text = "said: Next the newsletter."});
  w.item("node",
         {{"type", "task"},
          {"name", "newsletter"},
          {"status", "pending"},
          {"description", "We said so"}},
         planned);
  const Seq named = w.say({.text = "said: newsletter"});
  w.item("node", {{"type", "task"}, {"name", "newsletter"}, {"status", "active"}}, named);
  const json::object answer =
      w.tool("wc_graph", w.mine, {{"action", "node"}, {"name", "newsletter"}});
  const std::string text = text_of(answer, "text");
  EXPECT_THAT(text, HasSubstr("newsletter \u2014 \u201csaid\u201d")) << "no words of a model";
  const auto* lines = find_array(*find_object(answer, "details"), "lines");
  ASSERT_NE(lines, nullptr);
  EXPECT_EQ(get_int(lines->front().get_object(), "message"), planned.value);
}

}  // namespace
}  // namespace clawmark
