// What the command line tells of itself: help, completions, manual.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "tests/cmd/world.h"
#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

using support::Outcome;
using support::World;
using testing::HasSubstr;

// The words that bash would offer for the last one of a line.
std::string completed(const World& world, const std::string& words, int at) {
  const std::string file = world.home() + "/completion.bash";
  std::ofstream(file) << world.clawmark({"completion", "bash"}).out;
  const std::string command = "bash -c 'source " + file + "; COMP_WORDS=(" + words +
                              "); COMP_CWORD=" + std::to_string(at) +
                              "; _clawmark; printf \"%s \" \"${COMPREPLY[@]}\"'";
  return support::in_shell(command).out;
}

TEST(Reference, the_page_is_what_the_program_says) {
  const World world(false);
  const Outcome manual = world.clawmark({"manual", "--markdown"});
  ASSERT_EQ(manual.code, 0) << manual.err;
  EXPECT_EQ(manual.out, support::read_text(std::string(CLAWMARK_SOURCE_DIR) + "/docs/reference.md"))
      << "clawmark manual --markdown > docs/reference.md";
}

TEST(Reference, every_command_has_help_with_an_example) {
  const World world(false);
  const std::string page = world.clawmark({"manual", "--markdown"}).out;
  const std::regex heading("### `clawmark ([a-z]+)( [a-z]+)?");
  int commands = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), heading), end; at != end; ++at) {
    std::vector<std::string> words{(*at)[1].str()};
    if (words[0] == "parked" || words[0] == "config") {
      if ((*at)[2].matched) words.push_back((*at)[2].str().substr(1));
    }
    words.emplace_back("--help");
    const Outcome help = world.clawmark(words);
    EXPECT_EQ(help.code, 0) << words[0];
    EXPECT_THAT(help.out, HasSubstr("Example:  clawmark ")) << words[0];
    ++commands;
  }
  EXPECT_GT(commands, 20);
}

TEST(Reference, the_example_of_a_configuration_names_every_key_and_can_be_used_as_it_is) {
  const World world(false);
  const std::string text = world.clawmark({"config", "example"}).out;
  const std::string file = world.home() + "/config.json";
  support::write_text(file, text);
  const Outcome shown = world.clawmark({"--config", file, "--json", "config", "show"});
  EXPECT_EQ(shown.code, 0) << shown.out;
  const auto keys = parse_json(shown.out)->at("keys").as_array();
  for (const auto& key : keys) {
    const std::string name = get_string(key.as_object(), "key");
    EXPECT_EQ(get_string(key.as_object(), "origin"), "default") << name;
    if (name.ends_with("api_key")) continue;
    EXPECT_THAT(text, HasSubstr("// \"" + name + "\": "));
  }
  const auto all =
      parse_json_relaxed(std::regex_replace(text, std::regex("  // (\"[a-z_]+\": )"), "  $1"));
  EXPECT_TRUE(all.ok()) << "with every key in force it is JSON";
}

TEST(Reference, the_version_names_the_commit_it_was_built_of) {
  const World world(false);
  EXPECT_THAT(
      world.clawmark({"--version"}).out,
      testing::MatchesRegex("clawmark [0-9.]+( \\([0-9a-f]+(-dirty)?\\))?\nSQLite 3[0-9.]+\n"));
}

TEST(Reference, bash_completes_commands_their_words_and_options) {
  const World world(false);
  EXPECT_EQ(completed(world, "clawmark par", 1), "parked ");
  EXPECT_EQ(completed(world, "clawmark parked r", 2), "retry ");
  EXPECT_EQ(completed(world, "clawmark search --lim", 2), "--limit ");
  EXPECT_EQ(completed(world, "clawmark --json stat", 2), "status ");
  EXPECT_THAT(completed(world, "clawmark --recall", 1), HasSubstr("--recall-limit"));
}

TEST(Reference, other_shells_get_theirs_and_an_unknown_one_an_error) {
  const World world(false);
  EXPECT_THAT(world.clawmark({"completion", "fish"}).out,
              HasSubstr("-n __fish_use_subcommand -a search"));
  EXPECT_THAT(world.clawmark({"completion", "zsh"}).out, HasSubstr("bashcompinit"));
  const Outcome refused = world.clawmark({"completion", "tcsh"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("bash, zsh and fish"));
  const std::string page = world.clawmark({"manual"}).out;
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS"));
  EXPECT_THAT(page, HasSubstr("\\-\\-limit"));
}

}  // namespace
}  // namespace clawmark
