// The timeline: local days with their clock changes, and what each day was about. Texts that are
// longer than a window, and their line ends.

#include <gtest/gtest.h>

#include "base/limits_history.h"
#include "serve/history.h"
#include "serve/history_pattern.h"
#include "world.h"

namespace clawmark {
namespace {

const json::object kAda = World::caller("agent:main:telegram:direct:101", "101", "s1");

TimeMs utc(const char* iso) {
  return parse_iso(iso).value();
}

std::vector<std::pair<std::string, std::int64_t>> days(const json::object& answer) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const auto& period : answer.at("details").as_object().at("periods").as_array()) {
    out.emplace_back(get_string(period.as_object(), "period"),
                     get_int(period.as_object(), "messageCount"));
  }
  return out;
}

using Days = std::vector<std::pair<std::string, std::int64_t>>;

TEST(Timeline, C146_messages_around_midnight_and_clock_changes_land_on_their_local_day) {
  World w;
  w.config->timezone = "America/New_York";
  for (const char* at : {"2026-01-15T04:40:00Z", "2026-03-08T06:59:00Z", "2026-03-08T07:01:00Z",
                         "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"}) {
    w.say({.text = std::string("said at ") + at, .at = utc(at)});
  }
  EXPECT_EQ(days(w.tool("rc_timeline", kAda, {})),
            (Days{{"2026-01-14", 1}, {"2026-03-08", 2}, {"2026-11-01", 2}}));
  const auto slice = w.tool("rc_slice", kAda, {{"start", 1}, {"end", 5}});
  for (const char* local : {"2026-03-08 01:59 -05:00", "2026-03-08 03:01 -04:00",
                            "2026-11-01 01:30 -04:00", "2026-11-01 01:30 -05:00"}) {
    EXPECT_TRUE(holds(slice, local)) << local;
  }
  const std::string text = text_of(slice, "text");
  EXPECT_LT(text.find("01:30 -04:00"), text.find("01:30 -05:00"));
}

TEST(Timeline, C146_a_day_of_23_hours_and_one_of_25_hold_all_their_messages) {
  World w;
  w.config->timezone = "America/New_York";
  const auto every_half_hour = [&](const char* from, int hours) {
    for (int i = 0; i < hours * 2; ++i) {
      w.say({.text = "tick", .at = {utc(from).value + i * 30 * kMinuteMs}});
    }
  };
  every_half_hour("2026-03-08T05:00:00Z", 23);
  every_half_hour("2026-11-01T04:00:00Z", 25);
  EXPECT_EQ(days(w.tool("rc_timeline", kAda, {})), (Days{{"2026-03-08", 46}, {"2026-11-01", 50}}));
  const auto hours = days(w.tool("rc_timeline", kAda, {{"bucket", "hour"}, {"limit", 100}}));
  EXPECT_EQ(hours.size(), 48U);
  for (const auto& [label, count] : hours) EXPECT_EQ(count, 2) << label;
}

TEST(Timeline, C146_a_zone_with_quarter_hours_counts_by_them) {
  World w;
  w.config->timezone = "Asia/Kathmandu";                         // +05:45
  w.say({.text = "before", .at = utc("2026-07-01T18:14:00Z")});  // 23:59
  w.say({.text = "after", .at = utc("2026-07-01T18:15:00Z")});   // 00:00
  EXPECT_EQ(days(w.tool("rc_timeline", kAda, {})), (Days{{"2026-07-01", 1}, {"2026-07-02", 1}}));
}

TEST(Timeline, C146_a_zone_that_nobody_set_is_said) {
  World w;
  w.say({.text = "hello"});
  EXPECT_FALSE(holds(w.tool("rc_timeline", kAda, {}), "No time zone is configured"));
  w.config->origins["timezone"] = "default";
  for (const char* tool : {"rc_timeline", "rc_peek"}) {
    EXPECT_TRUE(holds(w.tool(tool, kAda, {{"offset", 0}}), "No time zone is configured")) << tool;
  }
}

TEST(Timeline, each_day_has_the_words_that_mark_it) {
  World w;
  for (int i = 0; i < 6; ++i) {
    w.say({.text = "Let us fix the payment webhook of Mollie now",
           .at = utc("2026-05-01T10:00:00Z")});
    w.say({.text = "Let us plan the holiday in Zanzibar now", .at = utc("2026-05-02T10:00:00Z")});
  }
  const auto answer = w.tool("rc_timeline", kAda, {});
  const auto& periods = answer.at("details").as_object().at("periods").as_array();
  ASSERT_EQ(periods.size(), 2U);
  const std::string first = to_text(periods[0]), second = to_text(periods[1]);
  EXPECT_NE(first.find("Mollie"), std::string::npos) << first;
  EXPECT_EQ(first.find("Zanzibar"), std::string::npos);
  EXPECT_NE(second.find("Zanzibar"), std::string::npos) << second;
  EXPECT_EQ(first.find("\"the\""), std::string::npos);
}

TEST(Timeline, the_newest_periods_first_reach_the_reader_and_before_leads_back) {
  World w;
  for (int day = 1; day <= 9; ++day) {
    w.say({.text = "day", .at = {utc("2026-05-01T12:00:00Z").value + day * kDayMs}});
  }
  const auto newest = w.tool("rc_timeline", kAda, {{"limit", 4}});
  ASSERT_EQ(days(newest).size(), 4U);
  EXPECT_EQ(days(newest).back().first, "2026-05-10");
  const auto older =
      w.tool("rc_timeline", kAda,
             {{"limit", 4}, {"before", newest.at("details").as_object().at("before")}});
  EXPECT_EQ(days(older).back().first, "2026-05-06");
}

TEST(ParseWhen, dates_are_local_and_zones_are_heeded) {
  EXPECT_EQ(parse_when("2026-01-15", "America/New_York"), utc("2026-01-15T05:00:00Z"));
  EXPECT_EQ(parse_when("2026-07-15 08:30", "America/New_York"), utc("2026-07-15T12:30:00Z"));
  EXPECT_EQ(parse_when("2026-07-15T08:30:00Z", "America/New_York"), utc("2026-07-15T08:30:00Z"));
  for (const char* bad : {"", "soon", "2026-13-01", "2026-1-1", "20260101", "2026-01-15T", "NaN",
                          "2026-01-15 24:59"}) {
    EXPECT_FALSE(parse_when(bad, "UTC")) << bad;
  }
}

// Texts longer than what is matched at a time: its edges are neither lines nor words.
TEST(Pattern, nothing_matches_at_the_edge_of_a_window_that_does_not_match_in_the_text) {
  const std::string text(3 * kPatternWindow, 'x');
  const std::string between = "y" + text + "y";
  for (const char* pattern : {"^x", "x$", "\\bx", "x\\b", "(?-m)^x", "(?-m)x$", "\\Ax", "x\\z",
                              "(?:^|\\W)x{3}", "x{3}(?:\\W|$)", "^x{3}|x{3}$"}) {
    const auto compiled = HistoryPattern::compile(pattern);
    ASSERT_TRUE(compiled.ok()) << pattern;
    EXPECT_FALSE(compiled->find(between, {})) << pattern;
  }
  for (const auto& [pattern, at] :
       {std::pair{"\\bx{3}\\b", kPatternWindow - 2}, std::pair{"^x{3}$", kPatternWindow},
        std::pair{"^x{3}$", 2 * kPatternWindow - kPatternWindowOverlap - 1},
        std::pair{"\\bx{3}$", 3 * kPatternWindow - 3}, std::pair{"^x{3}\\b", std::size_t{0}}}) {
    std::string marked = text;
    if (at > 0) marked[at - 1] = '\n';
    if (at + 3 < marked.size()) marked[at + 3] = '\n';
    const auto match = HistoryPattern::compile(pattern)->find(marked, {});
    ASSERT_TRUE(match) << pattern << at;
    EXPECT_EQ(match->begin, at) << pattern;
    EXPECT_EQ(match->end, at + 3) << pattern;
  }
}

TEST(Slice, line_ends_of_any_system_stay_line_ends) {
  World w;
  w.say({.text = "one\r\ntwo\r\n\r\nthree\rfour\nfive\r\n"});
  const auto slice = w.tool("rc_slice", kAda, {{"start", 0}, {"end", 1}});
  const auto& row = slice.at("details").as_object().at("messages").as_array().at(0).as_object();
  EXPECT_EQ(get_string(row, "text"), "one\ntwo\n\nthree\nfour\nfive");
}

}  // namespace
}  // namespace clawmark
