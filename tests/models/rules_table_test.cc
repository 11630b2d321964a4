// Sentences and what the built-in extractor makes of them. An empty key: it must make nothing of
// it.

#include <gtest/gtest.h>

#include "models/model.h"

namespace clawmark {
namespace {

struct Row {
  const char* said;
  const char* key;    // of the first fact; ignored when empty
  const char* value;  // ignored when empty
};

constexpr Row kStated[] = {
    // tastes
    {"I love spicy food", "pref.spicy_food", "loves spicy food"},
    {"I can't stand spicy food any more", "pref.spicy_food", "can't stand spicy food"},
    {"i really hate cilantro!", "pref.cilantro", "hates cilantro"},
    {"I don't like dark mode.", "pref.dark_mode", "doesn't like dark mode"},
    {"I prefer dark mode", "pref.dark_mode", "prefers dark mode"},
    {"I prefer tabs over spaces.", "pref.spaces_or_tabs", "prefers tabs over spaces"},
    {"I prefer spaces to tabs", "pref.spaces_or_tabs", "prefers spaces over tabs"},
    {"I like tea more than coffee", "pref.coffee_or_tea", "prefers tea over coffee"},
    {"I\xE2\x80\x99m a big fan of Miles Davis", "pref.miles_davis", "is a fan of Miles Davis"},
    {"I'm not a fan of meetings before ten", "pref.meetings", ""},
    {"Well, honestly, I love hiking because it clears my head.", "pref.hiking", "loves hiking"},
    {"I don't drink coffee", "pref.coffee", "doesn't drink coffee"},
    {"I never eat pork", "pref.pork", "doesn't eat pork"},
    {"I like brevity", "pref.brevity", "likes brevity"},
    {"I love my espresso black", "pref.espresso_black", ""},
    {"My favourite colour is green.", "pref.favorite_color", "green"},
    {"my favorite band is Radiohead", "pref.favorite_band", "Radiohead"},
    {"I enjoy woodworking a lot", "pref.woodworking", "enjoys woodworking"},
    {"I dislike long emails", "pref.long_emails", "dislikes long emails"},
    {"I'm really into bouldering these days", "pref.bouldering", "is into bouldering"},
    {"Remember that we write dates as 24 November.", "project.note_write_dates_as_24_november",
     "we write dates as 24 November"},
    // tools
    {"I use helix", "pref.editor", "helix"},
    {"I switched from vim to Helix", "pref.editor", "Helix"},
    {"I always use zsh", "pref.shell", "zsh"},
    {"I use Firefox for banking", "pref.banking", "Firefox"},
    {"I don't use Windows any more", "pref.windows", "doesn't use Windows"},
    {"I've switched to Linux", "pref.os", "Linux"},
    // how to work
    {"Always answer in German", "pref.reply_language", "German"},
    {"From now on answer in French", "pref.reply_language", "French"},
    {"Please never deploy on Fridays", "pref.deploy_on_fridays", "never deploy on Fridays"},
    {"Always deploy on Fridays", "pref.deploy_on_fridays", "always deploy on Fridays"},
    {"Always include dates when I ask about plans", "",
     "always include dates when I ask about plans"},
    {"Never use emojis", "pref.emojis", "never use emojis"},
    {"Don't use emojis", "pref.emojis", "don't use emojis"},
    {"Use pnpm instead of npm", "pref.npm_or_pnpm", "use pnpm instead of npm"},
    {"Stop using semicolons please", "pref.semicolons", "no semicolons"},
    {"Keep your answers short", "pref.answer_style", "short"},
    {"Always use tabs", "pref.tabs", "always use tabs"},
    // the project
    {"We use Postgres", "project.database", "Postgres"},
    {"We moved to SQLite", "project.database", "SQLite"},
    {"We decided to use Redis only for tests", "project.tests", "Redis"},
    {"We decided to switch the payment provider to Mollie", "project.payment_provider", "Mollie"},
    {"We changed the payment provider to Mollie", "project.payment_provider", "Mollie"},
    {"We decided to switch from Flask to FastAPI", "project.web_framework", "FastAPI"},
    {"We replaced MySQL with Postgres", "project.database", "Postgres"},
    {"We're using Postgres 16 now", "project.database", "Postgres 16"},
    {"We decided on SQLite for the cache", "project.cache", "SQLite"},
    {"Let's use port 9090", "project.port", "9090"},
    {"use port 9090", "project.port", "9090"},
    {"OK, let's go with Rust", "project.language", "Rust"},
    {"We decided to ship every second Tuesday", "project.decision_ship_every_second_tuesday", ""},
    {"The project uses CMake", "project.cmake", "uses CMake"},
    {"The staging port is 8443", "project.staging_port", "8443"},
    {"Our database is MariaDB", "project.database", "MariaDB"},
    {"We don't use Redis any more", "project.uses_redis", "doesn't use Redis"},
    {"we migrated from MySQL to Postgres", "project.database", "Postgres"},
    {"Decision: two reviewers per change", "project.decision_two_reviewers_per_change", ""},
    {"We'll use Kafka for events", "project.events", "Kafka"},
    {"The backend is written in Go", "project.language", "Go"},
    {"I decided to learn Dutch", "user.decision_learn_dutch", "decided: learn Dutch"},
    // who one is
    {"My name is Ada Lovelace", "user.name", "Ada Lovelace"},
    {"Hi, my name is max", "user.name", "max"},
    {"Call me Sam", "user.name", "Sam"},
    {"please call me Dr. Weber", "user.name", ""},
    {"My cat is called Miso", "user.cat_name", "Miso"},
    {"My dog's name is Rex", "user.dog_name", "Rex"},
    {"We have a dog named Biscuit", "user.dog_name", "Biscuit"},
    {"my wife Anna works nights", "user.wife_name", "Anna"},
    {"I live in Lisbon", "user.location", "Lisbon"},
    {"The shop opens on 2026-12-24.", "project.shop_opens", ""},
    {"The demo is on 2026-12-24.", "project.demo", ""},
    {"We chose Rails for the shop.", "project.shop", "Rails"},
    {"We decided that the first 20 buyers get a free drink.", "project.decision_first_20_buyers",
     "decided: the first 20 buyers get a free drink"},
    {"I moved to Porto last year", "user.location", "Porto"},
    {"I'm based in New York", "user.location", "New York"},
    {"I'm originally from Ghana", "user.origin", "Ghana"},
    {"I work at Acme Robotics", "user.employer", "Acme Robotics"},
    {"I work as a data engineer at Initech", "user.occupation", "data engineer"},
    {"I'm a nurse", "user.occupation", "nurse"},
    {"I'm vegan", "user.diet", "vegan"},
    {"I'm a vegetarian", "user.diet", "vegetarian"},
    {"I eat everything", "user.diet", "eats everything"},
    {"I'm allergic to peanuts", "user.allergy_peanuts", "allergic to peanuts"},
    {"I'm lactose intolerant", "user.intolerance_lactose", "lactose intolerant"},
    {"I am allergic to penicillin", "user.allergy_penicillin", "allergic to penicillin"},
    {"My badge colour is teal", "user.badge_color", "teal"},
    {"my birthday is May 3", "user.birthday", "May 3"},
    {"My timezone is Europe/Berlin", "user.timezone", "Europe/Berlin"},
    {"My employee number is 4711", "user.employee_number", "4711"},
    {"My pronouns are they/them", "user.pronouns", "they/them"},
    {"I'm left-handed", "user.left_handed", "left-handed"},
    // remember
    {"From now on invoices go to Dana", "project.invoices", "invoices go to Dana"},
    {"Remember that the office door code is on the blue card", "project.office_door_code", ""},
    {"Remember: I'm allergic to shellfish", "user.allergy_shellfish", "allergic to shellfish"},
    {"please note that the build needs Node 22", "project.build", "the build needs Node 22"},
    {"FYI my badge is blue", "user.badge", "blue"},
    {"Note to self, I love oolong", "pref.oolong", "loves oolong"},
    // several languages may stand in names
    {"My name is \xE6\x9D\x8E\xE9\x9B\xB7", "user.name", "\xE6\x9D\x8E\xE9\x9B\xB7"},
    {"I live in M\xC3\xBCnchen", "user.location", "M\xC3\xBCnchen"},
    {"I love caf\xC3\xA9 au lait", "pref.cafue9_au_lait", ""},
};

constexpr const char* kSilent[] = {
    // questions and requests
    "Do I like spicy food?",
    "Should we use Postgres?",
    "What's my name?",
    "I like tea, right?",
    "Can you use port 9090?",
    "Could you remember what I said?",
    "Why do we use Redis?",
    // hypotheticals, hedges, wishes
    "If we use Postgres, the build gets slower",
    "I would love a coffee",
    "I'd like a refund",
    "Maybe we use SQLite",
    "I wish I lived in Lisbon",
    "I might move to Berlin",
    "I think we use Postgres",
    "Suppose I live in Paris",
    "We could use Kafka",
    "When I live in Rome I'll learn to cook",
    "I don't know if I like it",
    // pointing at something out of reach
    "I love it!",
    "I love that",
    "I like your idea",
    "I love this song",
    "I hate when that happens",
    "I like how it turned out",
    "Let's use that one",
    "We decided on it",
    "I love you",
    "I love the photo",
    "I prefer the second one",
    "I'd rather not",
    "I love hearing from you",
    "I hate to say it but the build is broken",
    // passing states
    "I'm tired",
    "I'm at lunch",
    "My car is broken",
    "my phone is dead",
    "My head is killing me",
    "My boss is angry",
    "My internet is so slow today",
    "I'm a bit late",
    "I'm a mess",
    "I moved to the next chapter",
    "We moved to the second item",
    "We changed the subject to Rome",
    "We replaced the sink with a bigger tub",
    "Here is the mail from Peter: we decided to use Postgres",
    "I work from home today",
    "I live in a small flat",
    "call me later",
    "Call me crazy",
    "My point is that it works",
    "my question is simple",
    "My plan is to leave early",
    "Always nice to see you",
    "Never mind",
    "never been there",
    "Don't worry about it",
    "Don't forget the milk",
    "remember to call mom",
    "Remember when we went to Rome",
    "remember me",
    "I remember that day",
    // others' words
    "She said \"I love spicy food\"",
    "> I live in Lisbon",
    "He told me \xE2\x80\x9CI hate cilantro more than anything\xE2\x80\x9D yesterday",
    "Tom likes tea",
    "my sister loves tea",
    "They use Postgres",
    "You use vim",
    "Your name is Bob",
    // code and logs
    "```\nI love spicy food\n```",
    "```yaml\nport: 9090\nuse port 9090\n",
    "$ echo I use helix",
    "x = {\"name\": \"my name is Max\"};",
    "git commit -m 'always use tabs' && git push --force origin HEAD:main",
    // past
    "I used to live in Paris",
    "I loved that movie",
    "We used Postgres at my last job",
    "I was a nurse",
    "The demo was last Friday",
    // advice and praise
    "Remember, practice makes perfect",
    "Remember that staying positive is very important",
    "They are my rock and always cheer me on",
    "Always full of amazing memories!",
    "Never saw this coming",
    "Always format dates as \"Month Day, Year\" in lists",
    "I love to",
    "I love escaping to that world",
    "I love stories that tackle important issues",
    "I decided to try a new recipe",
    "The staff survey on January 5 showed an improvement",
    // thanks, small talk
    "thanks",
    "Sounds great, see you there!",
    "Wow, that's amazing! I'm so happy for you.",
    "Good morning! How are you?",
    "ok",
    "",
    "!!!",
    // other languages: nothing wrong may come out
    // NOLINTBEGIN(bugprone-suspicious-missing-comma): long literals stand in two lines
    "Ich liebe scharfes Essen",
    "Ich wohne in M\xC3\xBCnchen und arbeite bei Siemens",
    "Me encanta la comida picante",
    "J'adore le caf\xC3\xA9, je d\xC3\xA9teste le th\xC3\xA9",
    "Eu moro em Lisboa",
    "\xE6\x88\x91\xE5\x96\x9C\xE6\xAC\xA2\xE8\xBE\xA3\xE7\x9A\x84\xE9\xA3\x9F\xE7\x89\xA9",
    "\xE7\xA7\x81\xE3\x81\xAF\xE6\x9D\xB1\xE4\xBA\xAC\xE3\x81\xAB\xE4\xBD\x8F\xE3\x82\x93\xE3\x81"
    "\xA7\xE3\x81\x84\xE3\x81\xBE\xE3\x81\x99\xE3\x80\x82",
    "\xD0\xAF \xD0\xBB\xD1\x8E\xD0\xB1\xD0\xBB\xD1\x8E "
    "\xD0\xBE\xD1\x81\xD1\x82\xD1\x80\xD0\xBE\xD0\xB5",
    "\xD8\xA3\xD9\x86\xD8\xA7 \xD8\xA3\xD8\xAD\xD8\xA8 "
    "\xD8\xA7\xD9\x84\xD9\x82\xD9\x87\xD9\x88\xD8\xA9",
    "\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4\xEB\xA5\xBC "
    "\xEC\xA2\x8B\xEC\x95\x84\xED\x95\xB4\xEC\x9A\x94",
    "\xE0\xB9\x80\xE0\xB8\xA3\xE0\xB8\xB2\xE0\xB8\x8A\xE0\xB8\xAD\xE0\xB8\x9A\xE0\xB8\x81\xE0\xB8"
    "\xB2\xE0\xB9\x81\xE0\xB8\x9F",
    // NOLINTEND(bugprone-suspicious-missing-comma)
    // secrets never become values
    "remember: export DEPLOY_TOKEN=[secret:token] and the db password is [secret:password]",
    // bytes that are no text
    "I love \xFF\xFE\x80",
};

std::vector<ExtractedFact> extract(const std::string& text) {
  WindowMessage message{1, "user", "telegram:101", "Ada", text, {1'772'490'600'000}, false};
  auto answer = make_builtin_extractor()->extract_local(std::span(&message, 1), "Asia/Tokyo");
  return answer.ok() ? answer->facts : std::vector<ExtractedFact>{};
}

class Stated : public testing::TestWithParam<Row> {};
class Silent : public testing::TestWithParam<const char*> {};

TEST_P(Stated, gives_the_fact) {
  const Row& row = GetParam();
  const auto facts = extract(row.said);
  ASSERT_FALSE(facts.empty()) << row.said;
  if (*row.key != '\0') {
    EXPECT_EQ(facts[0].key, row.key) << row.said << " → " << facts[0].value;
  }
  if (*row.value != '\0') {
    EXPECT_EQ(facts[0].value, row.value) << row.said;
  }
  EXPECT_GE(facts[0].confidence, 0.8);
  ASSERT_EQ(facts[0].evidence.size(), 1u);
  EXPECT_NE(std::string(row.said).find(facts[0].evidence[0].quote), std::string::npos);
  EXPECT_FALSE(facts[0].evidence[0].quote.empty());
}

TEST_P(Silent, gives_nothing) {
  for (const ExtractedFact& fact : extract(GetParam())) {
    ADD_FAILURE() << GetParam() << " → " << fact.key << " = " << fact.value;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, Stated, testing::ValuesIn(kStated));
INSTANTIATE_TEST_SUITE_P(Table, Silent, testing::ValuesIn(kSilent));

}  // namespace
}  // namespace clawmark
