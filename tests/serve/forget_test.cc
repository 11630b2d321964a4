// clawmark_forget: what a caller may take away, what goes with it, and what a model must show
// first.

#include <gtest/gtest.h>

#include "world.h"

namespace clawmark {
namespace {

const json::object kAda = World::caller("agent:main:telegram:direct:101", "101");
const json::object kBob = World::caller("agent:main:telegram:direct:202", "202");
const json::object kOwner = World::caller("agent:main:main");
const json::object kGroup = World::caller("agent:main:telegram:group:-100", "101");

class Forget : public ::testing::Test {
 protected:
  json::object forget(const json::object& params, const json::object& who = kAda) {
    return world.tool("clawmark_forget", who, params);
  }
  bool recalled(const std::string& word, const std::string& query, const json::object& who = kAda) {
    const auto found = world.tool("clawmark_search", who, {{"query", query}, {"limit", 50}});
    const auto injected = world.inject(who, query);
    const std::string all = to_text(found.at("details").as_object().at("recalled")) +
                            to_text(found.at("details").as_object().at("facts")) +
                            text_of(injected, "facts_block") + text_of(injected, "recall_block");
    return all.find(word) != std::string::npos;
  }
  static json::object details(const json::object& answer) {
    return answer.at("details").as_object();
  }
  World world;
};

TEST_F(Forget, C142_C121_a_stated_fact_goes_with_the_words_that_it_came_from) {
  const Seq old = world.say({.text = "my grandmother kept an alpha lantern in the attic",
                             .at = {world.clock.now().value - 30 * kDayMs}});
  world.say({.text = "remember the probe is the alpha lantern", .at = world.clock.now()});
  world.say({.text = "Noted: alpha lantern.",
             .sender = "",
             .role = "assistant",
             .at = {world.clock.now().value + 500}});
  world.tool("clawmark_set", kAda, {{"key", "user.probe"}, {"value", "alpha lantern"}});
  world.embed_all();
  ASSERT_TRUE(recalled("probe is the alpha", "which probe is it, the alpha lantern?"));
  const auto done = forget({{"key", "user.probe"}});
  EXPECT_TRUE(get_bool(details(done), "forgotten")) << to_text(done);
  EXPECT_EQ(get_int(details(done), "sources"), 2) << to_text(done);
  EXPECT_FALSE(recalled("probe is the alpha", "which probe is it, the alpha lantern?"));
  EXPECT_FALSE(recalled("Noted: alpha", "noted alpha lantern"));
  EXPECT_TRUE(recalled("grandmother", "grandmother attic lantern"))
      << "told on another day and about something else: " << old.value;
}

TEST_F(Forget, what_repeats_a_fact_in_other_words_goes_with_it) {
  const Seq said = world.say({.text = "I prefer oat milk"});
  world.say({.text = "Noted: oat milk it is.", .sender = "", .role = "assistant"});
  world.say({.text = "As I said, I prefer oat milk"});
  world.say({.text = "Yes, oat it is", .sender = "", .role = "assistant"});
  world.say({.text = "the oat harvest was poor", .at = {world.clock.now().value + 3 * kDayMs}});
  world.conclude("person:telegram:101", "pref.oat_milk", "prefers oat milk", said);
  world.embed_all();
  ASSERT_TRUE(recalled("Noted: oat", "do I prefer oat milk?"));
  forget({{"key", "pref.oat_milk"}});
  for (const char* gone : {"Noted: oat", "As I said", "Yes, oat"}) {
    EXPECT_FALSE(recalled(gone, "do I prefer oat milk?")) << gone;
  }
  EXPECT_TRUE(recalled("harvest", "how was the oat harvest?"));
}

TEST_F(Forget, a_concluded_fact_goes_with_its_evidence_and_other_facts_of_it_stay) {
  const Seq said = world.say({.text = "I use helix and my dentist is Dr. Wong"});
  world.conclude("person:telegram:101", "pref.editor", "helix", said);
  world.conclude("person:telegram:101", "user.dentist", "Dr. Wong", said);
  forget({{"key", "pref.editor"}});
  EXPECT_FALSE(recalled("helix", "which editor, helix?"));
  EXPECT_NE(text_of(world.inject(kAda, ""), "facts_block").find("Dr. Wong"), std::string::npos);
}

TEST_F(Forget, a_message_goes_with_the_answer_to_it_and_only_its_own_person_may) {
  const Seq said = world.say({.text = "the gate code is blue heron"});
  world.say({.text = "Blue heron, I will remember.", .sender = "", .role = "assistant"});
  world.say({.text = "and we sail on sunday"});
  const json::object params{{"message", std::to_string(said.value)}};
  EXPECT_FALSE(get_bool(forget(params, kBob), "ok"));
  EXPECT_FALSE(get_bool(forget(params, kGroup), "ok"));
  EXPECT_TRUE(recalled("heron", "gate code heron"));
  const auto done = forget(params);
  EXPECT_EQ(get_int(details(done), "messages"), 2) << to_text(done);
  EXPECT_FALSE(recalled("heron", "gate code heron"));
  EXPECT_TRUE(recalled("sunday", "when do we sail"));
}

TEST_F(Forget, a_query_is_shown_first_and_done_exactly_as_shown) {
  world.say({.text = "the surgery at Marienhof is on friday"});
  world.say({.text = "Marienhof has a nice garden"});
  world.tool("clawmark_set", kAda, {{"key", "user.surgery"}, {"value", "at Marienhof on friday"}});
  const json::object params{{"query", "surgery Marienhof"}};
  const auto shown = forget(params);
  EXPECT_TRUE(get_bool(details(shown), "preview"));
  EXPECT_EQ(details(shown).at("messages").as_array().size(), 1U) << to_text(shown);
  EXPECT_EQ(details(shown).at("facts").as_array().size(), 1U);
  EXPECT_TRUE(recalled("surgery at", "surgery Marienhof"));
  auto wrong = params;
  wrong["confirm"] = "00000000";
  EXPECT_TRUE(get_bool(details(forget(wrong)), "preview"));
  auto right = params;
  right["confirm"] = text_of(details(shown), "confirm");
  EXPECT_TRUE(get_bool(details(forget(right)), "forgotten"));
  EXPECT_FALSE(recalled("surgery at", "surgery Marienhof"));
  EXPECT_TRUE(recalled("garden", "Marienhof garden"));
  EXPECT_TRUE(text_of(world.inject(kAda, ""), "facts_block").empty());
}

TEST_F(Forget, a_query_reaches_nobody_elses_words) {
  world.say({.text = "my salary is 4321 thalers"});
  auto params = json::object{{"query", "salary thalers"}};
  const auto shown = forget(params, kBob);
  EXPECT_EQ(to_text(shown).find("4321"), std::string::npos);
  EXPECT_FALSE(get_bool(details(shown), "forgotten", true));
  EXPECT_TRUE(recalled("4321", "salary thalers"));
}

TEST_F(Forget, the_current_session_goes_as_a_whole) {
  world.say({.text = "first about the regatta", .session_id = "now"});
  world.say({.text = "second about the regatta", .session_id = "now"});
  world.say({.text = "third about the regatta", .session_id = "before"});
  const auto shown = forget({{"session", "current"}});
  const auto done =
      forget({{"session", "current"}, {"confirm", text_of(details(shown), "confirm")}});
  EXPECT_EQ(get_int(details(done), "messages"), 2) << to_text(done);
  EXPECT_FALSE(recalled("first about", "regatta"));
  EXPECT_TRUE(recalled("third about", "regatta"));
}

TEST_F(Forget, in_a_group_each_takes_back_only_what_they_said) {
  const auto in_group = [&](const std::string& text, const std::string& sender) {
    return world.say({.text = text,
                      .session_key = "agent:main:telegram:group:-100",
                      .session_id = "g1",
                      .sender = sender});
  };
  in_group("the regatta prize is a silver bowl", "telegram:101");
  const Seq bobs = in_group("the regatta starts at noon", "telegram:202");
  EXPECT_FALSE(get_bool(forget({{"message", bobs.value}}, kGroup), "ok"));
  const auto shown = forget({{"query", "regatta"}}, kGroup);
  EXPECT_EQ(details(shown).at("messages").as_array().size(), 1U) << to_text(shown);
}

TEST_F(Forget, a_person_is_forgotten_by_themselves_or_by_the_owner) {
  world.say({.text = "I race dinghies"});
  world.tool("clawmark_set", kAda, {{"key", "user.sport"}, {"value", "dinghies"}});
  EXPECT_FALSE(get_bool(forget({{"person", "telegram:101"}}, kBob), "ok"));
  EXPECT_TRUE(recalled("dinghies", "dinghies"));
  const auto shown = forget({{"person", "me"}});
  EXPECT_TRUE(get_bool(details(shown), "preview"));
  const auto by_owner = forget({{"person", "telegram:101"}}, kOwner);
  const auto done = forget(
      {{"person", "telegram:101"}, {"confirm", text_of(details(by_owner), "confirm")}}, kOwner);
  EXPECT_TRUE(get_bool(details(done), "forgotten")) << to_text(done);
  EXPECT_FALSE(recalled("dinghies", "dinghies"));
}

TEST_F(Forget, C171_what_is_set_changed_and_forgotten_leaves_words_and_trigrams_sound) {
  world.say({.text = "remember the probe is the alpha lantern", .at = world.clock.now()});
  world.tool("clawmark_set", kAda, {{"key", "user.probe"}, {"value", "alpha lantern"}});
  world.tool("clawmark_set", kAda, {{"key", "user.probe"}, {"value", "alpha lanterns"}});
  world.fold();
  const auto by_pattern = [&] {
    return to_text(world.tool("rc_grep", kAda,
                              {{"pattern", "alph. lant"}, {"mode", "regex"}, {"scope", "all"}}));
  };
  ASSERT_NE(by_pattern().find("probe"), std::string::npos) << by_pattern();
  ASSERT_TRUE(recalled("probe is", "alpha lantern"));
  ASSERT_TRUE(get_bool(details(forget({{"key", "user.probe"}})), "forgotten"));
  world.fold();
  EXPECT_EQ(by_pattern().find("probe"), std::string::npos) << by_pattern();
  EXPECT_FALSE(recalled("probe is", "alpha lantern"));
  auto tables = must(
      world.store.db().prepare("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5(%'"));
  int checked = 0;
  for (; must(tables.step()); ++checked) {
    const std::string name = tables.string(0);
    must(world.store.db().exec(
        ("INSERT INTO " + name + "(" + name + ", rank) VALUES('integrity-check', 0)").c_str()));
  }
  EXPECT_GT(checked, 0);
}

TEST_F(Forget, only_the_owner_has_the_files_rewritten) {
  world.tool("clawmark_set", kAda, {{"key", "user.sport"}, {"value", "dinghies"}});
  const auto refused = forget({{"key", "user.sport"}, {"purge", true}});
  EXPECT_TRUE(get_bool(details(refused), "forgotten"));
  EXPECT_FALSE(details(refused).contains("purge"));
  world.tool("clawmark_set", kOwner, {{"key", "user.sport"}, {"value", "dinghies"}});
  const auto done = forget({{"key", "user.sport"}, {"purge", true}}, kOwner);
  EXPECT_EQ(text_of(details(done).at("purge").as_object(), "ran"), "purge") << to_text(done);
}

TEST_F(Forget, what_is_not_said_is_asked_for) {
  const auto answer = forget({});
  EXPECT_FALSE(get_bool(answer, "ok"));
  EXPECT_NE(text_of(answer, "text").find("key"), std::string::npos);
  EXPECT_FALSE(get_bool(forget({{"message", "soup"}}), "ok"));
}

}  // namespace
}  // namespace clawmark
