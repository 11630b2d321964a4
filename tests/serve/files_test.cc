// wc_file: what is large is listed, read back in ranges, by whom it may be read, and what when it
// is gone.

#include <gmock/gmock.h>

#include "base/limits_world.h"
#include "base/utf8.h"
#include "log/graph_events.h"
#include "models/explore/exploration.h"
#include "projections/forgetting.h"
#include "world.h"

namespace clawmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMine[] = "agent:main:telegram:direct:101";

struct Large : World {
  using World::World;
  // A tool's result, and what the worker would have written of it.
  std::string keep(const std::string& text, const std::string& name = {}) {
    const Seq message = say_tool(text);
    explored(message, text, name);
    return "lf_" + to_hex(sha256(text)).substr(0, 16);
  }
  void explored(Seq message, const std::string& text, const std::string& name) {
    const Exploration found = explore(text, name, "");
    NewEvent event;
    event.type = event_type::kFileExplored;
    event.scope.agent = "main";
    event.dedupe_key = "file:" + std::to_string(message.value);
    event.occurred = clock.now();
    event.payload = {{"message", message.value},
                     {"entry_id", "e" + std::to_string(message.value)},
                     {"id", "lf_" + to_hex(sha256(text)).substr(0, 16)},
                     {"text_sha256", to_hex(sha256(text))},
                     {"name", name},
                     {"mime", ""},
                     {"kind", found.kind},
                     {"bytes", text.size()},
                     {"tokens", rough_tokens(text)},
                     {"start", 0},
                     {"whole", true},
                     {"summary", found.summary}};
    append(std::move(event));
    fold();
  }
  json::object get(const std::string& id, json::object params = {}) {
    params["action"] = "get";
    params["id"] = id;
    return tool("wc_file", mine, params);
  }
  json::object list(const json::object& who) { return tool("wc_file", who, {{"action", "list"}}); }

  Seq question = say({.text = "what does the table say?"});
  json::object mine = caller(kMine, "101");
};

std::string numbered_lines(int count) {
  std::string out;
  for (int n = 1; n <= count; ++n) out += "    line number " + std::to_string(n) + "\n";
  return out;
}

TEST(Files, a_large_content_is_listed_and_read_back_by_lines_page_by_page) {
  Large w;
  const std::string id = w.keep(numbered_lines(450), "rota.txt");
  const json::object listed = w.list(w.mine);
  EXPECT_THAT(text_of(listed, "text"), HasSubstr(id + ": rota.txt, text, "));
  EXPECT_EQ(find_array(*find_object(listed, "details"), "files")->size(), 1U);
  const json::object first = w.get(id);
  EXPECT_THAT(text_of(first, "text"), HasSubstr("lines 1 to 200 of 450"));
  EXPECT_THAT(text_of(first, "text"), HasSubstr("\n1\t    line number 1\n2\t    line number 2\n"));
  EXPECT_THAT(text_of(first, "text"), HasSubstr("(more: fromLine 201)"));
  const json::object second = w.get(id, {{"fromLine", 201}, {"lines", 3}});
  EXPECT_THAT(text_of(second, "text"), HasSubstr("\n201\t    line number 201\n"));
  EXPECT_THAT(text_of(second, "text"), Not(HasSubstr("204\t")));
  EXPECT_EQ(get_int(*find_object(second, "details"), "next"), 204);
  const json::object last = w.get(id, {{"fromLine", 449}});
  EXPECT_THAT(text_of(last, "text"), Not(HasSubstr("(more")));
  const json::object beyond = w.get(id, {{"fromLine", 451}});
  EXPECT_FALSE(get_bool(beyond, "ok", true));
  EXPECT_THAT(text_of(beyond, "text"), HasSubstr("has 450 lines"));
}

TEST(Files, its_id_is_explained_down_to_the_message_that_holds_it) {
  Large w;
  const std::string id = w.keep(numbered_lines(300), "rota.txt");
  const auto explain = [&](const char* as) {
    const std::string line = "see [" + id + "] above";
    return w.post("/v1/admin/explain", {{"params", {{"line", line}, {"as", as}}}});
  };
  const json::object why = explain("telegram:101");
  EXPECT_THAT(text_of(why, "text"), HasSubstr("Content " + id + " rota.txt (text, "));
  EXPECT_EQ(find_array(*find_object(why, "details"), "messages")->size(), 1U);
  EXPECT_THAT(text_of(explain("telegram:303"), "text"), Not(HasSubstr("rota.txt")));
}

TEST(Files, long_lines_are_read_by_characters_and_no_answer_is_longer_than_allowed) {
  Large w;
  std::string text;
  for (int n = 0; n < 9000; ++n) text += "é" + std::to_string(n % 10) + ",";
  const std::string id = w.keep(text);
  const json::object whole = w.get(id);
  EXPECT_LE(chars(*whole.if_contains("text")), kFileRangeChars + 400);
  EXPECT_THAT(text_of(whole, "text"), HasSubstr("read it by fromChar"));
  const json::object part = w.get(id, {{"fromChar", 4}, {"chars", 100}});
  EXPECT_THAT(text_of(part, "text"), HasSubstr("characters 4 to 103 of 27000"));
  EXPECT_THAT(text_of(part, "text"), HasSubstr(":\né1,é2,"));
  EXPECT_LE(chars(*w.get(id, {{"fromChar", 1}, {"chars", 1'000'000}}).if_contains("text")),
            kFileRangeChars + 400);
  EXPECT_FALSE(get_bool(w.get(id, {{"fromChar", 1}, {"lines", 1}}), "ok", true));
  EXPECT_FALSE(get_bool(w.get(id, {{"fromLine", 0}}), "ok", true));
}

TEST(Files, nobody_else_lists_or_reads_it_and_an_unknown_id_is_said_to_be_unknown) {
  Large w;
  const std::string id = w.keep(numbered_lines(300));
  for (const auto& who : {World::caller("agent:main:telegram:direct:303", "303"),
                          World::caller("agent:main:telegram:group:-7", "101"),
                          World::caller("agent:other:telegram:direct:101", "101")}) {
    EXPECT_THAT(text_of(w.list(who), "text"), Not(HasSubstr("lf_")));
    const json::object refused = w.tool("wc_file", who, {{"action", "get"}, {"id", id}});
    EXPECT_FALSE(get_bool(refused, "ok", true));
    EXPECT_THAT(text_of(refused, "text"), Not(HasSubstr("line number")));
  }
  EXPECT_THAT(text_of(w.get("lf_0000000000000000"), "text"), HasSubstr("There is no content"));
  EXPECT_THAT(text_of(w.get("../../etc/passwd"), "text"), Not(HasSubstr("root:")));
  EXPECT_FALSE(get_bool(w.tool("wc_file", w.mine, {{"action", "get"}}), "ok", true));
}

TEST(Files, a_secret_shows_neither_whole_nor_across_the_border_of_a_range) {
  Large w;
  const std::string token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const std::string text = numbered_lines(20) + "export TOKEN=" + token + "\n" + numbered_lines(20);
  const std::string id = w.keep(text);
  const auto at = static_cast<std::int64_t>(text.find(token));
  for (std::int64_t from = at - 120; from < at + 60; from += 7) {
    const json::object part = w.get(id, {{"fromChar", from}, {"chars", 100}});
    EXPECT_THAT(text_of(part, "text"), Not(HasSubstr("6789abcdef")));
    EXPECT_THAT(text_of(part, "text"), Not(HasSubstr("ABCDEFGHIJ")));
  }
  EXPECT_THAT(text_of(w.get(id), "text"), HasSubstr("[secret:"));
}

TEST(Files, an_original_that_is_gone_leaves_what_was_seen_of_it_and_says_so) {
  Large w(Retention::kReference);  // nothing is kept, and no source answers
  const std::string id = w.keep(numbered_lines(300), "rota.txt");
  const json::object answer = w.get(id);
  EXPECT_FALSE(get_bool(answer, "ok", true));
  EXPECT_THAT(text_of(answer, "text"), HasSubstr("can no longer be read"));
  EXPECT_THAT(text_of(answer, "text"), HasSubstr("Text, "));
}

TEST(Files, forgetting_by_query_takes_the_content_what_was_seen_of_it_and_what_was_understood) {
  Large w;
  const std::string text = "The regatta plan of the harbour. " + numbered_lines(300);
  const Seq plan = w.say({.text = text});
  const Seq other = w.say({.text = "the rota is pinned to the door"});
  w.explored(plan, text, "");
  for (const auto& [name, message] : {std::pair{"regatta", plan}, std::pair{"rota", other}}) {
    json::object node{{"type", "project"},
                      {"name", name},
                      {"holder", "person:telegram:101"},
                      {"verified", true},
                      {"confidence", 0.9}};
    node["evidence"] = json::array{json::object{{"message", message.value}, {"quote", name}}};
    NewEvent event;
    event.type = event_type::kGraphCompleted;
    event.scope.agent = "main";
    event.dedupe_key = "graph:" + std::string(name);
    event.payload = {{"messages", json::array{message.value}},
                     {"session_id", "s1"},
                     {"nodes", json::array{std::move(node)}}};
    w.append(std::move(event));
  }
  w.fold();
  const json::object all{{"action", "list"}};
  ASSERT_TRUE(holds(w.tool("wc_graph", w.mine, all), "regatta"));
  ASSERT_TRUE(holds(w.list(w.mine), "lf_"));
  json::object params{{"query", "regatta plan"}};
  const json::object shown = w.tool("clawmark_forget", w.mine, params);
  ASSERT_TRUE(get_bool(*find_object(shown, "details"), "preview")) << to_text(shown);
  EXPECT_TRUE(holds(w.list(w.mine), "lf_")) << "not before it is confirmed";
  params["confirm"] = get_string(*find_object(shown, "details"), "confirm");
  const json::object done = w.tool("clawmark_forget", w.mine, params);
  ASSERT_TRUE(get_bool(*find_object(done, "details"), "forgotten")) << to_text(done);
  w.fold();
  EXPECT_FALSE(holds(w.list(w.mine), "lf_"));
  EXPECT_FALSE(get_bool(w.get("lf_" + to_hex(sha256(text)).substr(0, 16)), "ok", true));
  EXPECT_FALSE(holds(w.tool("wc_graph", w.mine, all), "regatta"));
  EXPECT_FALSE(holds(w.tool("wc_search", w.mine, {{"query", "regatta"}}), "harbour"));
  EXPECT_TRUE(holds(w.tool("wc_graph", w.mine, all), "rota"));
}

TEST(Files, a_content_is_not_known_before_it_was_said) {
  Large w;
  const std::string before = format_iso(w.clock.now());
  w.clock.advance(kDayMs);
  const std::string id = w.keep(numbered_lines(300));
  EXPECT_FALSE(get_bool(w.get(id, {{"at", before}}), "ok", true));
  EXPECT_TRUE(get_bool(w.get(id), "ok"));
}

TEST(Files, an_assembler_learns_what_stands_in_the_place_of_a_large_text) {
  Large w;
  const std::string text = numbered_lines(300);
  const std::string id = w.keep(text, "rota.txt");
  const std::string hash = to_hex(sha256(text));
  const json::array asked{hash, to_hex(sha256("small")), "no hash", 7};
  const json::object answer = w.post("/v1/files", {{"caller", w.mine}, {"hashes", asked}});
  const auto* files = find_object(answer, "files");
  ASSERT_NE(files, nullptr);
  ASSERT_EQ(files->size(), 1U);
  const json::object& part = find_array(*files, hash)->front().get_object();
  EXPECT_EQ(get_string(part, "id"), id);
  EXPECT_EQ(get_int(part, "bytes"), static_cast<std::int64_t>(text.size()));
  EXPECT_THAT(get_string(part, "text"), HasSubstr("kept as " + id));
  EXPECT_THAT(get_string(part, "text"), HasSubstr("300 lines"));
  const auto stranger = World::caller("agent:main:telegram:direct:303", "303");
  const json::object none = w.post("/v1/files", {{"caller", stranger}, {"hashes", asked}});
  EXPECT_TRUE(find_object(none, "files")->empty());
}

}  // namespace
}  // namespace clawmark
