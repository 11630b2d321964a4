#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "models/endpoint.h"
#include "models/fact_key.h"
#include "models/model.h"
#include "models/url.h"

namespace clawmark {
namespace {

std::string joined(const std::vector<std::string_view>& chunks) {
  std::string all;
  for (const std::string_view chunk : chunks) all += chunk;
  return all;
}

TEST(SplitText, C055_never_cuts_a_code_point_or_a_grapheme_and_loses_nothing) {
  const std::string scientist =
      "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xAC";  // two emoji and a joiner
  std::string text(1999, 'a');
  for (int i = 0; i < 50; ++i) text += "\xF0\x9F\xA7\xAA";
  text += scientist + "e\xCC\x81\xCC\xA7";
  for (const std::size_t max : {4u, 5u, 7u, 11u, 16u, 100u, 1999u, 2000u, 2001u, 2003u, 5000u}) {
    const auto chunks = split_text(text, max);
    EXPECT_EQ(joined(chunks), text);
    for (const std::string_view chunk : chunks) {
      EXPECT_TRUE(is_valid_utf8(chunk)) << max;
      EXPECT_LE(chunk.size(), max);
      EXPECT_FALSE(chunk.empty());
    }
    if (max >= 16) {
      EXPECT_EQ(std::count_if(chunks.begin(), chunks.end(),
                              [&](std::string_view c) { return c.find(scientist) != c.npos; }),
                1)
          << max;
    }
  }
}

TEST(SplitText, prefers_sentences_then_words) {
  const std::string text = "First sentence here. Second one follows now. Third";
  EXPECT_EQ(split_text(text, 30)[0], "First sentence here. ");
  EXPECT_EQ(split_text("alpha beta gamma delta", 12)[0], "alpha beta ");
  EXPECT_EQ(split_text("今日は。明日も。", 15)[0], "今日は。");
  EXPECT_TRUE(split_text("", 10).empty());
  EXPECT_EQ(split_text("short", 10), (std::vector<std::string_view>{"short"}));
}

TEST(SplitText, survives_bytes_that_are_no_text) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes.push_back(static_cast<char>(0x80 + i % 0x80));
  EXPECT_EQ(joined(split_text(bytes, 64)), bytes);
}

TEST(RetryAfter, C050_seconds_dates_and_garbage) {
  const TimeMs now = *parse_iso("2026-03-03T10:00:00Z");
  EXPECT_EQ(parse_retry_after("60", now), 60'000);
  EXPECT_EQ(parse_retry_after(" 0 ", now), 0);
  EXPECT_EQ(parse_retry_after("86400", now), kRetryAfterMaxMs);
  EXPECT_EQ(parse_retry_after("99999999999999999999", now), kRetryAfterMaxMs);
  EXPECT_EQ(parse_retry_after("Tue, 03 Mar 2026 10:01:30 GMT", now), 90'000);
  EXPECT_EQ(parse_retry_after("Tuesday, 03-Mar-26 10:01:30 GMT", now), 90'000);
  EXPECT_EQ(parse_retry_after("Tue Mar  3 10:01:30 2026", now), 90'000);
  EXPECT_EQ(parse_retry_after("Tue, 03 Mar 2026 09:00:00 GMT", now), 0);
  for (const char* bad : {"", "-5", "soon", "1.5.2", "12 monkeys", "Tue, 99 Foo 2026", "\xFF"}) {
    EXPECT_EQ(parse_retry_after(bad, now), std::nullopt) << bad;
  }
}

TEST(EndpointUrl, version_is_added_only_where_none_is) {
  EXPECT_EQ(endpoint_url("http://h:1", "embeddings"), "http://h:1/v1/embeddings");
  EXPECT_EQ(endpoint_url("http://h:1/", "embeddings"), "http://h:1/v1/embeddings");
  EXPECT_EQ(endpoint_url("http://h/v1/", "embeddings"), "http://h/v1/embeddings");
  EXPECT_EQ(endpoint_url("http://h/api/v1beta/openai", "embeddings"),
            "http://h/api/v1beta/openai/embeddings");
  EXPECT_EQ(endpoint_url("http://h/v1/embeddings", "embeddings"), "http://h/v1/embeddings");
  EXPECT_EQ(endpoint_url("http://h/x?api-version=2", "embeddings"),
            "http://h/x/v1/embeddings?api-version=2");
  EXPECT_EQ(endpoint_url("http://vllm.local/vision", "embeddings"),
            "http://vllm.local/vision/v1/embeddings");
}

TEST(EndpointUrl, C169_shown_without_credentials) {
  EXPECT_EQ(shown_url("http://user:pw@127.0.0.1:9/v1?key=abc"), "http://127.0.0.1:9/v1");
  EXPECT_EQ(shown_url("https://host"), "https://host");
}

TEST(Url, parts_and_refusals) {
  const auto url = parse_url("HTTPS://us%40er:p%3Aw@Example.ORG/v1/x?y=1#z").value();
  EXPECT_TRUE(url.is_https);
  EXPECT_EQ(url.host, "example.org");
  EXPECT_EQ(url.port, "443");
  EXPECT_EQ(url.target, "/v1/x?y=1");
  EXPECT_EQ(url.credentials, "us@er:p:w");
  EXPECT_EQ(url.host_header, "example.org");
  const auto v6 = parse_url("http://[::1]:8080").value();
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.host_header, "[::1]:8080");
  EXPECT_EQ(v6.target, "/");
  for (const char* bad :
       {"", "ftp://h", "http://", "http://h:0", "http://h:99999", "http://h/a b",
        "http://h/\r\nX: y", "http://user:hunter2@", "http://[::1", "http://m\xC3\xBCnchen.de"}) {
    const auto refused = parse_url(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().message.find("hunter2"), std::string::npos);
  }
  EXPECT_EQ(encode_base64("user:pw"), "dXNlcjpwdw==");
  EXPECT_EQ(encode_base64("ab"), "YWI=");
  EXPECT_EQ(encode_base64("abc"), "YWJj");
}

TEST(FactKey, keys_without_a_prefix_are_mapped_by_rule) {
  EXPECT_EQ(normal_fact_key("editor"), "pref.editor");
  EXPECT_EQ(normal_fact_key("city"), "user.city");
  EXPECT_EQ(normal_fact_key("repo.lang"), "project.repo.lang");
  EXPECT_EQ(normal_fact_key("docs.style"), "project.docs.style");
  EXPECT_EQ(normal_fact_key("deadline"), "project.deadline");
  EXPECT_EQ(normal_fact_key("user.name"), "user.name");
  EXPECT_EQ(normal_fact_key("preferences.favoriteEditor"), "pref.favorite_editor");
  EXPECT_EQ(normal_fact_key("User: Home City"), "user.home_city");
  EXPECT_EQ(normal_fact_key("..pref..x.."), "pref.x");
  EXPECT_EQ(normal_fact_key(""), std::nullopt);
  EXPECT_EQ(normal_fact_key("..."), std::nullopt);
  EXPECT_EQ(normal_fact_key("caf\xC3\xA9"), std::nullopt);
  EXPECT_EQ(normal_fact_key("a;drop"), std::nullopt);
  EXPECT_EQ(normal_fact_key(std::string(200, 'a')), std::nullopt);
}

TEST(FactKey, segments_keep_different_words_apart) {
  EXPECT_EQ(key_segment("Spicy food"), "spicy_food");
  EXPECT_NE(key_segment("Stra\xC3\x9F"
                        "e 1"),
            key_segment("Stra\xC3\x9F"
                        "e 2"));
  EXPECT_NE(key_segment("c"), key_segment("c++"));
  EXPECT_NE(key_segment("食物"), key_segment("音楽"));
  EXPECT_NE(key_segment(std::string(80, 'x') + "1"), key_segment(std::string(80, 'x') + "2"));
  EXPECT_LE(key_segment(std::string(500, 'x')).size(), 48u);
  EXPECT_EQ(key_segment("?!"), "");
}

}  // namespace
}  // namespace clawmark
