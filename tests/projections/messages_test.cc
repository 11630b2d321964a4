// The message index: who hears a message, and whether it may be recalled.

#include <gmock/gmock.h>

#include "world.h"

namespace clawmark::testing_world {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MessageRow row(World& w, Seq seq) {
  w.fold();
  const auto found = find_message(w.db(), seq).value();
  EXPECT_TRUE(found);
  return found.value_or(MessageRow{});
}

TEST(Messages, a_direct_message_is_for_its_sender_and_so_is_the_answer) {
  World w;
  const Seq ask = w.say({.text = "hi", .at = day(0)});
  const Seq answer = w.say({.text = "hello", .at = day(0.1), .role = "assistant", .parent = ask});
  EXPECT_EQ(row(w, ask).audience, "person:telegram:101");
  EXPECT_EQ(row(w, answer).audience, "person:telegram:101");
  EXPECT_TRUE(row(w, answer).recallable);
  EXPECT_EQ(row(w, answer).parent, ask);
}

TEST(Messages, a_shared_main_session_keeps_people_apart) {
  World w;
  const std::string main = "agent:main:main";
  const Seq a = w.say({.at = day(0), .key = main, .sender = "telegram:101"});
  const Seq to_a = w.say({.at = day(0.1), .key = main, .role = "assistant", .parent = a});
  const Seq b = w.say({.at = day(0.2), .key = main, .sender = "signal:7", .parent = to_a});
  const Seq to_b = w.say({.at = day(0.3), .key = main, .role = "assistant", .parent = b});
  const Seq o = w.say({.at = day(0.4), .key = main, .sender = "", .parent = to_b});
  EXPECT_EQ(row(w, to_a).audience, "person:telegram:101");
  EXPECT_EQ(row(w, to_b).audience, "person:signal:7");
  EXPECT_EQ(row(w, o).audience, "person:owner");
}

TEST(Messages, without_a_tree_the_answer_goes_to_whoever_spoke_last_in_any_order_of_reading) {
  const std::string main = "agent:main:main";
  const Said a{.at = day(0), .key = main, .sender = "telegram:101", .entry_id = "a"};
  const Said to_a{.at = day(0.1), .key = main, .role = "assistant", .entry_id = "to_a"};
  const Said b{.at = day(0.2), .key = main, .sender = "signal:7", .entry_id = "b"};
  const Said to_b{.at = day(0.3), .key = main, .role = "assistant", .entry_id = "to_b"};
  std::vector<Said> order = {a, b, to_a, to_b};
  std::sort(order.begin(), order.end(),
            [](const Said& x, const Said& y) { return x.entry_id < y.entry_id; });
  do {
    World w;
    for (const auto& said : order) w.say(said);
    w.fold(1);
    ASSERT_THAT(w.rows("SELECT entry_id || ' ' || audience FROM messages ORDER BY entry_id"),
                ElementsAre("a person:telegram:101", "b person:signal:7",
                            "to_a person:telegram:101", "to_b person:signal:7"));
  } while (std::next_permutation(order.begin(), order.end(), [](const Said& x, const Said& y) {
    return x.entry_id < y.entry_id;
  }));
}

TEST(Messages, groups_named_sessions_and_threads) {
  World w;
  const std::string group = "agent:main:telegram:group:-5";
  EXPECT_EQ(row(w, w.say({.key = group})).audience, "group:" + group);
  EXPECT_EQ(row(w, w.say({.session = "n", .key = "agent:main:planning", .sender = ""})).audience,
            "session:agent:main:planning");
  const std::string thread = "agent:main:telegram:direct:101:thread:7";
  EXPECT_EQ(row(w, w.say({.session = "t", .key = thread, .sender = ""})).audience,
            "person:telegram:101");
}

TEST(Messages, only_talk_of_people_and_agent_in_open_lanes_is_recallable) {
  World w;
  EXPECT_TRUE(row(w, w.say({})).recallable);
  EXPECT_FALSE(row(w, w.say({.key = "agent:main:cron:j1"})).recallable);
  EXPECT_FALSE(row(w, w.say({.key = "agent:main:subagent:x"})).recallable);
  EXPECT_FALSE(row(w, w.say({.key = "agent:main:incognito"})).recallable);
  EXPECT_FALSE(row(w, w.say({.noise = "heartbeat"})).recallable);
  EXPECT_FALSE(row(w, w.say({.entry_class = "gateway-injected"})).recallable);
  EXPECT_FALSE(row(w, w.say({.role = "tool", .entry_class = "toolResult"})).recallable);
}

TEST(Messages, C001_of_a_session_that_no_index_names_opens_to_the_operator_alone) {
  World w;
  const Seq m = w.say({.text = "blue heron", .session = "s2", .key = "", .lane = Lane::kUnknown});
  EXPECT_TRUE(row(w, m).recallable);
  EXPECT_EQ(row(w, m).audience, kUnplacedHolder);
  EXPECT_THAT(w.found("heron"), IsEmpty());
  w.audiences.emplace_back(kUnplacedHolder);
  EXPECT_THAT(w.found("heron"), ElementsAre("blue heron"));
  w.sight(m, "s2", "agent:main:cron:j1");
  EXPECT_FALSE(row(w, m).recallable);
  EXPECT_THAT(w.found("heron"), IsEmpty());
}

TEST(Messages, a_message_of_an_unknown_session_opens_when_its_key_is_found) {
  World w;
  const Seq m = w.say({.text = "blue heron", .session = "old", .key = "", .lane = Lane::kUnknown});
  EXPECT_THAT(w.found("heron"), IsEmpty());
  w.sight(m, "old", "agent:main:telegram:direct:101");
  EXPECT_TRUE(row(w, m).recallable);
  EXPECT_EQ(row(w, m).audience, "person:telegram:101");
  EXPECT_THAT(w.found("heron"), ElementsAre("blue heron"));
}

TEST(Messages, the_agent_databases_word_on_branches_beats_the_transcripts) {
  World w;
  const Seq m1 = w.say({.at = day(0)});
  const Seq m2 = w.say({.at = day(1)});
  w.branch("s1", "transcripts", 5, {m1});
  EXPECT_EQ(row(w, m1).state, "rewound");
  w.branch("s1", "agent-db", 1, {m2});
  EXPECT_EQ(row(w, m1).state, "active");
  EXPECT_EQ(row(w, m2).state, "rewound");
  w.branch("s1", "transcripts", 6, {m1, m2});
  EXPECT_EQ(row(w, m1).state, "active");
  w.branch("s1", "agent-db", 0, {});  // older than what is known
  EXPECT_EQ(row(w, m2).state, "rewound");
}

TEST(Messages, a_fork_keeps_alive_what_its_first_session_lost) {
  World w;
  const Seq m = w.say({.at = day(0), .session = "s1"});
  w.sight(m, "s2", "agent:main:telegram:direct:101");
  w.remove_session("s1");
  EXPECT_EQ(row(w, m).state, "active");
  EXPECT_THAT(w.rows("SELECT session_id || active FROM message_sessions ORDER BY 1"),
              ElementsAre("s10", "s21"));
  EXPECT_EQ(w.one("SELECT deleted FROM sessions WHERE session_id = 's1'"), "1");
  w.remove_session("s2");
  EXPECT_EQ(row(w, m).state, "deleted");
  EXPECT_FALSE(row(w, m).recallable);
}

TEST(Messages, windows_sessions_people_and_neighbours) {
  World w;
  const Seq a = w.say({.at = day(0), .speaker = "Ada", .owner = true});
  const Seq b = w.say({.at = day(1), .role = "assistant", .parent = a});
  const Seq c = w.say({.at = day(2), .parent = b, .speaker = "Ada L."});
  const Seq d = w.say({.at = day(3), .session = "s2"});
  w.sight(a, "s2", "");
  NewEvent mark;
  mark.type = event_type::kSessionMarked;
  mark.occurred = day(5);
  mark.payload = {{"session_id", "s1"}, {"entry_id", "x"}, {"kind", "reset"}};
  w.append(mark);
  w.fold();
  EXPECT_THAT(window_messages(w.db(), "main", "s1", day(1)).value(), ElementsAre(b, c));
  EXPECT_THAT(window_messages(w.db(), "main", "s2", day(0)).value(), ElementsAre(a, d));
  EXPECT_EQ(session_messages(w.db(), "main", "s1", a, 10).value().size(), 2u);
  EXPECT_EQ(session_messages(w.db(), "main", "s1", {0}, 2).value().back().seq, b);
  const auto near = neighbours(w.db(), b).value();
  EXPECT_EQ(near.previous, a);
  EXPECT_EQ(near.next, c);
  EXPECT_FALSE(neighbours(w.db(), a).value().previous);
  EXPECT_EQ(w.one("SELECT name || ' ' || channel FROM people"), "Ada L. telegram");
  EXPECT_FALSE(is_owner(w.db(), "main", "telegram:101"));  // the newest word says no
  EXPECT_TRUE(is_owner(w.db(), "main", "owner"));
  EXPECT_EQ(w.one("SELECT messages || ' ' || first_ms || ' ' || last_ms || ' ' || last_reset_ms "
                  "FROM sessions WHERE session_id = 's1'"),
            "3 " + std::to_string(day(0).value) + " " + std::to_string(day(2).value) + " " +
                std::to_string(day(5).value));
  const std::vector<Seq> wanted = {c, {999}, a};
  const auto rows = read_messages(w.db(), wanted).value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].seq, c);
}

TEST(Messages, aliases_are_kept) {
  World w;
  const Seq m = w.say({.entry_id = "full"});
  w.sight(m, "s1", "", "12345678");
  w.fold();
  EXPECT_EQ(w.one("SELECT message FROM message_aliases WHERE entry_id = '12345678'"),
            std::to_string(m.value));
}

TEST(Messages, a_redacted_observation_leaves_what_a_rebuild_would_give) {
  World w;
  const Seq a = w.say({.at = day(0), .key = "agent:main:main", .sender = "telegram:101"});
  const Seq b = w.say({.at = day(1), .key = "agent:main:main", .role = "assistant", .parent = a});
  w.sight(a, "s2", "agent:main:main");
  w.fold();
  w.redact(a);
  w.fold();
  EXPECT_FALSE(find_message(w.db(), a).value());
  EXPECT_EQ(row(w, b).audience, "person:owner");
  EXPECT_EQ(w.one("SELECT count(*) FROM people"), "0");
  const auto before = w.digest(*w.messages);
  ASSERT_TRUE(rebuild(w.db(), *w.messages, w.clock.now(), {}).ok());
  EXPECT_EQ(w.digest(*w.messages), before);
}

}  // namespace
}  // namespace clawmark::testing_world
