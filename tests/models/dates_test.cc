#include <gtest/gtest.h>

#include "models/rules/dates.h"

namespace clawmark::rules {
namespace {

constexpr TimeMs kTuesday{1'772'490'600'000};  // 2026-03-03 07:30 in Tokyo, still Monday in UTC

std::string resolve(std::string_view words, std::string_view zone = "Asia/Tokyo",
                    TimeMs said = kTuesday) {
  const auto clauses = split_clauses(words);
  if (clauses.empty()) return "no clause";
  const auto found = find_date(clauses[0], 0, said, zone);
  return found ? found->text : "none";
}

TEST(Dates, words_resolve_from_the_day_it_was_said) {
  EXPECT_EQ(resolve("the demo is this Friday at 9"), "2026-03-06 09:00 +09:00");
  EXPECT_EQ(resolve("the demo is on Friday at 9:30"), "2026-03-06 09:30 +09:00");
  EXPECT_EQ(resolve("the demo is next Friday at 5 pm"), "2026-03-13 17:00 +09:00");
  EXPECT_EQ(resolve("the demo is tomorrow at noon"), "2026-03-04 12:00 +09:00");
  EXPECT_EQ(resolve("the demo is on Tuesday"), "2026-03-10 +09:00");
  EXPECT_EQ(resolve("the demo is this Tuesday at 17:00"), "2026-03-03 17:00 +09:00");
  EXPECT_EQ(resolve("the demo is in two weeks"), "2026-03-17 +09:00");
  EXPECT_EQ(resolve("the demo is on March 5th at 3"), "2026-03-05 15:00 +09:00");
  EXPECT_EQ(resolve("the demo is on the 5th of January"), "2027-01-05 +09:00");
  EXPECT_EQ(resolve("the demo is on 2026-12-24"), "2026-12-24 +09:00");
  EXPECT_EQ(resolve("the demo is on 24 December 2028"), "2028-12-24 +09:00");
  EXPECT_EQ(resolve("we meet at 9am on Friday"), "2026-03-06 09:00 +09:00");
}

TEST(Dates, the_zone_decides_the_day_and_the_offset) {
  EXPECT_EQ(resolve("the demo is tomorrow at 9", "UTC"), "2026-03-03 09:00 +00:00");
  EXPECT_EQ(resolve("the demo is on April 5 at 9", "Europe/Berlin"), "2026-04-05 09:00 +02:00");
  EXPECT_EQ(resolve("the demo is tomorrow at 9", "No/Where"), "2026-03-03 09:00 +00:00");
}

TEST(Dates, what_is_past_or_no_date_is_left_alone) {
  for (const char* words :
       {"the demo was on Friday", "the demo is over", "the demo was 3 days ago", "I sat down at 9",
        "we met last Friday", "it may work out", "the demo is on February 30", "the sun is out",
        "standup is every Monday at 9"}) {
    EXPECT_EQ(resolve(words), "none") << words;
  }
}

}  // namespace
}  // namespace clawmark::rules
