// Method: the bundled sample at a fixed time, each script of keys once in this process and once
// through a real terminal of 80 by 24 (tmux), screen by screen; both have to give the screen that
// stands in golden/. With CLAWMARK_GOLDEN=1 they are written anew, to be read like code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>

#include "base/files.h"
#include "test_paths.h"
#include "tests/cmd/process.h"
#include "tests/tui/sampled.h"
#include "tests/tui/tmux.h"

namespace clawmark {
namespace {

using support::Played;
using support::Sampled;
using support::Tmux;

struct Script {
  const char* name;
  std::vector<std::string> keys;
};

const std::vector<Script>& scripts() {
  static const std::vector<Script> kScripts = {
      {"conversations", {}},
      {"messages", {"Enter"}},
      {"message", {"Enter", "k", "k", "Enter"}},
      {"summaries", {"2"}},
      {"context", {"3"}},
      {"context_why", {"3", "j", "j", "j", "Enter"}},
      {"context_prompt", {"j", "3", "p", "c", "a", "f", "é", "Enter", "End"}},
      {"world", {"4"}},
      {"world_tasks", {"4", "Tab", "Tab", "Tab", "Tab"}},
      {"world_thing", {"4", "/", "M", "o", "l", "l", "Enter", "j", "Enter"}},
      {"episodes", {"5"}},
      {"episodes_salient", {"5", "+", "+", "+", "+", "+", "+", "+", "+", "+"}},
      {"episode", {"5", "j", "j", "Enter"}},
      {"files", {"6"}},
      {"facts", {"7"}},
      {"facts_filtered", {"7", "/", "m", "o", "l", "l", "i", "e"}},
      {"fact", {"7", "/", "s", "h", "o", "p", "Enter", "Enter"}},
      {"forget_asked", {"7", "j", "x"}},
      {"forget_not", {"7", "j", "x", "n"}},
      {"help", {"?"}},
  };
  return kScripts;
}

std::string golden_path(const char* name) {
  return std::string(CLAWMARK_SOURCE_DIR) + "/tests/tui/golden/" + name + ".txt";
}

Sampled& sample() {
  static Sampled memory;
  return memory;
}

// Numbers in the log depend on which of two files of the same moment was read first.
std::string numberless(const std::string& screen) {
  static const std::regex number("(message|event) [0-9]+");
  return std::regex_replace(screen, number, "$1 N");
}

class Screens : public ::testing::TestWithParam<Script> {};
std::string name_of(const ::testing::TestParamInfo<Script>& info) {
  return info.param.name;
}

TEST_P(Screens, the_model_draws_what_stands_in_golden) {
  Played played(sample(), {{}, false, "/var/lib/clawmark.db", "UTC"});
  for (const std::string& key : GetParam().keys) played.press(key);
  if (std::getenv("CLAWMARK_GOLDEN") != nullptr) {
    std::ofstream(golden_path(GetParam().name)) << played.screen();
  }
  EXPECT_EQ(numberless(played.screen()),
            numberless(support::read_text(golden_path(GetParam().name))));
}

TEST_P(Screens, a_terminal_shows_what_stands_in_golden) {
  Tmux tmux("clawmark --socket " + sample().socket() +
            " --db-path /var/lib/clawmark.db --timezone UTC tui");
  Played played(sample(), {{}, false, "/var/lib/clawmark.db", "UTC"});
  ASSERT_EQ(tmux.wait_for(played.screen()), "") << "before the first key";
  for (const std::string& key : GetParam().keys) {
    tmux.press(key);
    played.press(key);
    ASSERT_EQ(tmux.wait_for(played.screen()), "") << "after " << key;
  }
  EXPECT_EQ(numberless(tmux.screen()),
            numberless(support::read_text(golden_path(GetParam().name))));
}

INSTANTIATE_TEST_SUITE_P(All, Screens, ::testing::ValuesIn(scripts()), name_of);

}  // namespace
}  // namespace clawmark
