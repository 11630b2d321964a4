// What docs/json.md promises of --json, line by line; and that the log of the service tells
// nobody's words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <regex>
#include <set>

#include "base/files.h"
#include "tests/cmd/world.h"

namespace clawmark {
namespace {

using support::Outcome;
using support::World;

struct Row {
  std::string command;  // "parked list"
  std::vector<std::string> words;
  std::map<std::string, std::string> members;
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  const std::regex word("[^ ]+");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
    out.push_back(at->str());
  }
  return out;
}

std::vector<Row> documented() {
  std::vector<Row> out;
  const std::string page = support::read_text(std::string(CLAWMARK_SOURCE_DIR) + "/docs/json.md");
  const std::regex line(R"(\| `clawmark --json ([^`]+)` \| (.*) \|)"),
      member("`([a-z_]+)` ([a-z]+)");
  for (std::sregex_iterator at(page.begin(), page.end(), line), end; at != end; ++at) {
    Row row;
    row.words = words_of((*at)[1]);
    const bool group = row.words[0] == "parked" || row.words[0] == "config";
    row.command = group ? row.words[0] + " " + row.words[1] : row.words[0];
    const std::string members = (*at)[2];
    for (std::sregex_iterator m(members.begin(), members.end(), member); m != end; ++m) {
      row.members[(*m)[1]] = (*m)[2];
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string kind_of(const json::value& value) {
  if (value.is_string()) return "text";
  if (value.is_bool()) return "flag";
  if (value.is_number()) return "number";
  if (value.is_array()) return "list";
  return value.is_object() ? "object" : "nothing";
}

TEST(Contract, every_documented_answer_is_one_line_of_json_with_its_members) {
  World world;
  ASSERT_EQ(world.once().code, 0);
  ASSERT_EQ(world.clawmark({"export", world / "m.jsonl"}).code, 0);
  ASSERT_EQ(world.clawmark({"init", "--yes", "--no-plugin"}).code, 0);
  const auto rows = documented();
  ASSERT_GT(rows.size(), 25U);
  for (const Row& row : rows) {
    std::vector<std::string> words{"--json"};
    for (const auto& word : row.words) {
      const bool file = word.ends_with(".db") || word.ends_with(".jsonl");
      words.push_back(!file                     ? word
                      : row.command == "export" ? world / "again.jsonl"
                                                : world / word);
    }
    const Outcome done = world.clawmark(words);
    EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 1) << row.command;
    const auto answer = parse_json(done.out);
    ASSERT_TRUE(answer.ok() && answer->is_object()) << row.command << ": " << done.out << done.err;
    for (const auto& [name, kind] : row.members) {
      const auto* member = find(answer->get_object(), name);
      ASSERT_NE(member, nullptr) << row.command << " lacks " << name << ": " << done.out;
      EXPECT_EQ(kind_of(*member), kind) << row.command << ", " << name;
    }
  }
}

TEST(Contract, every_command_is_documented) {
  const World world(false);
  std::set<std::string> known{"completion", "manual", "config example", "mcp", "tui", "web"};
  for (const Row& row : documented()) known.insert(row.command);
  const std::string page = world.clawmark({"manual", "--markdown"}).out;
  const std::regex heading("### `clawmark ([a-z]+)( [a-z]+)?");
  for (std::sregex_iterator at(page.begin(), page.end(), heading), end; at != end; ++at) {
    const std::string first = (*at)[1];
    if (first != "parked" && first != "config") {
      EXPECT_TRUE(known.contains(first)) << first << " is not in docs/json.md";
    } else if ((*at)[2].matched) {
      EXPECT_TRUE(known.contains(first + (*at)[2].str())) << first << (*at)[2].str();
    }
  }
}

TEST(Contract, an_error_is_an_object_too) {
  const World world(false);
  const Outcome refused = world.clawmark({"--json", "verify"});
  EXPECT_EQ(refused.code, 69);
  const auto answer = parse_json(refused.out);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(get_string(answer->at("error").as_object(), "code"), "missing");
  EXPECT_NE(get_string(answer->at("error").as_object(), "message"), "");
}

// All that the service writes, at its most talkative, against every sentence of the story that it
// read.
TEST(Journal, no_log_line_holds_anybody_s_words) {
  World world;
  world.extra["CLAWMARK_LOG_LEVEL"] = "debug";
  support::Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(support::eventually([&] { return std::filesystem::exists(world.socket()); }));
  EXPECT_EQ(world.clawmark({"--as", "owner", "set", "pref.secretword", "quicksilver pinnace"}).code,
            0);
  EXPECT_EQ(world.clawmark({"search", "quicksilver pinnace"}).code, 0);
  EXPECT_EQ(world.clawmark({"inject", "--dry-run", "where is the quicksilver pinnace?"}).code, 0);
  EXPECT_EQ(world.clawmark({"forget", "--query", "quicksilver pinnace"}).code, 0);
  ASSERT_EQ(world.clawmark({"reconcile"}).code, 0);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
  const std::string log = daemon.out() + daemon.err();
  ASSERT_NE(log, "");
  EXPECT_EQ(log.find("quicksilver"), std::string::npos);
  const std::string story = std::string(CLAWMARK_SOURCE_DIR) + "/deploy/sample/sessions";
  const std::regex sentence(R"re("[a-z]+":"([^"\\{]{16,}))re");
  int looked_for = 0;
  for (const auto& name : list_dir(story)) {
    const std::string text = support::read_text(story + "/" + name);
    for (std::sregex_iterator at(text.begin(), text.end(), sentence), end; at != end; ++at) {
      ++looked_for;
      EXPECT_EQ(log.find((*at)[1].str().substr(0, 24)), std::string::npos) << (*at)[1];
    }
  }
  EXPECT_GT(looked_for, 20);
}

}  // namespace
}  // namespace clawmark
