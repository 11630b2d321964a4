// What the index knows of a message beside its own words: what stands around it, when it was said
// and by whom, what it shows.

#include <gmock/gmock.h>

#include "projections/search_cues.h"
#include "world.h"

namespace clawmark::testing_world {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> in_context(World& w, const std::string& text) {
  w.fold();
  LexicalQuery query;
  query.text = text;
  query.agent = w.agent;
  query.audiences = w.audiences;
  query.context = true;
  std::vector<std::string> out;
  const auto answer = lexical_search(w.db(), query).value();
  for (const auto& hit : answer.hits) out.push_back(w.texts[hit.message.value]);
  return out;
}

MessageCues cues_of(World& w, Seq message) {
  w.fold();
  return found_messages(w.db(), std::span(&message, 1)).value().front().cues;
}

TEST(SearchContext, an_answer_without_the_questions_words_is_found_beside_it) {
  World w;
  for (int i = 0; i < 20; ++i) w.say({.text = "something else " + std::to_string(i)});
  w.say({.text = "Which instrument do you play?"});
  w.say({.text = "The clarinet, since school.", .role = "assistant"});
  w.say({.text = "Lovely weather by the way"});
  for (int i = 0; i < 20; ++i) w.say({.text = "more of the same " + std::to_string(i)});
  const auto found = in_context(w, "which instrument");
  EXPECT_THAT(found, IsSupersetOf({std::string("The clarinet, since school.")}));
  EXPECT_EQ(found[0], "Which instrument do you play?");
  EXPECT_EQ(found[1], "The clarinet, since school.");
  EXPECT_THAT(w.found("which instrument"), ElementsAre("Which instrument do you play?"));
}

TEST(SearchContext, neighbours_are_those_of_the_same_session_only) {
  World w;
  w.say({.text = "the heron question", .session = "s1"});
  w.say({.text = "said elsewhere", .session = "s2"});
  w.say({.text = "said next", .session = "s1"});
  EXPECT_THAT(in_context(w, "heron"), ElementsAre("the heron question", "said next"));
}

TEST(SearchContext, words_of_another_person_lift_nobodys_message) {
  World w;
  w.say({.text = "my heron secret", .sender = "telegram:102"});
  w.say({.text = "nothing to do with it"});
  EXPECT_THAT(in_context(w, "heron"), IsEmpty());
  w.audiences = {"person:telegram:102"};
  EXPECT_THAT(in_context(w, "heron"), ElementsAre("my heron secret"));
}

TEST(SearchContext, a_deleted_message_lifts_nobody) {
  World w;
  const Seq gone = w.say({.text = "heron"});
  w.say({.text = "stands beside it"});
  EXPECT_THAT(in_context(w, "heron"), ElementsAre("heron", "stands beside it"));
  w.texts.erase(gone.value);
  w.branch("s1", "transcripts", 1, {gone});
  EXPECT_THAT(in_context(w, "heron"), IsEmpty());
}

TEST(SearchContext, required_words_stay_required) {
  World w;
  w.say({.text = "blue heron"});
  w.say({.text = "beside it"});
  EXPECT_THAT(in_context(w, "\"blue heron\""), ElementsAre("blue heron"));
}

TEST(SearchDates, a_named_day_month_or_year_finds_what_was_said_then) {
  World w;
  w.say({.text = "in January", .at = day(3)});       // 2026-01-04
  w.say({.text = "the cold month", .at = day(40)});  // 2026-02-10
  w.say({.text = "last year", .at = day(-200)});     // 2025-06-15
  EXPECT_EQ(w.found("what happened in February 2026").front(), "the cold month");
  EXPECT_THAT(w.found("10 February 2026"), Contains("the cold month"));
  EXPECT_EQ(w.found("2025-06-15").front(), "last year");
  EXPECT_EQ(w.found("June 15th, 2025").front(), "last year");
  EXPECT_THAT(w.found("may I go"), IsEmpty());  // no month
}

TEST(SearchDates, days_are_named_in_many_ways) {
  const auto day = day_terms(19'485);  // 2023-05-08
  ASSERT_EQ(day.size(), 4U);
  for (const char* text : {"8 May 2023", "May 8, 2023", "May 8th 2023", "8th May, 2023",
                           "2023-05-08", "on the 8th of may 2023?"}) {
    EXPECT_THAT(named_day_terms(text, "UTC"), Contains(day[0])) << text;
    EXPECT_THAT(named_day_terms(text, "UTC"), Contains(day[3])) << text;
  }
  EXPECT_THAT(named_day_terms("in May", "UTC"), ElementsAre(day[2]));
  EXPECT_THAT(named_day_terms("they may march on", "UTC"), IsEmpty());
  EXPECT_THAT(named_day_terms("room 2023b, 99 bottles", "UTC"), Not(Contains(day[0])));
  EXPECT_THAT(day_terms(0), IsEmpty());
}

TEST(SearchDates, a_day_is_the_one_of_who_asks) {
  const auto late = day_terms(19'486);   // 2023-05-09 in UTC, evening of the 8th in Los Angeles
  const auto early = day_terms(19'484);  // the 7th in UTC, small hours of the 8th in Tokyo
  const auto asked = [](const char* zone) { return named_day_terms("8 May 2023", zone); };
  EXPECT_THAT(asked("America/Los_Angeles"), Contains(late[0]));
  EXPECT_THAT(asked("America/Los_Angeles"), Not(Contains(early[0])));
  EXPECT_THAT(asked("Asia/Tokyo"), Contains(early[0]));
  EXPECT_THAT(asked("Asia/Tokyo"), Not(Contains(late[0])));
  EXPECT_THAT(asked("UTC"), Not(AnyOf(Contains(early[0]), Contains(late[0]))));
}

TEST(SearchSpeakers, the_name_of_who_speaks_finds_what_they_say) {
  World w;
  const Seq ada = w.say({.text = "I paint on Sundays", .session = "d", .speaker = "Ada Lovelace"});
  const Seq mel = w.say({.text = "Melanie: I paint too", .role = "assistant"});
  EXPECT_THAT(w.found("Lovelace"), ElementsAre("I paint on Sundays"));
  EXPECT_EQ(cues_of(w, ada).speaker, "ada lovelac");
  EXPECT_EQ(cues_of(w, mel).speaker, "melani");
  w.remove_session("d");
  EXPECT_THAT(w.found("Lovelace"), IsEmpty());
  EXPECT_EQ(w.one("SELECT rows FROM search_terms__g1 WHERE term = 'lovelac'"), "0");
}

TEST(SearchSpeakers, a_prefix_is_a_name_only_when_it_looks_like_one) {
  EXPECT_EQ(speaker_prefix("Mira: hello"), "Mira");
  EXPECT_EQ(speaker_prefix("Jean-Luc Picard: engage"), "Jean-Luc Picard");
  for (const char* text : {"note: this", "see https://x", "12:30 is fine", "This Is Too Long A: b",
                           "Mira:", "a sentence with Mira: in it", ""}) {
    EXPECT_EQ(speaker_prefix(text), "") << text;
  }
}

TEST(SearchCues, what_a_text_shows) {
  EXPECT_EQ(text_cues("Where is it?") & kCueAsks, kCueAsks);
  EXPECT_EQ(text_cues("どこですか？") & kCueAsks, kCueAsks);
  EXPECT_EQ(text_cues("It is here."), 0U);
  EXPECT_EQ(text_cues("we met last week"), kCueTime);
  EXPECT_EQ(text_cues("you may go"), 0U);
  EXPECT_EQ(text_cues("on May 9"), kCueTime | kCueNumber);
  EXPECT_EQ(text_cues("a couple of dogs"), kCueNumber);
  EXPECT_EQ(text_cues("Always answer in French when I ask about food.") & kCueStanding,
            kCueStanding);
  EXPECT_EQ(text_cues("We always went there") & kCueStanding, 0U);
  EXPECT_EQ(text_cues("I prefer tabs") & kCuePrefers, kCuePrefers);
}

TEST(SearchCues, what_a_question_asks_for) {
  EXPECT_TRUE(query_cues("When did Ada move?").asks_when);
  EXPECT_TRUE(query_cues("which year was that").asks_when);
  EXPECT_FALSE(query_cues("whenever").asks_when);
  EXPECT_TRUE(query_cues("How many cats?").asks_how_many);
  EXPECT_TRUE(query_cues("What did you recommend to me?").asks_agent);
  EXPECT_FALSE(query_cues("How would you do it?").asks_agent);
}

TEST(SearchCues, two_that_talk_alike_are_peers_and_a_long_winded_assistant_is_not) {
  World w;
  Seq alike, talker;
  for (int i = 0; i < 8; ++i) {
    w.say({.text = "some words of mine", .session = "peers"});
    alike = w.say({.text = "some words of his own", .session = "peers", .role = "assistant"});
    w.say({.text = "some words of mine", .session = "chat"});
    std::string lengthy;
    for (int n = 0; n < 100; ++n) lengthy += "words upon words ";
    talker = w.say({.text = lengthy, .session = "chat", .role = "assistant"});
  }
  EXPECT_TRUE(cues_of(w, alike).among_peers);
  EXPECT_FALSE(cues_of(w, talker).among_peers);
}

TEST(SearchCues, an_answer_follows_anothers_question) {
  World w;
  for (int i = 0; i < 8; ++i) {
    w.say({.text = "some words of mine"});
    w.say({.text = "some words of his own", .role = "assistant"});
  }
  const Seq asked = w.say({.text = "Where to?"});
  const Seq answer = w.say({.text = "To the lake", .role = "assistant"});
  EXPECT_FALSE(cues_of(w, asked).answers);
  EXPECT_TRUE(cues_of(w, answer).answers);
  w.say({.text = "And when?", .session = "chat"});
  const Seq assistant = w.say({.text = "At noon", .session = "chat", .role = "assistant"});
  EXPECT_FALSE(cues_of(w, assistant).answers) << "an assistant always answers";
}

}  // namespace
}  // namespace clawmark::testing_world
