// The program on real terminals: it comes up on all kinds, gives each back as it was, and what is
// stored cannot break the screen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/files.h"
#include "tests/cmd/world.h"
#include "tests/tui/sampled.h"
#include "tests/tui/tmux.h"

namespace clawmark {
namespace {

using support::Played;
using support::Sampled;
using support::Tmux;
using testing::HasSubstr;
using testing::Not;

std::string command() {
  static Sampled memory;
  return "clawmark --socket " + memory.socket() +
         " --db-path /var/lib/clawmark.db --timezone UTC tui";
}

// Lines are whole again, and the screen of before is back.
testing::Matcher<const std::string&> given_back(const std::string& code) {
  return testing::AllOf(HasSubstr("ENDED " + code + "\n"), HasSubstr("icanon"),
                        Not(HasSubstr("Conversations")));
}

TEST(Terminal, is_given_back_when_one_leaves) {
  Tmux tmux(command());
  tmux.wait_until("Conversations (12)");
  tmux.press("q");
  EXPECT_THAT(tmux.wait_until("icanon"), given_back("0"));
}

class TerminalSignals : public ::testing::TestWithParam<std::pair<int, const char*>> {};

TEST_P(TerminalSignals, give_it_back) {
  const auto& [signal, code] = GetParam();
  Tmux tmux(command());
  tmux.wait_until("Conversations (12)");
  tmux.signal(signal);
  EXPECT_THAT(tmux.wait_until("icanon"), given_back(code));
}

INSTANTIATE_TEST_SUITE_P(Ends, TerminalSignals,
                         ::testing::Values(std::pair{SIGTERM, "143"}, std::pair{SIGHUP, "129"},
                                           std::pair{SIGINT, "0"}, std::pair{SIGQUIT, "131"},
                                           std::pair{SIGABRT, "134"}, std::pair{SIGSEGV, "139"}));

TEST(Terminal, a_key_of_the_terminal_interrupts) {
  Tmux tmux(command());
  tmux.wait_until("Conversations (12)");
  tmux.press("C-c");
  EXPECT_THAT(tmux.wait_until("icanon"), given_back("0"));
}

TEST(Terminal, is_needed_and_said_so) {
  const auto piped = support::run("clawmark", {"--db-path", "/proc/version", "tui"}, {});
  EXPECT_EQ(piped.code, 69) << "no store";
  support::World world;
  ASSERT_EQ(world.once().code, 0);
  const auto outcome = world.clawmark({"tui"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("tui needs a terminal for input and output"));
  EXPECT_EQ(outcome.out, "");
}

TEST(Terminal, of_a_type_that_is_not_known_or_cannot_move_its_cursor_is_said_so) {
  for (const char* type : {"no-such-terminal", "dumb"}) {
    Tmux tmux(command(), {{"TERM", type}});
    const std::string shown = tmux.wait_until("icanon");
    EXPECT_THAT(shown, HasSubstr("(TERM) is not known here, or cann")) << type;
    EXPECT_THAT(shown, HasSubstr("ENDED 2\n")) << type;
  }
}

TEST(Terminal, without_colour_shows_the_same) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"TERM", "vt100"}, {"NO_COLOR", "1"}}) {
    Tmux tmux(command(), {{name, value}});
    const std::string shown = tmux.wait_until("Conversations (12)");
    EXPECT_THAT(shown, HasSubstr("\n> 2026-11-19 17:45 group")) << name;
    EXPECT_THAT(shown, HasSubstr("▲ WARNING")) << name;
  }
}

TEST(Terminal, without_a_utf8_locale_shows_ascii_of_the_same_shape) {
  Tmux tmux(command(), {{"LC_ALL", "C"}});
  const std::string shown = tmux.wait_until("Conversations (12)");
  EXPECT_THAT(shown, HasSubstr(" ! WARNING  daemon_absent * all read"));
  EXPECT_THAT(shown, HasSubstr("Jonas Lind, Mira Ok~ telegram:group:-1007001"));
  for (const char c : shown) ASSERT_LT(static_cast<unsigned char>(c), 0x80U);
}

TEST(Terminal, may_change_its_size_at_any_time) {
  Sampled memory;
  Played played(memory, {{}, false, "/var/lib/clawmark.db", "UTC"});
  Tmux tmux("clawmark --socket " + memory.socket() +
            " --db-path /var/lib/clawmark.db --timezone UTC tui");
  ASSERT_EQ(tmux.wait_for(played.screen()), "");
  tmux.press("4");
  played.press("4");
  for (const auto& [columns, rows] :
       std::vector<std::pair<int, int>>{{120, 40}, {40, 10}, {200, 7}, {30, 5}, {80, 24}}) {
    tmux.resize(columns, rows);
    played.resize(rows, columns);
    ASSERT_EQ(tmux.wait_for(played.screen()), "") << columns << " by " << rows;
  }
}

TEST(Terminal, what_is_pasted_is_no_command) {
  Tmux tmux(command());
  tmux.wait_until("Conversations (12)");
  tmux.press("7");
  tmux.wait_until("Facts (13)");
  tmux.paste("xy\nq");
  tmux.press("j");
  EXPECT_THAT(tmux.wait_until("\n> pref.jazz"), HasSubstr("Facts (13)"));
  tmux.press("/");
  tmux.wait_until(" / ▮");
  tmux.paste("mol\nlie");
  EXPECT_THAT(tmux.wait_until("mollie▮"), HasSubstr("Facts (1)"));
}

// Stored by the daemon, shown by the program, and put on the terminal by tmux's own idea of widths.
class StoredTexts : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(world.once().code, 0);
    ASSERT_EQ(set("user.c_controls", "a\x1b[2J\x1b]0;owned\x07\x1b[31mred\x1b[10;10Hjump\rback"),
              0);
    ASSERT_EQ(
        set("user.d_wide",
            "劇場 👩‍💻 e\u0301a\u0308 ไทยที่ \u202Eabc\u202C 한국 end"),
        0);
    ASSERT_EQ(set("user.e_long", std::string(1'500, 'x') + "劇"), 0);
  }
  int set(const std::string& key, const std::string& value) {
    return world.clawmark({"set", key, value}).code;
  }
  std::string tui() const {
    return "clawmark --socket " + world.socket() + " tui --db " + world.db();
  }
  support::World world;
};

TEST_F(StoredTexts, cannot_move_the_cursor_or_shift_a_line) {
  Tmux tmux(tui());
  tmux.wait_until("Conversations (12)");
  tmux.press("7");
  tmux.wait_until("Facts (16)");
  tmux.press("/");
  for (const char* key : {"u", "s", "e", "r", ".", "Enter"}) tmux.press(key);
  const std::string shown = tmux.wait_until("filter: user.");
  EXPECT_THAT(shown, HasSubstr("> user.c_controls                a [2J ]0;owned  [31m… user      "
                               "100% "));
  EXPECT_THAT(shown,
              HasSubstr("  user.d_wide                    劇場 👩💻 e\u0301a\u0308 ไทยที่ ab…"));
  EXPECT_THAT(shown, HasSubstr("  user.e_long                    xxxxxxxxxxxxxxxxxxxx… user      "
                               "100% "));
  EXPECT_THAT(shown, HasSubstr("[7 Facts]"));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 24);
  tmux.press("j");
  tmux.press("Enter");
  EXPECT_THAT(tmux.wait_until("Values"), HasSubstr("한국 end"));
}

TEST_F(StoredTexts, are_forgotten_by_name_through_the_daemon) {
  support::Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(support::eventually([&] { return stat_file(world.socket()).has_value(); }));
  Tmux tmux("clawmark --db-path " + world.db() + " --socket " + world.socket() + " tui");
  tmux.wait_until("Conversations (12)");
  tmux.press("7");
  tmux.wait_until("Facts (16)");
  tmux.press("/");
  for (const char* key : {"e", "_", "l", "o", "n", "g", "Enter"}) tmux.press(key);
  tmux.wait_until("filter: e_long");
  tmux.press("x");
  EXPECT_THAT(tmux.wait_until("y yes, do it"), HasSubstr("Forget user.e_long of person:owner?"));
  tmux.press("y");
  EXPECT_THAT(tmux.wait_until("nothing matches the filter"), HasSubstr("Forgot user.e_long."));
  tmux.press("q");  // takes the filter away
  EXPECT_THAT(tmux.wait_until("Facts (15)"), Not(HasSubstr("e_long")));
}

TEST_F(StoredTexts, are_not_changed_while_a_store_is_looked_at_by_itself) {
  support::Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(support::eventually([&] { return stat_file(world.socket()).has_value(); }));
  Tmux tmux(tui());
  tmux.wait_until("Conversations (12)");
  tmux.press("7");
  tmux.wait_until("Facts (16)");
  tmux.press("x");
  tmux.wait_until("nothing can be changed");
  EXPECT_EQ(find_array(world.clawmark_json({"facts"}), "facts")->size(), 16U);
}

}  // namespace
}  // namespace clawmark
