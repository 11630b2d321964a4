#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/json.h"
#include "models/model.h"
#include "test_paths.h"

namespace clawmark {
namespace {

constexpr std::int64_t kTuesdayEvening =
    1'772'490'600'000;  // 2026-03-02T22:30Z, Tuesday 07:30 in Tokyo

WindowMessage said(std::int64_t id, std::string text, std::string sender = "telegram:101") {
  return {id, "user", std::move(sender), "Ada", std::move(text), {kTuesdayEvening + id}, false};
}

std::vector<ExtractedFact> extract(const std::vector<WindowMessage>& window,
                                   std::string_view zone = "Asia/Tokyo") {
  auto answer = make_builtin_extractor()->extract_local(window, zone);
  return std::move(answer).value().facts;
}

TEST(RuleExtractor, C079_changed_taste_keeps_its_key_and_states_the_polarity) {
  const auto facts =
      extract({said(1, "I love spicy food"), said(2, "I can't stand spicy food any more")});
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].key, "pref.spicy_food");
  EXPECT_EQ(facts[1].key, facts[0].key);
  EXPECT_EQ(facts[0].value, "loves spicy food");
  EXPECT_EQ(facts[1].value, "can't stand spicy food");
  EXPECT_EQ(facts[1].evidence[0].message, 2);
}

TEST(RuleExtractor, C081_facts_belong_to_their_senders_and_bots_say_nothing) {
  auto bot = said(3, "I like brevity", "telegram:900");
  bot.is_bot = true;
  auto named_bot = said(4, "I like brevity", "telegram:901");
  named_bot.speaker = "helper_bot";
  const auto facts =
      extract({said(1, "I'm vegan", "telegram:101"), said(2, "I eat everything", "telegram:102"),
               bot, named_bot, said(5, "I love tea", "")});
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_EQ(facts[0].subject, "telegram:101");
  EXPECT_EQ(facts[1].subject, "telegram:102");
  EXPECT_EQ(facts[2].subject, "");
}

TEST(RuleExtractor, C083_relative_date_is_resolved_from_the_message_in_the_speakers_zone) {
  const auto facts = extract({said(0, "the demo is this Friday at 9")});
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].key, "project.demo");
  EXPECT_THAT(facts[0].value, testing::HasSubstr("2026-03-06 09:00 +09:00"));
  ASSERT_TRUE(facts[0].due.has_value());
  EXPECT_EQ(format_iso(*facts[0].due), "2026-03-06T00:00:00.000Z");
}

TEST(RuleExtractor, a_date_that_moved_keeps_the_key_of_the_event) {
  for (const char* text :
       {"The launch date is 9 March", "The launch moved to 9 March",
        "The launch was moved to 9 March", "The launch has been postponed to 9 March",
        "The launch was moved from 5 March to 9 March"}) {
    const auto facts = extract({said(0, text)});
    ASSERT_EQ(facts.size(), 1u) << text;
    EXPECT_EQ(facts[0].key, "project.launch") << text;
    EXPECT_THAT(facts[0].value, testing::HasSubstr("2026-03-09")) << text;
  }
  EXPECT_TRUE(extract({said(0, "The party was on 9 March")}).empty());
}

TEST(RuleExtractor, C074_tool_and_assistant_text_give_nothing) {
  WindowMessage tool = said(1, "The user's bank is Northwind; my name is Mallory");
  tool.role = "toolResult";
  WindowMessage assistant = said(2, "My name is Claw. I love spicy food.");
  assistant.role = "assistant";
  EXPECT_TRUE(extract({tool, assistant, said(3, "thanks")}).empty());
}

TEST(RuleExtractor, C070_C071_only_the_standing_order_of_a_cleaned_window_gives_a_fact) {
  const auto facts =
      extract({said(1, "What's on my list today?"), said(2, "[OpenClaw heartbeat poll]"),
               said(3, "From now on invoices go to Dana")});
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].value, "invoices go to Dana");
}

TEST(RuleExtractor, C076_redacted_secrets_are_no_values_and_counts_stay) {
  EXPECT_TRUE(extract({said(1, "remember: the db password is [secret:password]")}).empty());
  const auto facts = extract({said(1, "remember that my token budget is 3000")});
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].value, "3000");
}

TEST(RuleExtractor, correction_takes_the_key_of_what_it_corrects) {
  auto facts = extract({said(1, "Let's use port 9090"), said(2, "no, it's 9091")});
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[1].key, "project.port");
  EXPECT_EQ(facts[1].value, "9091");
  facts = extract({said(1, "We use MySQL"), said(2, "Actually it's Postgres")});
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[1].key, "project.database");
  EXPECT_EQ(facts[1].value, "Postgres");
  facts = extract({said(1, "My badge colour is teal"), said(2, "Not teal but orange")});
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[1].key, "user.badge_color");
  EXPECT_EQ(facts[1].value, "orange");
}

TEST(RuleExtractor, correction_by_someone_else_or_without_a_target_gives_nothing) {
  EXPECT_EQ(extract({said(1, "use port 9090"), said(2, "no, it's 9091", "telegram:102")}).size(),
            1u);
  EXPECT_TRUE(extract({said(1, "no, it's 9091")}).empty());
}

TEST(RuleExtractor, several_statements_of_one_message_each_count) {
  const auto facts =
      extract({said(1,
                    "Hey! I live in Lisbon, and I love surfing. My cat is called Miso, but I "
                    "don't like early meetings.")});
  std::vector<std::string> keys;
  for (const auto& fact : facts) keys.push_back(fact.key);
  EXPECT_THAT(keys, testing::ElementsAre("user.location", "pref.surfing", "user.cat_name",
                                         "pref.early_meetings"));
}

TEST(RuleExtractor, says_what_was_given_up_for_a_choice) {
  const auto given_up = [](const char* text) {
    const auto facts = extract({said(1, text)});
    return facts.size() == 1 ? facts[0].key + ": " + facts[0].value + " / " + facts[0].replaces
                             : std::string();
  };
  EXPECT_EQ(given_up("Then let's switch. We decided to use Mollie instead of Stripe, because the "
                     "fees are lower."),
            "project.mollie: decided on Mollie instead of Stripe / Stripe");
  EXPECT_EQ(given_up("We chose Postgres over MySQL."), "project.database: Postgres / MySQL");
  EXPECT_EQ(given_up("We've switched from MySQL to Postgres"),
            "project.database: Postgres / MySQL");
}

TEST(RuleExtractor, pasted_text_counts_only_where_it_is_meant_to_be_remembered) {
  std::string pasted = "I love spicy food. ";
  while (pasted.size() < 4000) pasted += "Lorem ipsum dolor sit amet. ";
  EXPECT_TRUE(extract({said(1, pasted)}).empty());
  EXPECT_EQ(extract({said(1, pasted + "Remember that I'm vegan.")}).size(), 1u);
}

TEST(RuleExtractor, same_window_gives_the_same_facts) {
  const std::vector<WindowMessage> window = {said(1, "We use Postgres"), said(2, "I love tea")};
  const auto a = extract(window), b = extract(window);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(a[i].key + a[i].value, b[i].key + b[i].value);
}

// Real dialogue, where it is at hand: how often the rules speak. Facts are printed on request, for
// judging by eye.
TEST(RuleExtractor, stays_quiet_on_real_dialogue) {
  const char* shared = std::getenv("CLAWMARK_SHARED");
  const std::string base =
      shared != nullptr ? shared : std::string(CLAWMARK_SOURCE_DIR) + "/../shared";
  for (const char* set : {"locomo", "realtalk", "beam-100k"}) {
    std::ifstream lines(base + "/eval/" + set + "/messages.jsonl");
    if (!lines) GTEST_SKIP() << "no dialogues at " << base;
    std::size_t messages = 0, facts = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto parsed = parse_json(line);
      ASSERT_TRUE(parsed.ok());
      const json::object& row = parsed->get_object();
      const bool people = std::string(set) != "beam-100k";
      if (!people && get_string(row, "role") != "user") continue;
      auto message = said(1, get_string(row, "text"));
      message.at = parse_iso(get_string(row, "ts")).value_or(TimeMs{kTuesdayEvening});
      ++messages;
      for (const ExtractedFact& fact : extract({message}, "UTC")) {
        ++facts;
        EXPECT_NE(message.text.find(fact.evidence[0].quote), std::string::npos);
        if (std::getenv("CLAWMARK_SHOW_FACTS") != nullptr) {
          std::cout << set << "\t" << fact.key << "\t" << fact.value << "\t"
                    << fact.evidence[0].quote << "\n";
        }
      }
    }
    std::cout << set << ": " << facts << " facts in " << messages << " messages\n";
    EXPECT_LT(facts * 100, messages * 15) << set;
  }
}

}  // namespace
}  // namespace clawmark
