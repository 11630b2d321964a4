// systemd-analyze exits 0 on unknown keys: any output is a failure.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "test_paths.h"
#include "tests/cmd/process.h"

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

INSTANTIATE_TEST_SUITE_P(All, Units,
                         testing::Values("clawmark.service", "clawmark-system.service"));

TEST(UnitSecurity, the_system_unit_is_well_confined) {
  if (!std::filesystem::exists(kAnalyze)) GTEST_SKIP() << "no systemd-analyze";
  const support::TempDir dir;
  support::write_text(dir / "clawmark-system.service", unit_text("clawmark-system.service"));
  const auto outcome = support::run(
      kAnalyze, {"security", "--offline=true", "--threshold=20", dir / "clawmark-system.service"},
      {});
  EXPECT_EQ(outcome.code, 0) << outcome.out.substr(
      outcome.out.size() > 400 ? outcome.out.size() - 400 : 0);
}

}  // namespace
}  // namespace clawmark
