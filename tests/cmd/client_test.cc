#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/terminal.h"
#include "cmd/unix_client.h"
#include "serve/http_server.h"
#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

TEST(UnixClient, sends_and_receives_over_the_daemon_s_own_server) {
  const support::TempDir dir;
  HttpServerOptions options;
  options.socket_path = dir / "s";
  auto server = HttpServer::start(options, [](const HttpCall& call) {
    return HttpAnswer{201, "text/plain", call.method + " " + call.target + " " + call.body};
  });
  ASSERT_TRUE(server.ok()) << describe(server.error());
  EXPECT_TRUE(is_listening(options.socket_path));
  const auto answer = unix_request(options.socket_path, "POST", "/v1/x", "{\"a\":1}", 5000);
  ASSERT_TRUE(answer.ok()) << describe(answer.error());
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "POST /v1/x {\"a\":1}");
  const std::string big(900'000, 'x');
  const auto echoed = unix_request(options.socket_path, "POST", "/", big, 20'000);
  ASSERT_TRUE(echoed.ok()) << describe(echoed.error());
  EXPECT_EQ(echoed->body.size(), big.size() + 7);
  (*server)->stop();
  EXPECT_FALSE(is_listening(options.socket_path));
}

TEST(UnixClient, says_what_is_wrong) {
  const support::TempDir dir;
  const auto absent = unix_request(dir / "none", "GET", "/", "", 1000);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(absent.error().reason, "absent");
  const auto too_long = unix_request("/" + std::string(200, 'x'), "GET", "/", "", 1000);
  ASSERT_FALSE(too_long.ok());
  EXPECT_EQ(too_long.error().reason, "path_too_long");
}

TEST(Terminal, tables_are_aligned_by_characters) {
  EXPECT_EQ(format_table({"key", "value"}, {{"a", "1"}, {"äöü-long", "2"}}),
            "key       value\na         1\näöü-long  2\n");
}

TEST(Terminal, control_characters_never_reach_the_screen) {
  EXPECT_EQ(one_line("a\x1b[31mb\nc\u202Ed", 100), "a [31mb cd");
  EXPECT_EQ(one_line("pay\u200B pal\U000E0041\U000E0042 x\u2066y", 100), "pay pal xy");
  EXPECT_EQ(one_line("\U0001F469\u200D\U0001F4BB", 100), "\U0001F469\u200D\U0001F4BB");
  EXPECT_EQ(one_line("ééééé", 3), "ééé…");
}

TEST(Terminal, ages_and_counts_are_short) {
  EXPECT_EQ(format_age(59'000), "59 s");
  EXPECT_EQ(format_age(11 * kMinuteMs), "11 min");
  EXPECT_EQ(format_age(30 * kHourMs), "30 h");
  EXPECT_EQ(format_age(9 * kDayMs), "9 days");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(-1234), "-1,234");
}

}  // namespace
}  // namespace clawmark
