// Times as text, and in zones.

#include <gtest/gtest.h>

#include "base/clock.h"

namespace clawmark {
namespace {

TEST(Iso, times_come_back) {
  for (const char* text : {"2026-11-29T19:17:24.316Z", "1970-01-01T00:00:00.000Z",
                           "1969-12-31T23:59:59.999Z", "2000-02-29T12:00:00.001Z"}) {
    const auto time = parse_iso(text);
    ASSERT_TRUE(time.has_value()) << text;
    EXPECT_EQ(format_iso(*time), text);
  }
}

TEST(Iso, the_forms_that_hosts_write) {
  const TimeMs expected = *parse_iso("2026-08-03T09:00:00.120Z");
  for (const char* text :
       {"2026-08-03T09:00:00.12Z", "2026-08-03 09:00:00.120", "2026-08-03T11:00:00.120+02:00",
        "2026-08-03T04:30:00,120999-0430", "2026-08-03t09:00:00.120z"}) {
    EXPECT_EQ(parse_iso(text), expected) << text;
  }
  EXPECT_EQ(parse_iso("2026-08-03T09:00Z"), TimeMs{expected.value - 120});
}

TEST(Iso, what_is_no_time_is_refused) {
  for (const char* text :
       {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-08-03T25:00:00Z",
        "2026-08-03T24:30:00Z", "2026-08-03T09:61:00Z", "2026-08-03T09:00:00Zx",
        "2026-08-03T09:00:00+99:00", "2026-08-03T09:00:00+", "yesterday"}) {
    EXPECT_EQ(parse_iso(text), std::nullopt) << text;
  }
}

TEST(Iso, absurd_numbers_stay_within_the_calendar) {
  EXPECT_EQ(format_iso({INT64_MAX}), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_iso({INT64_MIN}), "0001-01-01T00:00:00.000Z");
  EXPECT_EQ(format_date({INT64_MAX}, "UTC"), "9999-12-31");
}

TEST(Zones, local_dates_and_offsets) {
  const TimeMs time = *parse_iso("2026-01-05T23:30:00Z");
  EXPECT_EQ(format_date(time, "Asia/Tokyo"), "2026-01-06");
  EXPECT_EQ(format_local(time, "Asia/Tokyo"), "2026-01-06 08:30 +09:00");
  EXPECT_EQ(format_local(time, "America/St_Johns"), "2026-01-05 20:00 -03:30");
  EXPECT_EQ(format_date(time, "Mars/Olympus"), "2026-01-05") << "an unknown zone is UTC";
  EXPECT_TRUE(is_known_zone("Europe/Berlin"));
  EXPECT_FALSE(is_known_zone("Mars/Olympus"));
  EXPECT_FALSE(is_known_zone(""));
  EXPECT_EQ(to_local(time, "UTC").weekday, 1);
}

TEST(Zones, daylight_saving_gaps_and_doubles_have_one_answer) {
  EXPECT_EQ(from_local(2026, 7, 1, 12, 0, "Europe/Berlin"), parse_iso("2026-07-01T10:00:00Z"));
  EXPECT_EQ(from_local(2026, 10, 25, 2, 30, "Europe/Berlin"), parse_iso("2026-10-25T00:30:00Z"))
      << "twice there: the earlier";
  EXPECT_EQ(from_local(2026, 3, 29, 2, 30, "Europe/Berlin"), parse_iso("2026-03-29T01:00:00Z"))
      << "never there: when the clocks changed";
  EXPECT_EQ(from_local(2026, 2, 30, 0, 0, "Europe/Berlin"), std::nullopt);
  EXPECT_EQ(from_local(2026, 2, 1, 0, 0, "Mars/Olympus"), std::nullopt);
}

TEST(Clocks, the_manual_one_moves_when_told) {
  ManualClock clock({1000});
  clock.advance(500);
  EXPECT_EQ(clock.now(), TimeMs{1500});
  EXPECT_EQ(clock.steady_ms(), 500);
  clock.set({7});
  EXPECT_EQ(clock.now(), TimeMs{7});
  EXPECT_EQ(clock.steady_ms(), 500) << "a jump of the wall clock";
}

}  // namespace
}  // namespace clawmark
