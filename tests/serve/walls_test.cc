// Every caller against every secret, by every way out: inject and all five tools. Who may see what
// is one table.

#include <gtest/gtest.h>

#include "world.h"

namespace clawmark {
namespace {

struct Secret {
  std::string word, holder, session_key, sender;
  bool owner = false;
};

const std::vector<Secret> kSecrets = {
    {"salaryada", "person:telegram:101", "agent:main:telegram:direct:101", "telegram:101"},
    {"salarybob", "person:telegram:202", "agent:main:telegram:direct:202", "telegram:202"},
    {"salaryowner", "person:owner", "agent:main:main", ""},
    {"salarygroup", "group:agent:main:telegram:group:-100", "agent:main:telegram:group:-100",
     "telegram:101"},
    {"salarynotes", "session:agent:main:notes", "agent:main:notes", ""},
    {"salarycron", "", "agent:main:cron:job1", ""},
};

struct Asking {
  std::string name;
  json::object caller;
  std::vector<std::string> sees;  // words
};

json::object with(json::object caller, const std::string& key, const json::value& value) {
  caller[key] = value;
  return caller;
}

std::vector<Asking> askings() {
  const auto direct = [](const std::string& id) {
    return World::caller("agent:main:telegram:direct:" + id, id);
  };
  return {
      {"ada", direct("101"), {"salaryada"}},
      {"bob", direct("202"), {"salarybob"}},
      {"stranger", direct("303"), {}},
      {"owner at home", World::caller("agent:main:main"), {"salaryowner"}},
      {"dashboard", World::caller("agent:main:dashboard:1"), {"salaryowner"}},
      {"ada as owner", with(direct("101"), "sender_is_owner", true), {"salaryada", "salaryowner"}},
      {"group", World::caller("agent:main:telegram:group:-100", "101"), {"salarygroup"}},
      {"owner in the group",
       with(World::caller("agent:main:telegram:group:-100", "101"), "sender_is_owner", true),
       {"salarygroup"}},
      {"other group", World::caller("agent:main:telegram:group:-200", "101"), {}},
      {"group of another channel", World::caller("agent:main:discord:group:-100", "101"), {}},
      {"notes", World::caller("agent:main:notes"), {"salarynotes"}},
      {"other name", World::caller("agent:main:diary"), {}},
      {"same id elsewhere", World::caller("agent:main:discord:direct:101", "101"), {}},
      {"no sender", World::caller("agent:main:telegram:direct:101"), {}},
      {"empty sender", with(direct("101"), "sender_id", ""), {}},
      {"unknown sender", with(direct("101"), "sender_id", "unknown"), {}},
      {"no key", World::caller("", "101"), {}},
      {"strange key", World::caller("agent:main:x:y:z", "101"), {}},
      {"not a key", World::caller("telegram-101", "101"), {}},
      {"other agent",
       with(World::caller("agent:work:telegram:direct:101", "101"), "agent", "work"),
       {}},
      {"two agents", with(direct("101"), "agent", "work"), {}},
      {"nobody", json::object{}, {}},
      {"cron", World::caller("agent:main:cron:job1"), {}},
      {"sub-agent", World::caller("agent:main:subagent:x", "101"), {}},
      {"heartbeat", with(World::caller("agent:main:main"), "trigger", "heartbeat"), {}},
      {"hook", World::caller("agent:main:hook:mail"), {}},
      {"incognito", World::caller("agent:main:telegram:direct:incognito-1", "101"), {}},
  };
}

class Walls : public ::testing::Test {
 protected:
  Walls() {
    for (const Secret& secret : kSecrets) {
      world.say({.text = "my secret salary is " + secret.word,
                 .session_key = secret.session_key,
                 .session_id = "session " + secret.word,
                 .sender = secret.sender});
      if (!secret.holder.empty()) world.state(secret.holder, "user.salary", secret.word);
    }
    world.state("agent", "project.public", "publicword");
    world.embed_all();
  }
  void expect_only(const Asking& asking, const std::string& way, json::object object) {
    object.erase("query");  // the caller's own words
    const std::string answer = to_text(object);
    for (const Secret& secret : kSecrets) {
      const bool may =
          std::find(asking.sees.begin(), asking.sees.end(), secret.word) != asking.sees.end();
      if (!may) {
        EXPECT_EQ(answer.find(secret.word), std::string::npos)
            << asking.name << " saw " << secret.word << " by " << way << ": " << answer;
      }
    }
  }
  World world;
};

TEST_F(Walls, C108_C109_C111_nobody_sees_anothers_memory_by_any_way) {
  for (const Asking& asking : askings()) {
    const auto injected = world.inject(asking.caller, "what is the secret salary?");
    expect_only(asking, "inject", injected);
    // An owner has two names and one salary: the newest word counts.
    if (!asking.sees.empty()) {
      EXPECT_NE(text_of(injected, "facts_block").find(asking.sees.back()), std::string::npos)
          << asking.name;
    }
    if (!asking.sees.empty()) {
      EXPECT_NE(text_of(injected, "recall_block").find(asking.sees.front()), std::string::npos)
          << asking.name << to_text(injected);
    } else {
      EXPECT_TRUE(injected.at("items").as_array().empty()) << asking.name;
    }
    for (const std::string query :
         {"secret salary", "user.salary", "salaryada salarybob salaryowner"}) {
      const auto found =
          world.tool("clawmark_search", asking.caller, {{"query", query}, {"limit", 50}});
      expect_only(asking, "search", found.at("details").as_object());
    }
    expect_only(asking, "review", world.tool("clawmark_review", asking.caller, {{"days", 0}}));
    expect_only(asking, "reconcile", world.tool("clawmark_reconcile", asking.caller, {}));
  }
}

TEST_F(Walls, public_facts_are_for_all_callers_of_the_agent_but_closed_lanes) {
  for (const Asking& asking : askings()) {
    const auto injected = world.inject(asking.caller, "hello there");
    const bool shown = holds(injected, "publicword");
    const std::string skipped = text_of(injected, "skipped");
    const bool closed = skipped == "lane" || skipped == "incognito" ||
                        asking.name == "other agent" || asking.name == "two agents" ||
                        asking.name == "nobody";
    EXPECT_EQ(shown, !closed) << asking.name << " " << to_text(injected);
  }
}

TEST_F(Walls, nobody_changes_or_forgets_what_is_anothers) {
  for (const Asking& asking : askings()) {
    if (!asking.sees.empty()) continue;
    world.tool("clawmark_forget", asking.caller, {{"key", "user.salary"}});
    world.tool("clawmark_forget", asking.caller, {{"key", "project.public"}});
    world.tool("clawmark_set", asking.caller, {{"key", "user.salary"}, {"value", "overwritten"}});
  }
  for (const Asking& asking : askings()) {
    if (asking.sees.empty()) continue;
    const auto injected = world.inject(asking.caller, "");
    EXPECT_TRUE(holds(injected, asking.sees.back())) << asking.name;
    EXPECT_TRUE(holds(injected, "publicword")) << asking.name;
    EXPECT_FALSE(holds(injected, "overwritten")) << asking.name;
  }
}

TEST_F(Walls, what_a_caller_states_stays_behind_its_wall) {
  const auto all = askings();
  for (const Asking& asking : all) {
    const std::string word = "stated" + std::to_string(&asking - all.data()) + "x";
    const auto answer =
        world.tool("clawmark_set", asking.caller, {{"key", "user.motto"}, {"value", word}});
    if (!get_bool(answer, "ok")) continue;
    for (const Asking& other : all) {
      const auto injected = world.inject(other.caller, "");
      if (holds(injected, word)) {
        // The same person, or the same room, and nobody else.
        const auto own = get_string(asking.caller, "session_key"),
                   others = get_string(other.caller, "session_key");
        const auto is_owner = [](const json::object& who, const std::string& key) {
          return key.ends_with(":main") || key.find("dashboard") != std::string::npos ||
                 (get_bool(who, "sender_is_owner") && key.find("direct") != std::string::npos);
        };
        const bool owners = is_owner(asking.caller, own) && is_owner(other.caller, others);
        EXPECT_TRUE(own == others || owners) << asking.name << " → " << other.name;
      }
    }
  }
}

TEST_F(Walls, C111_the_reason_is_counted_in_status) {
  for (const Asking& asking : askings()) world.inject(asking.caller, "");
  const HttpAnswer answer = answer_call(*world.serving, {"GET", "/v1/status", {}, ""});
  const auto status = must(parse_json(answer.body));
  const auto& refusals = status.as_object().at("refusals").as_object();
  for (const char* reason : {"no_sender", "no_session_key", "unknown_key", "lane", "incognito",
                             "no_agent", "agent_mismatch"}) {
    EXPECT_GE(get_int(refusals, reason), 1) << reason << answer.body;
  }
}

TEST_F(Walls, an_operators_glob_opens_a_lane_for_public_facts_only) {
  world.config->inject_sessions = {"agent:main:cron:*"};
  const auto injected = world.inject(World::caller("agent:main:cron:job1"), "secret salary");
  EXPECT_TRUE(holds(injected, "publicword"));
  expect_only({"cron", {}, {}}, "inject", injected);
}

TEST_F(Walls, what_the_operator_shares_is_seen_where_the_rule_says_and_nowhere_else) {
  world.state("group:agent:main:telegram:group:-100", "project.hall", "hallword");
  world.config->share_sessions = {"agent:main:telegram:group:* > agent:main:telegram:direct:101"};
  const auto at = [&](const json::object& caller) {
    auto answer = world.inject(caller, "what is the secret salary?");
    answer.erase("query");
    return answer;
  };
  const auto ada = World::caller("agent:main:telegram:direct:101", "101");
  EXPECT_TRUE(holds(at(ada), "secret salary is salarygroup"));
  EXPECT_TRUE(holds(at(ada), "hallword"));
  EXPECT_TRUE(text_of(at(ada), "facts_block").find("salarygroup") == std::string::npos)
      << "a fact about a person is that person's";
  EXPECT_TRUE(text_of(at(ada), "facts_block").find("salaryada") != std::string::npos);
  EXPECT_TRUE(
      holds(world.tool("clawmark_search", ada, {{"query", "secret salary"}}), "salarygroup"));
  for (const Asking& asking : askings()) {
    if (asking.name == "ada" || asking.name == "ada as owner") continue;
    expect_only(asking, "inject", world.inject(asking.caller, "what is the secret salary?"));
  }
  // Seen is not owned.
  const auto shown =
      world.tool("clawmark_forget", ada, {{"query", "secret salary"}, {"preview", true}});
  EXPECT_FALSE(holds(shown, "salarygroup")) << to_text(shown);
  EXPECT_TRUE(holds(shown, "salaryada")) << to_text(shown);
}

TEST_F(Walls, what_would_be_forgotten_shows_and_takes_only_ones_own) {
  for (const Asking& asking : askings()) {
    for (const json::object& params :
         {json::object{{"query", "secret salary"}}, json::object{{"session", "session salaryada"}},
          json::object{{"person", "telegram:202"}}, json::object{{"message", "1,2,3,4,5,6"}},
          json::object{{"person", "me"}},
          json::object{{"key", "user.salary"}, {"preview", true}}}) {
      auto look = params;
      look["preview"] = true;
      const auto shown = world.tool("clawmark_forget", asking.caller, look);
      const bool owner =
          std::find(asking.sees.begin(), asking.sees.end(), "salaryowner") != asking.sees.end();
      if (owner && params.contains("person")) continue;  // an owner may look at anybody
      expect_only(asking, "forget " + to_text(params), shown);
    }
    if (!asking.sees.empty()) continue;
    for (const json::object& params :
         {json::object{{"query", "secret salary"}, {"confirm", "00000000"}},
          json::object{{"message", "1"}}, json::object{{"message", 2}}}) {
      world.tool("clawmark_forget", asking.caller, params);
    }
  }
  EXPECT_EQ(
      must(world.store.db().query_int("SELECT count(*) FROM events WHERE type LIKE '%.forgotten'")),
      0);
}

TEST_F(Walls, status_metrics_and_health_hold_nobodys_words) {
  for (const Asking& asking : askings()) world.inject(asking.caller, "secret salary");
  for (const char* target : {"/v1/status", "/metrics", "/healthz"}) {
    const HttpAnswer answer = answer_call(*world.serving, {"GET", target, {}, ""});
    for (const Secret& secret : kSecrets) {
      EXPECT_EQ(answer.body.find(secret.word), std::string::npos) << target;
    }
    EXPECT_EQ(answer.body.find("publicword"), std::string::npos) << target;
  }
}

TEST_F(Walls, the_command_line_sees_through_the_eyes_it_names_and_no_others) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> eyes = {
      {"agent", {}},
      {"owner", {"salaryowner"}},
      {"telegram:101", {"salaryada"}},
      {"person:telegram:202", {"salarybob"}},
      {"telegram:303", {}},
      {"discord:101", {}},
      {"group:agent:main:telegram:group:-100", {"salarygroup"}},
      {"group:agent:main:telegram:group:-200", {}},
      {"session:agent:main:notes", {"salarynotes"}},
      {"agent:main:telegram:direct:202", {"salarybob"}},
      {"agent:main:telegram:group:-100", {"salarygroup"}},
      {"agent:main:main", {"salaryowner"}},
      {"agent:main:cron:job1", {}},
  };
  for (const auto& [as, sees] : eyes) {
    const Asking asking{"--as " + as, {}, sees};
    const json::object question{
        {"as", as},  {"query", "secret salary"}, {"prompt", "secret salary"}, {"limit", 50},
        {"days", 0}, {"preview", true}};
    for (const char* command : {"search", "facts", "review", "inject", "forget"}) {
      auto answer = world.post("/v1/admin/" + std::string(command), {{"params", question}});
      expect_only(asking, command, answer);
      if (command == std::string("facts") && !sees.empty()) {
        EXPECT_TRUE(holds(answer, sees.front())) << as;
      }
    }
  }
}

}  // namespace
}  // namespace clawmark
