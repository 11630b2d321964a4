// What was known then: facts and past messages as of a time, or of a place in the log.

#include <gmock/gmock.h>

#include "log/event_log.h"
#include "world.h"

namespace clawmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHolder[] = "person:telegram:101";

struct Then : World {
  json::object facts(json::object params) {
    params["as"] = "telegram:101";
    return post("/v1/admin/facts", {{"params", params}});
  }
  std::string search(const std::string& query, json::object params = {}) {
    params["query"] = query;
    return text_of(tool("clawmark_search", mine, params), "text");
  }
  std::int64_t head() { return must(EventLog::head(store.db())).value; }
  // Some time later, and what it is by then.
  std::string pass() {
    clock.advance(kDayMs);
    return format_iso({clock.now().value - kDayMs / 2});
  }
  json::object mine = caller("agent:main:telegram:direct:101", "101");
};

TEST(AsOf, a_fact_is_what_it_was_then_by_time_and_by_place_in_the_log) {
  Then w;
  const std::string before = w.pass();
  w.state(kHolder, "pref.editor", "helix");
  w.fold();
  const std::int64_t place = w.head();
  const std::string between = w.pass();
  w.state(kHolder, "pref.editor", "vim");
  w.fold();
  EXPECT_TRUE(holds(w.facts({}), "vim"));
  EXPECT_FALSE(holds(w.facts({}), "helix"));
  EXPECT_TRUE(holds(w.facts({{"at", between}}), "helix"));
  EXPECT_FALSE(holds(w.facts({{"at", between}}), "vim"));
  EXPECT_TRUE(holds(w.facts({{"at", place}}), "helix"));
  EXPECT_FALSE(holds(w.facts({{"at", place}}), "vim"));
  EXPECT_FALSE(holds(w.facts({{"at", before}}), "helix"));
  EXPECT_THAT(w.search("editor", {{"at", between}}), HasSubstr("pref.editor: helix"));
  EXPECT_THAT(w.search("editor"), HasSubstr("pref.editor: vim"));
}

TEST(AsOf, a_conclusion_is_known_from_when_it_was_said_and_to_the_log_from_when_it_was_drawn) {
  Then w;
  const Seq said = w.say({.text = "I use helix"});
  w.fold();
  const std::int64_t heard = w.head();
  const std::string then = w.pass();
  w.conclude(kHolder, "pref.editor", "helix", said);
  w.fold();
  EXPECT_TRUE(holds(w.facts({{"at", then}}), "helix")) << "it had been said";
  EXPECT_FALSE(holds(w.facts({{"at", heard}}), "helix")) << "the log did not know it yet";
  EXPECT_TRUE(holds(w.facts({{"at", w.head()}}), "helix"));
}

TEST(AsOf, what_was_forgotten_since_is_not_told_of_the_past_either) {
  Then w;
  w.state(kHolder, "pref.editor", "helix");
  w.fold();
  const std::int64_t place = w.head();
  const std::string then = w.pass();
  w.tool("clawmark_forget", w.mine, {{"key", "pref.editor"}});
  w.fold();
  EXPECT_FALSE(holds(w.facts({{"at", then}}), "helix"));
  EXPECT_FALSE(holds(w.facts({{"at", place}}), "helix"));
}

TEST(AsOf, messages_that_were_said_later_are_not_found) {
  Then w;
  w.say({.text = "the pinnace is moored at berth seven"});
  w.fold();
  const std::int64_t place = w.head();
  const std::string then = format_iso(w.clock.now());
  w.say({.text = "the pinnace has moved to berth nine", .at = {w.clock.now().value + 2 * kDayMs}});
  w.fold();
  w.clock.advance(3 * kDayMs);
  w.say({.text = "so much for today", .at = w.clock.now()});
  w.fold();
  EXPECT_THAT(w.search("pinnace berth"), HasSubstr("berth nine"));
  for (const json::value& at : {json::value(place), json::value(std::to_string(place))}) {
    EXPECT_THAT(w.search("pinnace berth", {{"at", at}}), HasSubstr("berth seven"));
    EXPECT_THAT(w.search("pinnace berth", {{"at", at}}), Not(HasSubstr("berth nine")));
  }
  EXPECT_THAT(w.search("pinnace berth", {{"at", then}}), Not(HasSubstr("berth nine")));
}

TEST(AsOf, a_time_that_is_none_is_refused_with_the_remedy) {
  Then w;
  const json::object answer =
      w.tool("clawmark_search", w.mine, {{"query", "x"}, {"at", "yesterday"}});
  EXPECT_FALSE(get_bool(answer, "ok", true));
  EXPECT_THAT(text_of(answer, "text"), HasSubstr("2026-11-20"));
  w.post("/v1/admin/facts", {{"params", json::object{{"at", "yesterday"}}}}, 400);
}

}  // namespace
}  // namespace clawmark
