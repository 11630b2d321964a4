#include <gtest/gtest.h>

#include "serve/caller.h"
#include "world.h"

namespace clawmark {
namespace {

class CallerTest : public ::testing::Test {
 protected:
  Sight sight(Caller caller, std::vector<std::string> globs = {}) {
    if (caller.agent == "-") caller.agent.clear();
    return sight_of(caller, globs, world.store.db());
  }
  static Caller from(const std::string& key, const std::string& sender = "") {
    Caller caller;
    caller.agent = "main";
    caller.session_key = key;
    caller.sender_id = sender;
    return caller;
  }
  World world;
};

using List = std::vector<std::string>;

TEST_F(CallerTest, a_direct_chat_opens_its_own_person_and_the_agent) {
  const Sight s = sight(from("agent:main:telegram:direct:101", "101"));
  EXPECT_TRUE(s.open());
  EXPECT_EQ(s.holders, (List{"person:telegram:101", "agent"}));
  EXPECT_EQ(s.audiences, (List{"person:telegram:101"}));
  EXPECT_EQ(s.home, "person:telegram:101");
}

TEST_F(CallerTest, an_owner_known_to_the_log_also_sees_what_the_owner_said_elsewhere) {
  world.say({.text = "hello", .owner = true});
  const Sight s = sight(from("agent:main:telegram:direct:101", "101"));
  EXPECT_EQ(s.holders, (List{"person:telegram:101", "person:owner", "agent"}));
}

TEST_F(CallerTest, an_owner_surface_without_sender_is_the_owner) {
  for (const char* key : {"agent:main:main", "agent:main:dashboard:abc"}) {
    const Sight s = sight(from(key));
    EXPECT_EQ(s.holders, (List{"person:owner", "agent"})) << key;
    EXPECT_EQ(s.home, "person:owner");
  }
}

TEST_F(CallerTest, a_known_stranger_on_an_owner_surface_is_only_himself) {
  Caller caller = from("agent:main:main", "202");
  caller.channel = "telegram";
  EXPECT_EQ(sight(caller).holders, (List{"person:telegram:202", "agent"}));
}

TEST_F(CallerTest, a_search_that_names_no_sender_is_closed_where_strangers_speak) {
  Caller caller = from("agent:main:main");
  caller.trigger = "memory_search";
  EXPECT_TRUE(sight(caller).open());
  world.say({.text = "hi there", .session_key = "agent:main:main", .sender = "telegram:202"});
  EXPECT_EQ(sight(caller).refusal, Refusal::kSharedSurface);
  EXPECT_EQ(sight(caller).holders, (List{"agent"}));
}

TEST_F(CallerTest, one_person_in_the_direct_chat_of_another_is_closed) {
  const std::string chat = "agent:main:telegram:direct:202";
  // A chat that the host keys by a name of its own is still its speaker's.
  EXPECT_EQ(sight(from(chat, "101")).home, "person:telegram:101");
  world.say({.text = "hi there", .session_key = chat, .sender = "telegram:202"});
  const Sight s = sight(from(chat, "101"));
  EXPECT_EQ(s.refusal, Refusal::kOtherPerson);
  EXPECT_EQ(s.holders, (List{"agent"}));
  EXPECT_TRUE(s.audiences.empty() && s.writable.empty());
  EXPECT_EQ(sight(from(chat, "202")).home, "person:telegram:202");
  EXPECT_EQ(sight(from(chat + ":thread:9", "202")).home, "person:telegram:202");
}

TEST_F(CallerTest, a_group_opens_the_group_and_no_person_not_even_for_an_owner) {
  Caller caller = from("agent:main:telegram:group:-100", "101");
  caller.sender_is_owner = true;
  const Sight s = sight(caller);
  EXPECT_EQ(s.holders, (List{"group:agent:main:telegram:group:-100", "agent"}));
  EXPECT_EQ(s.audiences, (List{"group:agent:main:telegram:group:-100"}));
  EXPECT_EQ(s.subject, "telegram:101");
}

TEST_F(CallerTest, a_thread_sees_its_group_but_the_group_not_the_thread) {
  const std::string group = "agent:main:slack:group:C1";
  const Sight in_thread = sight(from(group + ":thread:9", "U1"));
  EXPECT_EQ(in_thread.audiences, (List{"group:" + group + ":thread:9", "group:" + group}));
  EXPECT_EQ(sight(from(group, "U1")).audiences, (List{"group:" + group}));
}

TEST_F(CallerTest, a_conversation_opened_by_name_has_its_own_memory) {
  const Sight s = sight(from("agent:main:notes"));
  EXPECT_EQ(s.holders, (List{"session:agent:main:notes", "agent"}));
}

TEST_F(CallerTest, C111_missing_or_unknown_identity_fails_closed) {
  const std::string direct = "agent:main:telegram:direct:101";
  const std::pair<Caller, Refusal> cases[] = {
      {from(direct), Refusal::kNoSender},
      {from(direct, "unknown"), Refusal::kNoSender},
      {from(direct, "null"), Refusal::kNoSender},
      {from(""), Refusal::kNoSessionKey},
      {from("", "101"), Refusal::kNoSessionKey},
      {from("weird", "101"), Refusal::kUnknownKey},
      {from("agent:main:a:b:c", "101"), Refusal::kUnknownKey},
      {from("agent:main:main", "unknown"), Refusal::kNoSender},
  };
  for (const auto& [caller, why] : cases) {
    const Sight s = sight(caller);
    EXPECT_EQ(s.refusal, why) << caller.session_key << " " << caller.sender_id;
    EXPECT_EQ(s.holders, (List{"agent"})) << caller.session_key;
    EXPECT_TRUE(s.audiences.empty());
    EXPECT_TRUE(s.home.empty());
    EXPECT_EQ(s.skipped(), "no_identity");
  }
}

TEST_F(CallerTest, without_an_agent_or_with_two_nothing_is_seen) {
  Caller nobody = from("", "101");
  nobody.agent = "-";
  EXPECT_EQ(sight(nobody).refusal, Refusal::kNoAgent);
  EXPECT_TRUE(sight(nobody).holders.empty());
  const Sight two = sight(from("agent:other:telegram:direct:101", "101"));
  EXPECT_EQ(two.refusal, Refusal::kAgentMismatch);
  EXPECT_TRUE(two.holders.empty());
  EXPECT_TRUE(two.scope.agent.empty());
}

TEST_F(CallerTest, background_lanes_see_nothing_until_a_glob_opens_them) {
  for (const char* key : {"agent:main:cron:job1", "agent:main:subagent:x", "agent:main:heartbeat",
                          "agent:main:hook:mail"}) {
    EXPECT_EQ(sight(from(key)).refusal, Refusal::kLane) << key;
    EXPECT_TRUE(sight(from(key)).holders.empty());
    EXPECT_EQ(sight(from(key), {"agent:main:cron:other"}).skipped(), "lane");
    EXPECT_EQ(sight(from(key), {"agent:main:*"}).holders, (List{"agent"})) << key;
  }
  Caller heartbeat = from("agent:main:main");
  heartbeat.trigger = "heartbeat";
  EXPECT_EQ(sight(heartbeat).refusal, Refusal::kLane);
}

TEST_F(CallerTest, incognito_sees_nothing_whoever_asks) {
  const Sight s = sight(from("agent:main:telegram:direct:incognito-101", "101"), {"*"});
  EXPECT_EQ(s.skipped(), "incognito");
  EXPECT_TRUE(s.holders.empty());
  EXPECT_TRUE(s.home.empty());
}

TEST_F(CallerTest, odd_members_count_as_missing) {
  const auto parsed = must(parse_json(
      R"({"agent":7,"session_key":["x"],"sender_id":" 101 ","sender_is_owner":"yes","channel":null})"));
  const Caller caller = parse_caller(parsed.as_object());
  EXPECT_TRUE(caller.agent.empty());
  EXPECT_TRUE(caller.session_key.empty());
  EXPECT_EQ(caller.sender_id, "101");
  EXPECT_FALSE(caller.sender_is_owner);
}

TEST_F(CallerTest, the_operator_can_borrow_anybodys_eyes_but_never_another_agents) {
  EXPECT_EQ(must(sight_as("main", "telegram:101")).home, "person:telegram:101");
  EXPECT_EQ(must(sight_as("main", "person:telegram:101")).home, "person:telegram:101");
  EXPECT_EQ(must(sight_as("main", "agent")).home, "agent");
  EXPECT_EQ(must(sight_as("main", "agent:main:telegram:group:-1")).home,
            "group:agent:main:telegram:group:-1");
  EXPECT_FALSE(sight_as("main", "agent:other:telegram:group:-1").ok());
  EXPECT_FALSE(sight_as("main", "").ok());
  for (const char* nobody : {"nonsense", "person:nonsense", "group:-1", ":1",
                             "telegram:", "bogus::", "bo gus:1", "telegram: "}) {
    EXPECT_FALSE(sight_as("main", nobody).ok()) << nobody;
  }
}

}  // namespace
}  // namespace clawmark
