// systemd-analyze exits 0 on unknown keys: any output is a failure.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "cmd/unix_client.h"
#include "test_paths.h"
#include "tests/cmd/world.h"

namespace clawmark {
namespace {

constexpr char kAnalyze[] = "/usr/bin/systemd-analyze";

class Units : public testing::TestWithParam<const char*> {};

// The unit with the program where it is now: verify looks whether it exists.
std::string unit_text(const char* name) {
  const std::string text = support::read_text(std::string(CLAWMARK_SOURCE_DIR) + "/deploy/" + name);
  return std::regex_replace(text, std::regex("ExecStart=\\S+"), "ExecStart=/usr/bin/true");
}

TEST_P(Units, systemd_analyze_verify_says_nothing) {
  if (!std::filesystem::exists(kAnalyze)) GTEST_SKIP() << "no systemd-analyze";
  const support::TempDir dir;
  const std::string file = dir / GetParam();
  support::write_text(file, unit_text(GetParam()));
  std::vector<std::string> arguments{"verify", file};
  if (std::string(GetParam()) == "clawmark.service")
    arguments.insert(arguments.begin() + 1, "--user");
  const auto outcome =
      support::run(kAnalyze, arguments, {{"XDG_RUNTIME_DIR", dir.path()}, {"HOME", dir.path()}});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_P(Units, a_mistake_would_be_seen) {
  if (!std::filesystem::exists(kAnalyze)) GTEST_SKIP() << "no systemd-analyze";
  const support::TempDir dir;
  const std::string file = dir / GetParam();
  support::write_text(file,
                      std::regex_replace(unit_text(GetParam()), std::regex("Restart=on-failure"),
                                         "Restart=on-failure\nRestrtSec=2"));
  std::vector<std::string> arguments{"verify", file};
  if (std::string(GetParam()) == "clawmark.service")
    arguments.insert(arguments.begin() + 1, "--user");
  const auto outcome =
      support::run(kAnalyze, arguments, {{"XDG_RUNTIME_DIR", dir.path()}, {"HOME", dir.path()}});
  EXPECT_THAT(outcome.out + outcome.err, testing::HasSubstr("RestrtSec"));
}

// The system calls that a unit lets through, as systemd reads its lines in order.
std::set<std::string> calls_of_set(const std::string& name) {
  std::set<std::string> out;
  const auto listed = support::run(kAnalyze, {"syscall-filter", "--no-pager", name}, {});
  std::istringstream lines(listed.out);
  std::string line;
  std::getline(lines, line);  // the set itself
  while (std::getline(lines, line)) {
    const auto from = line.find_first_not_of(' ');
    if (from == std::string::npos || line[from] == '#') continue;
    line = line.substr(from);
    if (line[0] == '@') {
      out.merge(calls_of_set(line));
    } else {
      out.insert(line);
    }
  }
  return out;
}

std::set<std::string> allowed_calls(const std::string& unit) {
  std::set<std::string> out;
  const std::regex line("SystemCallFilter=(~?)([^\n]*)"), word("[^ ]+");
  for (std::sregex_iterator at(unit.begin(), unit.end(), line), end; at != end; ++at) {
    const std::string names = (*at)[2];
    for (std::sregex_iterator name(names.begin(), names.end(), word); name != end; ++name) {
      std::set<std::string> calls{name->str()};
      if (name->str()[0] == '@') calls = calls_of_set(name->str());
      for (const auto& call : calls) {
        if ((*at)[1].length() > 0) {
          out.erase(call);
        } else {
          out.insert(call);
        }
      }
    }
  }
  return out;
}

// Under the same filter, without systemd: reading, and a script in the process that gives up
// rights.
TEST_P(Units, what_it_lets_through_is_enough) {
  if (!std::filesystem::exists(kAnalyze)) GTEST_SKIP() << "no systemd-analyze";
  const support::World world;
  std::string list;
  const auto calls = allowed_calls(unit_text(GetParam()));
  ASSERT_GT(calls.size(), 200U);
  ASSERT_FALSE(calls.contains("mount"));
  for (const auto& call : calls) list += call + "\n";
  support::write_text(world / "calls", list);
  const std::string bin = std::string(CLAWMARK_BIN_DIR) + "/";
  const auto once = support::run("under_filter", {world / "calls", bin + "clawmarkd", "--once"},
                                 world.environment());
  EXPECT_EQ(once.code, 0) << once.err;
  EXPECT_NE(once.out.find("messages       101"), std::string::npos) << once.out;
  const auto refused =
      support::run("under_filter", {world / "calls", "/usr/bin/chroot", "/", "/bin/true"}, {});
  EXPECT_NE(refused.code, 0) << "the filter is in force";

  support::Process daemon("under_filter", {world / "calls", bin + "clawmarkd"},
                          world.environment());
  ASSERT_TRUE(support::eventually([&] { return std::filesystem::exists(world.socket()); }));
  const auto answer =
      unix_request(world.socket(), "POST", "/v1/tools/rc_repl",
                   R"json({"caller":{"session_key":"agent:main:main","sender_is_owner":true},)json"
                   R"json("params":{"code":"print(6*7)"}})json",
                   30'000);
  ASSERT_TRUE(answer.ok()) << describe(answer.error());
  EXPECT_NE(answer->body.find("42"), std::string::npos) << answer->body;
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

// docs/operations.md has the figure of each unit, and why it is not lower.
TEST_P(Units, the_exposure_is_not_above_what_is_written_down) {
  if (!std::filesystem::exists(kAnalyze)) GTEST_SKIP() << "no systemd-analyze";
  const std::string page =
      support::read_text(std::string(CLAWMARK_SOURCE_DIR) + "/docs/operations.md");
  std::smatch recorded, found;
  ASSERT_TRUE(std::regex_search(page, recorded,
                                std::regex("`" + std::string(GetParam()) + "` \\| ([0-9.]+) \\|")));
  const support::TempDir dir;
  support::write_text(dir / GetParam(), unit_text(GetParam()));
  const auto outcome =
      support::run(kAnalyze, {"security", "--offline=true", "--no-pager", dir / GetParam()}, {});
  ASSERT_TRUE(
      std::regex_search(outcome.out, found, std::regex("exposure level for [^:]*: ([0-9.]+)")))
      << outcome.out << outcome.err;
  EXPECT_LE(std::stod(found[1]), std::stod(recorded[1]));
  if (std::string(GetParam()) == "clawmark.service") return;
  // Of the system unit each exception is explained.
  const std::regex open("✗ ([A-Za-z]+)=");
  for (std::sregex_iterator at(outcome.out.begin(), outcome.out.end(), open), end; at != end;
       ++at) {
    EXPECT_NE(page.find("`" + (*at)[1].str() + "`"), std::string::npos) << (*at)[1];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Units,
                         testing::Values("clawmark.service", "clawmark-system.service"));

}  // namespace
}  // namespace clawmark
