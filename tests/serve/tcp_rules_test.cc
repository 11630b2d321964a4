// Who may call over TCP, as a table.

#include "serve/tcp_rules.h"

#include <gtest/gtest.h>

namespace clawmark {
namespace {

constexpr std::uint16_t kPort = 4711;
constexpr char kToken[] = "0123456789abcdef0123";
constexpr char kOwn[] = "Bearer 0123456789abcdef0123";

TcpOptions page() {
  return {"127.0.0.1", kPort, kToken, [](std::string_view target) { return target == "/"; }};
}
int status(const TcpOptions& options, const TcpRequest& request) {
  const auto refused = refuse_tcp(options, kPort, request);
  return refused ? refused->status : 200;
}

TEST(TcpRules, the_page_s_own_files_need_no_token_and_nothing_else_is_open) {
  EXPECT_EQ(status(page(), {"GET", "/", "127.0.0.1:4711", "", "", ""}), 200);
  EXPECT_EQ(status(page(), {"POST", "/", "127.0.0.1:4711", "", "", ""}), 401);
  EXPECT_EQ(status(page(), {"GET", "/x", "127.0.0.1:4711", "", "", ""}), 401);
  EXPECT_EQ(status(page(), {"POST", "/x", "127.0.0.1:4711", "", "", kOwn}), 200);
}

TEST(TcpRules, a_host_is_ours_with_our_port_however_it_is_spelt) {
  for (const char* host : {"127.0.0.1:4711", "localhost:4711", "LOCALHOST:4711", "[::1]:4711"}) {
    EXPECT_EQ(status(page(), {"GET", "/", host, "", "", ""}), 200) << host;
  }
  for (const char* host : {"", "127.0.0.1", "localhost:4712", "127.0.0.1:04711", "evil.example",
                           "127.0.0.1.evil.example:4711", "localhost.:4711", "[::1]", "127.1:4711",
                           "127.0.0.1:4711@evil.example", "0.0.0.0:4711"}) {
    EXPECT_EQ(status(page(), {"GET", "/", host, "", "", kOwn}), 421) << host;
  }
}

TEST(TcpRules, an_origin_is_ours_as_a_whole_or_refused) {
  EXPECT_EQ(status(page(),
                   {"POST", "/x", "localhost:4711", "http://localhost:4711", "same-origin", kOwn}),
            200);
  for (const char* origin : {"null", "http://localhost", "http://127.0.0.1:4711",
                             "https://localhost:4711", "http://localhost:47110", "http://evil"}) {
    EXPECT_EQ(status(page(), {"POST", "/x", "localhost:4711", origin, "", kOwn}), 403) << origin;
  }
  EXPECT_EQ(status(page(), {"GET", "/", "localhost:4711", "", "none", ""}), 200);
  EXPECT_EQ(status(page(), {"GET", "/", "localhost:4711", "", "cross-site", ""}), 403);
}

TEST(TcpRules, without_a_page_no_origin_at_all_may_call) {
  const TcpOptions bare{"127.0.0.1", kPort, kToken, nullptr};
  EXPECT_EQ(status(bare, {"GET", "/", "localhost", "", "", kOwn}), 200);
  EXPECT_EQ(status(bare, {"GET", "/", "localhost", "", "", ""}), 401);
  EXPECT_EQ(status(bare, {"GET", "/", "localhost:4711", "http://localhost:4711", "", kOwn}), 403);
}

TEST(TcpRules, tokens_are_equal_or_not_whatever_their_length) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const auto& [a, b] :
       {std::pair{"abc", "abd"}, {"ab", "abc"}, {"abcabc", "abc"}, {"", "a"}, {"a", ""}}) {
    EXPECT_FALSE(equal_in_constant_time(a, b)) << a << " " << b;
  }
}

}  // namespace
}  // namespace clawmark
