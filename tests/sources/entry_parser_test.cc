#include "sources/entry_parser.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "sources/json_sanitizer.h"

namespace clawmark {
namespace {

std::string message(const std::string& members, const std::string& entry = "") {
  return R"({"type":"message","id":"m1","parentId":"p1","timestamp":"2026-08-03T09:00:00.250Z")" +
         entry + R"(,"message":{)" + members + "}}";
}

Entry parsed(const std::string& text) {
  auto result = parse_entry(text);
  EXPECT_TRUE(result.ok()) << text.substr(0, 200);
  return result.ok() ? std::move(result->entry) : Entry{};
}

std::string failure(const std::string& text) {
  const auto result = parse_entry(text);
  return result.ok() ? "ok" : result.error().reason;
}

TEST(EntryParser, reads_string_content) {
  const auto e =
      parsed(message(R"("role":"user","content":"Hello Zürich 🎉","timestamp":1795979827724)"));
  EXPECT_EQ(e.kind, EntryKind::kMessage);
  EXPECT_EQ(e.entry_id, "m1");
  EXPECT_EQ(e.parent_id, "p1");
  EXPECT_EQ(format_iso(e.time), "2026-08-03T09:00:00.250Z");
  EXPECT_EQ(e.message_time.value, 1795979827724);
  EXPECT_EQ(e.role, "user");
  EXPECT_EQ(e.entry_class, "chat");
  EXPECT_EQ(e.text, "Hello Zürich 🎉");
  EXPECT_EQ(e.bytes, static_cast<std::int64_t>(e.text.size()));
  EXPECT_EQ(e.hash, sha256(e.text));
}

TEST(EntryParser, joins_text_blocks_and_lists_tool_calls_whatever_the_order_of_members) {
  const auto e = parsed(message(
      R"("content":[{"thinking":"secret","type":"thinking"},{"type":"text","text":"one"},
         {"text":"two","type":"text"},{"type":"image","data":"AAAA","text":"not text"},
         {"type":"toolCall","id":"c1","name":"ls","arguments":{"text":"x","content":"y","id":"z"}}],"role":"assistant")"));
  EXPECT_EQ(e.text, "one\ntwo");
  ASSERT_EQ(e.tools.size(), 1u);
  EXPECT_EQ(e.tools[0].call_id, "c1");
  EXPECT_EQ(e.tools[0].name, "ls");
}

TEST(EntryParser, classes_follow_the_host) {
  const auto of = [](const std::string& members) { return parsed(message(members)).entry_class; };
  EXPECT_EQ(of(R"("role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"x"}])"),
            "toolResult");
  EXPECT_EQ(
      of(R"("role":"assistant","content":"x","provider":"openclaw","model":"delivery-mirror")"),
      "delivery-mirror");
  EXPECT_EQ(
      of(R"("role":"assistant","content":"x","openclawDeliveryMirror":{"sourceAssistantMessageId":"a"})"),
      "delivery-mirror");
  EXPECT_EQ(
      of(R"("role":"assistant","content":"x","provider":"openclaw","model":"gateway-injected")"),
      "gateway-injected");
  EXPECT_EQ(
      of(R"("role":"user","content":"x","provenance":{"kind":"internal_system","sourceTool":"heartbeat"})"),
      "internal_system");
  EXPECT_EQ(of(R"("role":"user","content":"x","provenance":{"kind":"inter_session"})"),
            "internal_system");
  EXPECT_EQ(of(R"("role":"user","content":"x","provenance":{"kind":"external_user"})"), "chat");
  EXPECT_EQ(
      of(R"("role":"custom","customType":"openclaw.nested-tool.v1","excludeFromContext":true,"content":"")"),
      "excluded-from-context");
  EXPECT_EQ(of(R"("role":"developer","content":"x")"), "internal_system");
}

TEST(EntryParser, sender_comes_from_the_hosts_metadata_only) {
  const auto e = parsed(message(
      R"("role":"user","content":"hi","senderId":"no","__openclaw":{"senderIsOwner":true,"senderId":"111","senderName":"Ada",
         "senderIdentity":{"id":"222"},"transport":{"channel":"telegram","clients":[{"id":"cli"}]}})"));
  EXPECT_EQ(e.sender_id, "111");
  EXPECT_EQ(e.sender_name, "Ada");
  EXPECT_EQ(e.channel, "telegram");
  EXPECT_TRUE(e.sender_is_owner);
}

TEST(EntryParser, C081_what_a_program_wrote_is_marked_as_such_by_the_hosts_sender_kind) {
  const auto noise = [](const std::string& kind) {
    return parsed(
               message(R"("role":"user","content":"I like brevity","__openclaw":{"senderId":"900",
             "senderIdentity":{"id":"900","senderKind":")" +
                       kind + "\"}}"))
        .noise;
  };
  for (const char* kind : {"bot", "Bot", "app", "webhook"}) EXPECT_EQ(noise(kind), "bot") << kind;
  for (const char* kind : {"human", "", "owner"}) EXPECT_EQ(noise(kind), "") << kind;
}

TEST(EntryParser, what_the_host_tells_equal_messages_apart_by_is_kept) {
  const auto of = [](const std::string& members) {
    const auto parsed = parse_entry(R"({"type":"message","id":"a","message":{"role":"custom",)"
                                    R"("content":"")" +
                                    members + "}}");
    return parsed.ok() ? parsed->entry.distinct_by : "not parsed";
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of(R"(,"toolCallId":"call_1")"), "call_1");
  EXPECT_EQ(of(R"(,"toolCallId":"call_1","idempotencyKey":"run:call_1")"), "run:call_1");
  EXPECT_EQ(of(R"(,"details":{"toolCallId":"call_1","idempotencyKey":"k"})"), "");
}

TEST(EntryParser, other_kinds_keep_their_place_in_the_tree) {
  auto reset = parse_entry(
      R"({"type":"reset","id":"r","parentId":"a","timestamp":"2026-08-03T09:00:00Z","reason":"daily"})");
  EXPECT_EQ(reset->entry.kind, EntryKind::kReset);
  EXPECT_EQ(reset->entry.reason, "daily");
  auto leaf = parse_entry(R"({"type":"leaf","targetId":"m1"})");
  EXPECT_EQ(leaf->entry.kind, EntryKind::kLeaf);
  EXPECT_EQ(leaf->entry.target_id, "m1");
  EXPECT_EQ(parsed(R"({"type":"compaction","id":"k","summary":"User asked: Ship build 41"})").text,
            "");
  EXPECT_EQ(parsed(R"({"type":"brand_new","id":"k","parentId":"m1"})").parent_id, "m1");
  auto header = parse_entry(R"({"type":"session","version":4,"id":"bbb"})");
  EXPECT_EQ(header->entry.session_id, "bbb");
  EXPECT_FALSE(header->parent_given);
}

TEST(EntryParser, C007_says_why_a_line_is_no_entry) {
  EXPECT_EQ(failure("{bad json}"), "syntax");
  EXPECT_EQ(failure("undefined"), "syntax");
  EXPECT_EQ(failure("{\"type\":\"message\"} trailing"), "syntax");
  EXPECT_EQ(failure("{\"type\":\"message\""), "syntax");
  EXPECT_EQ(failure("null"), "not_object");
  EXPECT_EQ(failure("[]"), "not_object");
  EXPECT_EQ(failure("42"), "not_object");
  EXPECT_EQ(failure("{\"type\":\"message\"}"), "no_message");
  EXPECT_EQ(failure("{\"id\":\"x\"}"), "no_type");
  std::string deep = R"({"type":"message","message":{"role":"user","x":)";
  for (int i = 0; i < 100; ++i) deep += "[";
  EXPECT_EQ(failure(deep), "too_deep");
}

TEST(EntryParser, C008_lone_surrogates_become_the_replacement_character) {
  const auto e = parsed(
      message(R"("role":"user","content":"cost \ud83d then more \ude00 and \ud83d\ude00 pair")"));
  EXPECT_EQ(e.text, "cost \xEF\xBF\xBD then more \xEF\xBF\xBD and \xF0\x9F\x98\x80 pair");
  EXPECT_TRUE(is_valid_utf8(e.text));
  EXPECT_EQ(e.hash, sha256(e.text));
  EXPECT_EQ(parsed(message(R"("role":"user","content":"end \ud83d")")).text, "end \xEF\xBF\xBD");
  EXPECT_EQ(parsed(message("\"role\":\"user\",\"content\":\"bad \xC3( byte\"")).text,
            "bad \xEF\xBF\xBD( byte");
  EXPECT_EQ(parsed(message(R"("role":"user","content":"a\u0000b")")).text, std::string("a\0b", 3));
}

TEST(EntryParser, gives_the_same_for_every_cut_into_pieces) {
  const std::string line = message(
      "\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d\\ude00 \\ud83d "
      "x\\\\u0041 \\n \xE2\x82\xAC \xF0\x9F\x98\x80 \\ude00\"}]");
  const auto whole = parsed(line);
  for (std::size_t size = 1; size < 14; ++size) {
    EntryParser parser;
    for (std::size_t at = 0; at < line.size(); at += size) {
      parser.feed(std::string_view(line).substr(at, size));
    }
    const auto piecewise = parser.finish();
    ASSERT_TRUE(piecewise.ok()) << size;
    EXPECT_EQ(piecewise->entry.text, whole.text) << size;
    EXPECT_EQ(piecewise->entry.hash, whole.hash) << size;
  }
}

TEST(EntryParser, goes_on_after_a_bad_entry) {
  EntryParser parser;
  parser.feed("{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"half");
  EXPECT_FALSE(parser.finish().ok());
  parser.feed(message(R"("role":"user","content":"whole")"));
  EXPECT_EQ(parser.finish()->entry.text, "whole");
}

TEST(EntryParser, C010_an_oversized_text_keeps_head_tail_size_and_hash) {
  std::string text(kEntryTextMax + 100'000, 'x');
  text.replace(0, 4, "HEAD");
  text.replace(text.size() - 4, 4, "TAIL");
  for (const bool block : {false, true}) {
    const auto e = parsed(message(block ? R"("role":"toolResult","content":[{"text":")" + text +
                                              R"(","type":"text"}])"
                                        : R"("role":"toolResult","content":")" + text + "\""));
    EXPECT_EQ(e.bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(to_hex(e.hash), to_hex(sha256(text)));
    EXPECT_LT(e.text.size(), 3 * kEntryExcerptBytes);
    EXPECT_TRUE(e.text.starts_with("HEAD"));
    EXPECT_TRUE(e.text.ends_with("TAIL"));
  }
  EntryParser whole(EntryParser::Keep::kWholeText);
  whole.feed(message("\"role\":\"toolResult\",\"content\":\"" + text + "\""));
  EXPECT_EQ(whole.finish()->entry.text, text);
}

TEST(EntryParser, C026_lanes_are_not_its_business_but_heartbeats_are_marked) {
  EXPECT_EQ(parsed(message(R"("role":"user","content":"[OpenClaw heartbeat poll]")")).noise,
            "heartbeat");
  EXPECT_EQ(parsed(message(R"("role":"assistant","content":"HEARTBEAT_OK")")).noise, "ack");
  EXPECT_EQ(parsed(message(R"("role":"user","content":"From now on invoices go to Dana")")).noise,
            "");
  EXPECT_EQ(
      parsed(message(R"("role":"assistant","content":[{"type":"toolCall","id":"c","name":"ls"}])"))
          .noise,
      "empty");
}

TEST(JsonSanitizer, leaves_clean_text_alone) {
  JsonSanitizer sanitizer;
  const std::string text = "{\"a\":\"b \\n \\\" \xE2\x82\xAC\"}";
  EXPECT_EQ(sanitizer.feed(text).data(), text.data());
  EXPECT_EQ(sanitizer.finish(), "");
}

TEST(JsonSanitizer, a_cut_escape_at_the_end_is_passed_on_for_the_parser_to_refuse) {
  JsonSanitizer sanitizer;
  std::string out(sanitizer.feed("\"x\\u12"));
  out += sanitizer.finish();
  EXPECT_EQ(out, "\"x\\u12");
}

}  // namespace
}  // namespace clawmark
