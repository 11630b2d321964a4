// History from a shell without a daemon, and scripts in the real one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "cmd/unix_client.h"
#include "tests/cmd/world.h"

namespace clawmark {
namespace {

using support::eventually;
using support::Process;
using support::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(HistoryCommands, find_page_and_date_the_whole_history_without_a_daemon) {
  World world;
  ASSERT_EQ(world.once().code, 0);
  EXPECT_THAT(world.clawmark({"grep", "--regex", "mollie\\b.*stripe"}).out,
              AllOf(HasSubstr("Mollie replaces Stripe"), HasSubstr("message ")));
  EXPECT_THAT(world.clawmark({"grep", "payment provider"}).out, HasSubstr("Stripe"));
  EXPECT_EQ(world.clawmark({"grep", "--regex", "("}).code, 2);
  const auto peek = world.clawmark_json({"peek", "--length", "3"});
  EXPECT_EQ(find_array(*find_object(peek, "details"), "messages")->size(), 3U);
  EXPECT_THAT(world.clawmark({"slice", "0", "2"}).out, HasSubstr("#1 2026-11-"));
  const std::string days = world.clawmark({"timeline", "--limit", "100"}).out;
  EXPECT_THAT(days, AllOf(HasSubstr("2026-11-13"), HasSubstr("2026-11-19")));
  EXPECT_THAT(days, HasSubstr("No time zone is configured"));
  EXPECT_THAT(world.clawmark({"--timezone", "Asia/Tokyo", "timeline"}).out,
              AllOf(HasSubstr("days in Asia/Tokyo"), Not(HasSubstr("No time zone"))));
}

TEST(HistoryCommands, as_somebody_show_what_that_one_may_see) {
  World world;
  ASSERT_EQ(world.once().code, 0);
  const auto seen = [&](const char* as) {
    const auto answer = world.clawmark_json({"--as", as, "peek", "--length", "50"});
    return get_int(*find_object(answer, "details"), "total");
  };
  const std::int64_t all = get_int(*find_object(world.clawmark_json({"peek"}), "details"), "total");
  EXPECT_GT(seen("telegram:101"), 0);
  EXPECT_LT(seen("telegram:101"), all);
  EXPECT_EQ(seen("telegram:999"), 0);
}

TEST(HistoryTools, C150_C152_the_daemon_lives_through_scripts_that_do_not_end) {
  World world;
  ASSERT_EQ(world.once().code, 0);
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] {
    const auto answer = unix_request(world.socket(), "GET", "/healthz", "", 5000);
    return answer.ok();
  }));
  const auto repl = [&](const char* code) {
    const json::object caller{{"agent", "main"},
                              {"session_key", "agent:main:telegram:direct:101"},
                              {"session_id", "s"},
                              {"channel", "telegram"},
                              {"sender_id", "101"}};
    const auto answer = unix_request(
        world.socket(), "POST", "/v1/tools/rc_repl",
        to_text(json::object{{"caller", caller}, {"params", json::object{{"code", code}}}}),
        90'000);
    return answer.ok() ? answer->body : describe(answer.error());
  };
  EXPECT_THAT(repl("FINAL(grep('.', {mode: 'regex', scope: 'all'}).length > 0)"),
              HasSubstr("\"finalAnswer\":true"));
  EXPECT_THAT(repl("store('n', 41); FINAL(get('n') + 1)"), HasSubstr("\"finalAnswer\":42"));
  EXPECT_THAT(repl("while (true) {}"), HasSubstr("stopped"));
  EXPECT_THAT(repl("const a = []; for (;;) a.push('x'.repeat(1e6))"), HasSubstr("\"error\""));
  EXPECT_THAT(repl("FINAL(get('n'))"), HasSubstr("\"finalAnswer\":41"));
  EXPECT_TRUE(daemon.is_running());
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

}  // namespace
}  // namespace clawmark
