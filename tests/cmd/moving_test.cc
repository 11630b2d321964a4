// clawmark export and import at the command line: what tests/workers/moving_test.cc proves of the
// store, carried by files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "tests/cmd/world.h"

namespace clawmark {
namespace {

using support::Outcome;
using support::World;
using testing::HasSubstr;
using testing::Not;

class MovingFiles : public testing::Test {
 protected:
  MovingFiles() { EXPECT_EQ(world.once().code, 0); }
  Outcome there(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--db-path", world / "new/clawmark.db"});
    return world.clawmark(std::move(arguments));
  }
  World world;
};

TEST_F(MovingFiles, the_memory_is_the_same_elsewhere) {
  const Outcome out = world.clawmark({"export", world / "m.jsonl"});
  ASSERT_EQ(out.code, 0) << out.err;
  struct stat file{};
  ASSERT_EQ(::stat((world / "m.jsonl").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  const Outcome tried = there({"import", world / "m.jsonl", "--dry-run"});
  EXPECT_EQ(tried.code, 0) << tried.err;
  EXPECT_THAT(tried.out, HasSubstr("would be new"));
  EXPECT_FALSE(std::filesystem::exists(world / "new/clawmark.db"));
  const Outcome in = there({"import", world / "m.jsonl"});
  ASSERT_EQ(in.code, 0) << in.err;
  EXPECT_EQ(there({"verify"}).code, 0);
  for (const std::vector<std::string>& question :
       {std::vector<std::string>{"facts"}, {"restore"}, {"search", "payment provider"}}) {
    EXPECT_EQ(there(question).out, world.clawmark(question).out) << question[0];
  }
  EXPECT_THAT(there({"import", world / "m.jsonl"}).out, HasSubstr(" 0 of them new"));
  EXPECT_EQ(world.clawmark({"export", "-"}).out, support::read_text(world / "m.jsonl"));
}

TEST_F(MovingFiles, nothing_is_overwritten_and_a_damaged_file_makes_no_store) {
  support::write_text(world / "mine", "precious");
  const Outcome refused = world.clawmark({"export", world / "mine"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(support::read_text(world / "mine"), "precious");
  const Outcome other = there({"import", world / "mine"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("line 1"));
  EXPECT_FALSE(std::filesystem::exists(world / "new/clawmark.db"));
}

TEST_F(MovingFiles, what_was_forgotten_a_moment_ago_does_not_travel) {
  ASSERT_EQ(world.clawmark({"forget", "--query", "Stripe"}).code, 0);
  const Outcome waits = world.clawmark({"export", world / "m.jsonl"});
  EXPECT_EQ(waits.code, 1);
  EXPECT_THAT(waits.err, HasSubstr("clawmark forget --purge"));
  ASSERT_EQ(world.clawmark({"forget", "--purge"}).code, 0);
  ASSERT_EQ(world.clawmark({"export", world / "m.jsonl"}).code, 0);
  EXPECT_THAT(support::read_text(world / "m.jsonl"), Not(HasSubstr("Stripe")));
}

TEST_F(MovingFiles, a_fact_that_was_forgotten_a_moment_ago_does_not_travel_either) {
  ASSERT_EQ(world.clawmark({"set", "user.pet", "a lantern fish called Zorbax"}).code, 0);
  ASSERT_EQ(world.clawmark({"forget", "user.pet"}).code, 0);
  const Outcome waits = world.clawmark({"export", world / "m.jsonl"});
  EXPECT_EQ(waits.code, 1);
  EXPECT_THAT(waits.err, HasSubstr("clawmark forget --purge"));
  EXPECT_THAT(world.clawmark({"doctor"}).out, HasSubstr("leave the log within the hour"));
  ASSERT_EQ(world.clawmark({"forget", "--purge"}).code, 0);
  ASSERT_EQ(world.clawmark({"export", world / "m.jsonl"}).code, 0);
  EXPECT_THAT(support::read_text(world / "m.jsonl"), Not(HasSubstr("Zorbax")));
}

TEST_F(MovingFiles, what_cannot_be_imported_makes_no_store) {
  support::write_text(world / "mine", "precious");
  support::write_text(world / "new/clawmark.db.v1.bak", "an older store");
  for (const char* kind : {"clawmark", "recursive-claw", "worldclaw", "lcm", "memory-files"}) {
    EXPECT_NE(there({"import", "--from", kind, world / "mine"}).code, 0) << kind;
    EXPECT_FALSE(std::filesystem::exists(world / "new/clawmark.db")) << kind;
    EXPECT_TRUE(std::filesystem::exists(world / "new/clawmark.db.v1.bak")) << kind;
  }
}

TEST_F(MovingFiles, a_running_daemon_keeps_its_store_to_itself) {
  ASSERT_EQ(world.clawmark({"export", world / "m.jsonl"}).code, 0);
  support::Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(support::eventually([&] { return std::filesystem::exists(world.socket()); }));
  const Outcome held = world.clawmark({"import", world / "m.jsonl"});
  EXPECT_EQ(held.code, 75) << held.err;
  EXPECT_EQ(world.clawmark({"export", world / "again.jsonl"}).code, 0) << "reading goes on";
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

TEST_F(MovingFiles, the_host_s_own_memory_files_come_in_after_a_dry_run) {
  std::filesystem::create_directories(world / "workspace/memory");
  support::write_text(world / "workspace/MEMORY.md", "# Boat\n\nThe dinghy is called Walnut.\n");
  const std::vector<std::string> command{"import", "--from", "memory-files", world / "workspace"};
  std::vector<std::string> dry = command;
  dry.emplace_back("--dry-run");
  EXPECT_THAT(world.clawmark(dry).out, HasSubstr("1 messages, 1 of them would be new"));
  EXPECT_THAT(there(dry).out, HasSubstr("1 of them would be new"));
  EXPECT_FALSE(std::filesystem::exists(world / "new/clawmark.db"));
  EXPECT_EQ(world.clawmark({"--as", "owner", "search", "Walnut"}).out.find("dinghy"),
            std::string::npos);
  const Outcome done = world.clawmark(command);
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(world.clawmark({"--as", "owner", "search", "Walnut"}).out, HasSubstr("dinghy"));
  EXPECT_THAT(world.clawmark(command).out, HasSubstr(" 0 of them new"));
}

}  // namespace
}  // namespace clawmark
