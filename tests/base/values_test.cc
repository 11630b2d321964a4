// JSON read tolerantly, results, scopes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/scope.h"

namespace clawmark {
namespace {

TEST(Json, a_missing_or_mistyped_member_is_the_fallback) {
  const auto value = parse_json(
      R"({"s":"x","i":7,"d":2.5,"b":true,"n":null,"o":{"k":1},"a":[],"big":18446744073709551615})");
  const auto& object = value->get_object();
  EXPECT_EQ(get_string(object, "s"), "x");
  EXPECT_EQ(get_string(object, "i", "f"), "f");
  EXPECT_EQ(get_string(object, "none", "f"), "f");
  EXPECT_EQ(get_int(object, "i"), 7);
  EXPECT_EQ(get_int(object, "d"), 2);
  EXPECT_EQ(get_int(object, "s", -1), -1);
  EXPECT_EQ(get_int(object, "big", -1), -1);
  EXPECT_EQ(get_double(object, "i"), 7.0);
  EXPECT_TRUE(get_bool(object, "b"));
  EXPECT_FALSE(get_bool(object, "i"));
  EXPECT_EQ(get_optional_string(object, "n"), std::nullopt);
  EXPECT_NE(find_object(object, "o"), nullptr);
  EXPECT_EQ(find_object(object, "a"), nullptr);
  EXPECT_NE(find_array(object, "a"), nullptr);
  EXPECT_EQ(find(*value, "none"), nullptr);
  EXPECT_EQ(find(json::value(1), "s"), nullptr);
}

TEST(Json, hostile_input_is_an_error_and_never_a_throw) {
  for (const char* text : {"", "{", "nul", "{\"a\":1}x", "\"\xC0\xAF\"", "[1,]", "{\"a\" 1}"}) {
    const auto value = parse_json(text);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::kInvalid);
  }
  EXPECT_TRUE(parse_json(std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']')).ok());
  EXPECT_FALSE(parse_json(std::string(100'000, '[')).ok());
}

TEST(Json, configuration_may_have_comments_and_trailing_commas) {
  const auto value = parse_json_relaxed("{ // note\n \"a\": 1, /* more */ \"b\": [1, 2,], }");
  EXPECT_EQ(get_int(value->get_object(), "a"), 1);
  EXPECT_FALSE(parse_json("{\"a\":1,}").ok());
}

Result<int> half(int value) {
  if (value % 2 != 0) return make_error(ErrorKind::kInvalid, "test", "odd", "an odd number");
  return value / 2;
}

Result<int> quarter(int value) {
  CLAWMARK_ASSIGN(const int first, half(value));
  CLAWMARK_ASSIGN(const int second, half(first));
  return second;
}

Status check_half(int value) {
  CLAWMARK_TRY(half(value));
  return Ok{};
}

TEST(Results, errors_travel_to_the_caller) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().reason, "odd");
  EXPECT_TRUE(check_half(4).ok());
  EXPECT_EQ(describe(check_half(3).error()), "test/odd: an odd number");
  EXPECT_EQ(half(3).value_or(-1), -1);
  EXPECT_EQ(to_string(ErrorKind::kPoison), "poison");
}

TEST(Scopes, session_keys_of_every_shape) {
  struct Case {
    const char* key;
    const char* agent;
    Lane lane;
    const char* channel;
    const char* peer;
    bool owner;
  };
  constexpr Case kCases[] = {
      {"agent:main:main", "main", Lane::kDirect, "", "", true},
      {"agent:main:dashboard:7", "main", Lane::kDirect, "", "", true},
      {"agent:main:main:heartbeat", "main", Lane::kHeartbeat, "", "", true},
      {"agent:work:telegram:direct:101", "work", Lane::kDirect, "telegram", "101", false},
      {"agent:work:slack:dm:U1", "work", Lane::kDirect, "slack", "U1", false},
      {"agent:main:telegram:group:-100:thread:5", "main", Lane::kGroup, "telegram", "-100:thread:5",
       false},
      {"agent:main:discord:channel:9", "main", Lane::kGroup, "discord", "9", false},
      {"agent:main:cron:job:run:3", "main", Lane::kCron, "", "", false},
      {"agent:main:subagent:x", "main", Lane::kSubagent, "", "", false},
      {"agent:main:heartbeat", "main", Lane::kHeartbeat, "", "", false},
      {"agent:main:hook:mail", "main", Lane::kHook, "", "", false},
      {"agent:main:my-name", "main", Lane::kDirect, "", "", false},
      {"agent:main:telegram:strange:1", "main", Lane::kUnknown, "", "", false},
      {"main", "", Lane::kUnknown, "", "", false},
      {"agent::x", "", Lane::kUnknown, "", "", false},
      {"", "", Lane::kUnknown, "", "", false},
  };
  for (const Case& c : kCases) {
    const SessionKey key = parse_session_key(c.key);
    EXPECT_EQ(key.agent, c.agent) << c.key;
    EXPECT_EQ(to_string(key.lane), to_string(c.lane)) << c.key;
    EXPECT_EQ(key.channel, c.channel) << c.key;
    EXPECT_EQ(key.peer, c.peer) << c.key;
    EXPECT_EQ(key.owner_surface, c.owner) << c.key;
  }
  EXPECT_TRUE(parse_session_key("agent:main:incognito-7").incognito);
}

TEST(Scopes, lanes_are_stored_by_name) {
  for (const Lane lane : {Lane::kDirect, Lane::kGroup, Lane::kCron, Lane::kSubagent,
                          Lane::kHeartbeat, Lane::kHook, Lane::kUnknown}) {
    EXPECT_EQ(lane_from(to_string(lane)), lane);
  }
  EXPECT_EQ(lane_from("nonsense"), Lane::kUnknown);
}

TEST(Scopes, a_person_without_an_id_is_nobody) {
  EXPECT_EQ(person_id("telegram", "101"), "telegram:101");
  for (const char* id : {"", "  ", "unknown", "null", "undefined", "0"}) {
    EXPECT_EQ(person_id("telegram", id), "") << id;
  }
}

}  // namespace
}  // namespace clawmark
