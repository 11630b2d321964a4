// `clawmark init` and `clawmark uninstall` on a home folder of their own. openclaw and systemctl
// are scripts that write down how they were called and answer as the real ones do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "tests/cmd/world.h"
#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

using support::Outcome;
using support::World;
using testing::HasSubstr;
using testing::Not;

constexpr char kOpenclaw[] = R"(#!/bin/sh
echo "openclaw $*" >>"$HOME/calls"
[ "$1 $2" != "$KILL_BEFORE" ] || { kill -9 $PPID; exit 1; }
[ -z "$FAIL_OPENCLAW" ] || { echo "first line"; echo "the host says no"; exit 1; }
config="$OPENCLAW_STATE_DIR/openclaw.json"
case "$1 $2" in
  'plugins install') echo '{"plugins":{"entries":{"clawmark":{"enabled":true}}}}' >"$config" ;;
  'plugins uninstall') echo '{"plugins":{"entries":{"clawmark":{"enabled":false}}}}' >"$config" ;;
  'config get') printf 'a line before\n{"enabled": true}\n' ;;
  'config set') echo '{"plugins":{"entries":{"clawmark":{"enabled":true,"hooks":{"allowConversationAccess":true}}}}}' >"$config" ;;
esac
[ "$1 $2" != "$KILL_AFTER" ] || kill -9 $PPID
)";
constexpr char kSystemctl[] = R"(#!/bin/sh
echo "systemctl $*" >>"$HOME/calls"
[ -z "$NO_MANAGER" ] || exit 1
case "$*" in
  *'--quiet is-'*) [ -e "$HOME/enabled" ] ;;
  *' enable '*) touch "$HOME/enabled"; [ "$1 $2" != "$KILL_AFTER" ] || kill -9 $PPID ;;
  *' disable '*) rm -f "$HOME/enabled" ;;
esac
)";

class Init : public testing::Test {
 protected:
  explicit Init(bool with_sample = true) : world(with_sample) {
    program("openclaw", kOpenclaw);
    program("systemctl", kSystemctl);
    world.extra["PATH"] = world / "bin" + ":/usr/bin:/bin";
  }
  void program(const std::string& name, const char* text) {
    std::filesystem::create_directories(world / "bin");
    support::write_text(world / ("bin/" + name), text);
    ::chmod((world / ("bin/" + name)).c_str(), 0755);
  }
  Outcome init(std::vector<std::string> more = {"--yes"}) {
    more.insert(more.begin(), {"init", "--plugin", std::string(CLAWMARK_SOURCE_DIR) + "/plugin"});
    return world.clawmark(more);
  }
  // What was run that changes something.
  std::vector<std::string> calls() {
    std::vector<std::string> out;
    std::string line;
    if (!std::filesystem::exists(world / "calls")) return out;
    for (const char c : support::read_text(world / "calls")) {
      if (c != '\n') {
        line += c;
        continue;
      }
      const bool asks = line.find("show-environment") != line.npos ||
                        line.find("is-") != line.npos || line.find("config get") != line.npos;
      if (!asks) out.push_back(line);
      line.clear();
    }
    return out;
  }
  void forget_calls() { std::filesystem::remove(world / "calls"); }
  // Every file of the home folder but what the scripts left, with its content.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out;
    for (const auto& file : std::filesystem::recursive_directory_iterator(world.home())) {
      const std::string name = file.path().string().substr(world.home().size() + 1);
      if (file.is_regular_file() && name != "calls") {
        out[name] = support::read_text(file.path().string());
      }
    }
    return out;
  }
  std::string config_file() const { return world / ".config/clawmark/config.json"; }
  std::string unit_file() const { return world / ".config/systemd/user/clawmark.service"; }

  World world;
};

TEST_F(Init, a_dry_run_shows_what_it_would_read_and_spend_and_changes_nothing) {
  const auto before = files();
  const Outcome shown = init({"--dry-run"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("It would read 101 messages"));
  EXPECT_THAT(shown.out, HasSubstr("It would spend nothing"));
  EXPECT_THAT(shown.out, HasSubstr("openclaw plugins install --link "));
  EXPECT_THAT(shown.out, HasSubstr("systemctl --user enable --now clawmark"));
  EXPECT_THAT(shown.out, HasSubstr("Nothing was changed"));
  EXPECT_THAT(calls(), testing::IsEmpty());
  EXPECT_EQ(files(), before);
}

TEST_F(Init, C164_the_cost_is_said_before_any_model_is_asked) {
  const Outcome shown =
      world.clawmark({"--json", "--extract-url", "http://127.0.0.1:9/v1", "--extract-model",
                      "gpt-4o-mini", "init", "--dry-run", "--skip-probe"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto answer = parse_json(shown.out)->as_object();
  const auto& cost = answer.at("found").at("cost").as_object();
  EXPECT_EQ(get_int(answer.at("found").as_object(), "messages"), 101);
  EXPECT_GT(get_int(cost, "extract_tokens"), 500);
  EXPECT_EQ(get_int(cost, "embed_tokens"), 0) << "built in";
}

TEST_F(Init, an_endpoint_that_does_not_answer_stops_it_before_anything_is_changed) {
  const auto before = files();
  const Outcome outcome = world.clawmark(
      {"--extract-url", "http://127.0.0.1:9/v1", "--extract-model", "m", "init", "--yes"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--skip-probe"));
  EXPECT_EQ(files(), before);
  EXPECT_THAT(calls(), testing::IsEmpty());
}

TEST_F(Init, yes_does_it_and_uninstall_takes_back_exactly_that) {
  const auto before = files();
  const Outcome done = init();
  ASSERT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_THAT(calls(),
              testing::ElementsAre(
                  HasSubstr("openclaw plugins install --link " + std::string(CLAWMARK_SOURCE_DIR) +
                            "/plugin --force --accept-capabilities"),
                  "openclaw config set plugins.entries.clawmark.hooks.allowConversationAccess true",
                  "systemctl --user daemon-reload", "systemctl --user enable --now clawmark"));
  EXPECT_THAT(support::read_text(unit_file()),
              HasSubstr("ExecStart=" CLAWMARK_BIN_DIR "/clawmarkd"));
  EXPECT_THAT(support::read_text(config_file()), HasSubstr(world.state()));
  EXPECT_EQ(world.clawmark({"config", "show"}).code, 0) << "the program reads what it wrote";
  forget_calls();

  const Outcome gone = world.clawmark({"uninstall", "--yes"});
  EXPECT_EQ(gone.code, 0) << gone.err;
  EXPECT_THAT(calls(), testing::ElementsAre("systemctl --user disable --now clawmark",
                                            "systemctl --user daemon-reload",
                                            "openclaw plugins uninstall clawmark --force"));
  auto after = files();
  EXPECT_EQ(after.erase(".openclaw/openclaw.json"),
            before.contains(".openclaw/openclaw.json") ? 0u : 1u)
      << "the host's own file, written by the host's own command";
  EXPECT_EQ(after, before);
  const Outcome twice = world.clawmark({"uninstall", "--yes"});
  forget_calls();
  EXPECT_EQ(init({"--yes", "--no-service"}).code, 0);
  EXPECT_THAT(calls(), testing::Contains("openclaw plugins enable clawmark"))
      << "what was uninstalled is off at the host";
  EXPECT_EQ(twice.code, 1);
  EXPECT_THAT(twice.err, HasSubstr("nothing to take back"));
}

TEST_F(Init, a_second_time_there_is_nothing_to_do) {
  ASSERT_EQ(init().code, 0);
  forget_calls();
  const auto before = files();
  const Outcome again = init();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("is as it should be"));
  EXPECT_THAT(calls(), testing::IsEmpty());
  EXPECT_EQ(files(), before);
}

TEST_F(Init, without_a_terminal_and_without_yes_it_says_what_to_add) {
  const auto before = files();
  const Outcome outcome = init({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--yes"));
  EXPECT_EQ(files(), before);
}

TEST_F(Init, a_configuration_that_is_there_is_copied_before_it_is_changed) {
  std::filesystem::create_directories(world / ".config/clawmark");
  const std::string old = "{\n  // mine\n  \"recall_limit\": 3,\n}\n";
  support::write_text(config_file(), old);
  ASSERT_EQ(init().code, 0);
  EXPECT_EQ(support::read_text(config_file()), old) << "nothing was given: it is not touched";

  const Outcome told = world.clawmark({"--idle-hours", "5", "init", "--yes", "--no-plugin"});
  ASSERT_EQ(told.code, 0) << told.err;
  const std::string now = support::read_text(config_file());
  EXPECT_THAT(now, HasSubstr("\"recall_limit\": 3"));
  EXPECT_THAT(now, HasSubstr("\"idle_hours\": 5"));
  const auto names = list_dir(world / ".config/clawmark");
  EXPECT_EQ(std::count_if(names.begin(), names.end(),
                          [](const auto& name) { return name.ends_with(".bak"); }),
            1);
  ASSERT_EQ(world.clawmark({"uninstall", "--yes"}).code, 0);
  EXPECT_EQ(support::read_text(config_file()), old);
}

TEST_F(Init, paths_are_written_from_the_root_and_passwords_are_not_shown) {
  const Outcome done =
      world.clawmark({"--db-path", "memory/clawmark.db", "--embedding-url",
                      "http://somebody:s3cret@127.0.0.1:9/v1", "--embedding-model", "m", "init",
                      "--yes", "--no-plugin", "--no-service", "--skip-probe"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out + done.err, Not(HasSubstr("s3cret")));
  const std::string written = support::read_text(config_file());
  EXPECT_THAT(written, HasSubstr("/memory/clawmark.db\""));
  EXPECT_THAT(written, Not(HasSubstr("\"memory/clawmark.db\"")));
  EXPECT_THAT(written, HasSubstr("s3cret")) << "the service has to know it";
}

TEST_F(Init, what_a_person_changed_since_stays) {
  ASSERT_EQ(init().code, 0);
  support::write_text(config_file(), "{\"recall_limit\": 1}\n");
  const Outcome gone = world.clawmark({"uninstall", "--yes"});
  EXPECT_EQ(gone.code, 0);
  EXPECT_THAT(gone.out, HasSubstr("was changed since and stays"));
  EXPECT_EQ(support::read_text(config_file()), "{\"recall_limit\": 1}\n");
}

TEST_F(Init, keys_of_the_shell_reach_the_service_and_no_output) {
  world.extra["CLAWMARK_API_KEY"] = "sk-EXAMPLE\"\\1";
  const Outcome done = init();
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out + done.err, Not(HasSubstr("sk-EXAMPLE")));
  const std::string path = world / ".config/clawmark/environment";
  EXPECT_THAT(support::read_text(path), HasSubstr(R"(CLAWMARK_EXTRACT_API_KEY="sk-EXAMPLE\"\\1")"));
  struct stat file = {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  EXPECT_THAT(support::read_text(config_file()), Not(HasSubstr("sk-EXAMPLE")));
}

TEST_F(Init, a_step_that_fails_says_what_the_host_said_and_can_be_undone) {
  world.extra["FAIL_OPENCLAW"] = "1";
  const Outcome outcome = init();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("the host says no"));
  EXPECT_FALSE(std::filesystem::exists(unit_file())) << "what comes after it is not begun";
  world.extra.erase("FAIL_OPENCLAW");
  forget_calls();
  EXPECT_EQ(world.clawmark({"uninstall", "--yes"}).code, 0);
  EXPECT_THAT(calls(), testing::IsEmpty()) << "the plugin was never installed";
  EXPECT_FALSE(std::filesystem::exists(config_file()));
}

TEST_F(Init, killed_at_any_of_its_commands_it_can_be_undone) {
  support::write_text(config_file(), "{\"recall_limit\": 4}\n");
  const auto before = files();
  for (const auto& [when, what] :
       {std::pair{"KILL_BEFORE", "plugins install"}, std::pair{"KILL_AFTER", "plugins install"},
        std::pair{"KILL_BEFORE", "config set"}, std::pair{"KILL_AFTER", "config set"},
        std::pair{"KILL_AFTER", "--user enable"}}) {
    world.extra[when] = what;
    const Outcome killed = init({"--yes", "--recall-limit", "5"});
    EXPECT_NE(killed.code, 0) << when << " " << what;
    EXPECT_TRUE(files() != before) << when << " " << what;
    world.extra.erase(when);
    const Outcome undone = world.clawmark({"uninstall", "--yes"});
    EXPECT_EQ(undone.code, 0) << undone.err;
    EXPECT_THAT(undone.out, Not(HasSubstr("stays\n  "))) << undone.out;
    auto after = files();
    after.erase(".openclaw/openclaw.json");  // the host's own; its entry stays, switched off
    EXPECT_TRUE(after == before) << when << " " << what << "\n" << undone.out;
  }
}

TEST_F(Init, a_linked_configuration_stays_a_link_with_its_mode) {
  support::write_text(world / "dotfiles/config.json", "{\"recall_limit\": 4}\n");
  ASSERT_EQ(::chmod((world / "dotfiles/config.json").c_str(), 0640), 0);
  std::filesystem::create_directories(world / ".config/clawmark");
  std::filesystem::create_symlink(world / "dotfiles/config.json", config_file());
  ASSERT_EQ(init({"--yes", "--recall-limit", "5"}).code, 0);
  EXPECT_THAT(support::read_text(world / "dotfiles/config.json"), HasSubstr("5"));
  ASSERT_EQ(world.clawmark({"uninstall", "--yes"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(config_file()));
  EXPECT_EQ(support::read_text(world / "dotfiles/config.json"), "{\"recall_limit\": 4}\n");
  EXPECT_EQ(std::filesystem::status(world / "dotfiles/config.json").permissions(),
            std::filesystem::perms(0640));
}

TEST_F(Init, a_change_that_was_only_announced_is_nothing_to_undo) {
  support::write_text(config_file(), "{\"recall_limit\": 4}\n");
  ASSERT_EQ(init({"--yes", "--recall-limit", "5"}).code, 0);
  // As if it had been killed between the note and the change, once before and once after the copy.
  const std::string copy = [&] {
    for (const auto& [name, text] : files()) {
      if (name.ends_with(".bak")) return world / name;
    }
    return std::string();
  }();
  ASSERT_NE(copy, "");
  support::write_text(config_file(), "{\"recall_limit\": 4}\n");
  const Outcome undone = world.clawmark({"uninstall", "--yes"});
  EXPECT_EQ(undone.code, 0) << undone.err;
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_EQ(support::read_text(config_file()), "{\"recall_limit\": 4}\n");
  EXPECT_THAT(undone.out, Not(HasSubstr("was changed since")));
}

TEST_F(Init, without_a_host_and_without_a_manager_the_rest_is_done_and_the_left_is_said) {
  std::filesystem::remove(world / "bin/openclaw");
  world.extra["NO_MANAGER"] = "1";
  const Outcome outcome = init();
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("openclaw is not on PATH"));
  EXPECT_THAT(outcome.out, HasSubstr("no systemd user manager"));
  EXPECT_TRUE(std::filesystem::exists(unit_file()));
  EXPECT_EQ(world.clawmark({"uninstall", "--yes"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(unit_file()));
}

TEST_F(Init, a_plugin_that_was_there_stays_there_also_when_the_host_s_file_is_json5) {
  support::write_text(world.state() + "/openclaw.json",
                      "{plugins: {entries: {clawmark: {enabled: true}}}}");
  ASSERT_EQ(init().code, 0);
  forget_calls();
  ASSERT_EQ(world.clawmark({"uninstall", "--yes"}).code, 0);
  EXPECT_THAT(calls(), testing::Contains("openclaw config unset "
                                         "plugins.entries.clawmark.hooks.allowConversationAccess"));
  EXPECT_THAT(calls(), Not(testing::Contains(HasSubstr("plugins uninstall"))));
}

TEST_F(Init, the_memory_goes_only_when_its_folder_is_named) {
  ASSERT_EQ(init().code, 0);
  ASSERT_EQ(world.once().code, 0);
  const std::string folder = world / ".local/share/clawmark";
  support::write_text(folder + "/notes.txt", "mine");
  const Outcome unnamed = world.clawmark({"uninstall", "--yes", "--purge-memory"});
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("--confirm " + folder));
  EXPECT_TRUE(std::filesystem::exists(unit_file())) << "nothing was changed";
  EXPECT_EQ(world.clawmark({"uninstall", "--yes", "--purge-memory", "--confirm", "/"}).code, 2);
  EXPECT_TRUE(std::filesystem::exists(world.db()));

  const Outcome kept = world.clawmark({"uninstall", "--yes"});
  EXPECT_THAT(kept.out, HasSubstr("The memory stays in " + folder));
  EXPECT_TRUE(std::filesystem::exists(world.db()));
  const Outcome gone =
      world.clawmark({"uninstall", "--yes", "--purge-memory", "--confirm", folder});
  EXPECT_EQ(gone.code, 0) << gone.err;
  EXPECT_THAT(list_dir(folder), testing::ElementsAre("notes.txt"));
}

class BareInit : public Init {
 protected:
  BareInit() : Init(false) {}
};

TEST_F(BareInit, without_a_state_folder_the_remedy_is_said) {
  const Outcome outcome = init();
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--state-dir"));
  EXPECT_THAT(calls(), testing::IsEmpty());
}

}  // namespace
}  // namespace clawmark
