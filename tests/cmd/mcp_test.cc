// The Model Context Protocol without I/O: framing, bad input, what each message is answered with;
// and the program itself. The official client's view is in tests/mcp/.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cmd/mcp_server.h"
#include "serve/tools.h"
#include "tests/cmd/world.h"

namespace clawmark {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> kAllFamilies = {"clawmark", "wc", "rc"};

class Mcp : public ::testing::Test {
 protected:
  McpReaction take(const std::string& line) { return server.take({line, false}); }
  json::object ask(const std::string& line) {
    const auto parsed = parse_json(take(line).reply);
    EXPECT_TRUE(parsed.ok()) << line;
    return parsed.ok() && parsed->is_object() ? parsed->get_object() : json::object{};
  }
  std::int64_t code(const std::string& line) {
    const json::object answer = ask(line);
    const auto* error = find_object(answer, "error");
    return error == nullptr ? 0 : get_int(*error, "code");
  }
  json::object initialize(const std::string& version = "2025-06-18") {
    return ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
               version + R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
  }
  static std::string call_line(const std::string& id, const std::string& name,
                               const std::string& arguments) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":")" +
           name + R"(","arguments":)" + arguments + "}}";
  }
  McpServer server{"9.9.9", kAllFamilies};
};

TEST(McpFrames, lines_come_whole_however_the_bytes_are_cut) {
  const std::string stream = "{\"a\":1}\r\n\n{\"b\":\"ä\"}\n{\"c\":3}";
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    McpFrames frames;
    std::vector<std::string> lines;
    const auto keep = [&](const std::vector<McpFrames::Frame>& some) {
      for (const auto& frame : some) lines.push_back(frame.line);
    };
    for (std::size_t at = 0; at < stream.size(); at += step) {
      keep(frames.feed(std::string_view(stream).substr(at, step)));
    }
    keep(frames.end());
    EXPECT_THAT(lines, testing::ElementsAre("{\"a\":1}\r", "{\"b\":\"ä\"}", "{\"c\":3}")) << step;
  }
}

TEST(McpFrames, a_line_that_is_too_long_is_told_once_and_the_next_is_read) {
  McpFrames frames;
  std::size_t told = 0;
  const std::string part(300'000, 'x');
  for (int i = 0; i < 10; ++i) {
    for (const auto& frame : frames.feed(part)) told += frame.too_long ? 1U : 100U;
  }
  EXPECT_EQ(told, 1U);
  const auto after = frames.feed("x\n{}\n");
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].line, "{}");
}

TEST_F(Mcp, the_version_is_the_client_s_when_known_else_the_newest) {
  const std::pair<const char*, const char*> cases[] = {{"2024-11-05", "2024-11-05"},
                                                       {"2025-06-18", "2025-06-18"},
                                                       {"2025-11-25", "2025-11-25"},
                                                       {"2025-03-26", "2025-11-25"},
                                                       {"1.0", "2025-11-25"}};
  for (const auto& [asked, given] : cases) {
    McpServer fresh("9.9.9", kAllFamilies);
    const auto answer = fresh.take(
        {R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":")" +
             std::string(asked) + "\"}}",
         false});
    EXPECT_THAT(answer.reply, HasSubstr(R"("protocolVersion":")" + std::string(given) + '"'));
    EXPECT_THAT(answer.reply, HasSubstr(R"("id":"a")"));
    EXPECT_THAT(answer.reply, HasSubstr("9.9.9"));
  }
}

TEST_F(Mcp, bad_input_is_answered_by_code_and_never_ends_the_session) {
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), -32600)
      << "before initialize";
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"initialize"})"), -32602);
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), 0);
  initialize();
  const std::pair<const char*, int> cases[] = {
      {"{", -32700},
      {"\xff\xfe", -32700},
      {"null", -32600},
      {"7", -32600},
      {"[]", -32600},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600},
      {"{}", -32600},
      {R"({"id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})", -32601},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize",)"
       R"("params":{"protocolVersion":"2025-06-18"}})",
       -32600},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"clawmark_drop"}})",
       -32602},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rc_peek","arguments":[]}})",
       -32602}};
  for (const auto& [line, expected] : cases) EXPECT_EQ(code(line), expected) << line;
  EXPECT_THAT(server.take({{}, true}).reply, HasSubstr("-32600"));
  EXPECT_EQ(code(std::string(200, '[') + std::string(200, ']')), -32700) << "too deep";
  EXPECT_EQ(code(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), 0);
}

TEST_F(Mcp, notifications_and_answers_are_never_answered) {
  initialize();
  for (const char* line :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})",
        R"({"jsonrpc":"2.0","method":"tools/list"})",
        R"({"jsonrpc":"2.0","method":"nothing/known","params":[1]})",
        R"({"jsonrpc":"2.0","id":3,"result":{}})",
        R"({"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}})"}) {
    const McpReaction reaction = take(line);
    EXPECT_THAT(reaction.reply, IsEmpty()) << line;
    EXPECT_FALSE(reaction.call) << line;
    EXPECT_THAT(reaction.cancelled, IsEmpty()) << line;
  }
}

TEST_F(Mcp, every_tool_of_the_daemon_is_listed_with_a_closed_schema) {
  initialize();
  const json::object listed = ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  std::set<std::string> names;
  for (const auto& tool : *find_array(*find_object(listed, "result"), "tools")) {
    const json::object& entry = tool.as_object();
    const std::string name = get_string(entry, "name");
    names.insert(name);
    EXPECT_TRUE(is_tool(name)) << name;
    EXPECT_FALSE(get_string(entry, "description").empty());
    const auto* schema = find_object(entry, "inputSchema");
    EXPECT_EQ(get_string(*schema, "type"), "object");
    EXPECT_FALSE(get_bool(*schema, "additionalProperties", true)) << name;
    EXPECT_TRUE(find_object(entry, "annotations")->contains("readOnlyHint"));
  }
  EXPECT_EQ(names.size(), mcp_tools().size());
  for (const auto name : tool_names()) EXPECT_TRUE(names.contains(std::string(name))) << name;
}

TEST(McpFamilies, only_the_families_that_were_chosen_are_offered) {
  McpServer some("1", {"wc"});
  some.take({R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"x"}})",
             false});
  const std::string listed =
      some.take({R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", false}).reply;
  EXPECT_THAT(listed, HasSubstr("wc_restore"));
  EXPECT_THAT(listed, Not(HasSubstr("clawmark_set")));
  EXPECT_THAT(
      some.take({R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rc_peek"}})",
                 false})
          .reply,
      HasSubstr("-32602"));
}

TEST_F(Mcp, wrong_arguments_are_told_to_the_model_without_asking_the_daemon) {
  initialize();
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"clawmark_search", "{}", "query is missing"},
      {"clawmark_search", R"({"query":7})", "query must be of type string"},
      {"clawmark_search", R"({"query":"x","limit":0})", "limit must be at least 1"},
      {"clawmark_search", R"({"query":"x","limit":51})", "limit must be at most 50"},
      {"clawmark_search", R"({"query":"x","limit":1.5})", "limit must be of type integer"},
      {"clawmark_search", R"({"query":"x","as":"owner"})", "takes no such argument"},
      {"wc_graph", R"({"action":"drop"})", "action must be one of"},
      {"clawmark_reconcile", R"({"drain":"yes"})", "drain must be of type boolean"}};
  for (const auto& [tool, arguments, expected] : cases) {
    const McpReaction reaction = take(call_line("1", tool, arguments));
    EXPECT_FALSE(reaction.call) << arguments;
    EXPECT_THAT(reaction.reply, HasSubstr(R"("isError":true)"));
    EXPECT_THAT(reaction.reply, HasSubstr(expected));
  }
  const McpReaction good = take(call_line("1", "clawmark_search", R"({"query":"x","limit":5.0})"));
  ASSERT_TRUE(good.call);
  EXPECT_EQ(good.call->tool->name, "clawmark_search");
}

TEST_F(Mcp, a_cancelled_call_is_not_answered_and_its_id_is_free_again) {
  initialize();
  const std::string line = call_line("\"q\"", "clawmark_review", "{}");
  const auto first = take(line);
  ASSERT_TRUE(first.call);
  EXPECT_EQ(code(line), -32600) << "the same id again";
  const auto cancelled =
      take(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})");
  EXPECT_EQ(cancelled.cancelled, first.call->key);
  EXPECT_THAT(server.finish(first.call->key, {"late", false}), IsEmpty());
  const auto second = take(line);
  ASSERT_TRUE(second.call);
  EXPECT_THAT(
      server.finish(second.call->key, {"two\nlines", false}),
      testing::AllOf(HasSubstr(R"("id":"q")"), HasSubstr(R"(two\nlines)"), Not(HasSubstr("\n"))));
  EXPECT_THAT(server.finish(second.call->key, {"twice", false}), IsEmpty());
}

TEST_F(Mcp, more_calls_than_are_allowed_at_once_are_refused) {
  initialize();
  for (std::size_t i = 0; i < kMcpCallsMax; ++i) {
    EXPECT_TRUE(take(call_line(std::to_string(i), "clawmark_review", "{}")).call);
  }
  EXPECT_EQ(code(call_line("99", "clawmark_review", "{}")), -32000);
  server.finish("0", {"done", false});
  EXPECT_TRUE(take(call_line("99", "clawmark_review", "{}")).call);
}

TEST(McpCommand, nobody_s_memory_is_served_without_as) {
  const support::World world(false);
  const auto without = world.clawmark({"mcp"});
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.out, IsEmpty());
  EXPECT_THAT(without.err, HasSubstr("--as"));
  EXPECT_EQ(world.clawmark({"--as", "all", "mcp"}).code, 2);
  EXPECT_EQ(world.clawmark({"--as", "owner", "mcp", "--families", "xx"}).code, 2);
  const auto closed = world.clawmark({"--as", "owner", "mcp"});  // standard input is empty
  EXPECT_EQ(closed.code, 0);
  EXPECT_THAT(closed.out, IsEmpty());
  EXPECT_THAT(closed.err, HasSubstr("no daemon listens"));
}

}  // namespace
}  // namespace clawmark
