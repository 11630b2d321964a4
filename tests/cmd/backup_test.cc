// clawmark backup: a copy that can be opened, taken while the daemon runs, never over another file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/sqlite.h"
#include "tests/cmd/world.h"

namespace clawmark {
namespace {

using testing::HasSubstr;

TEST(Backup, beside_a_running_daemon_is_whole_and_can_be_used_in_its_place) {
  support::World world;
  ASSERT_EQ(world.once().code, 0);
  support::Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(support::eventually([&] { return std::filesystem::exists(world.socket()); }));
  ASSERT_EQ(world.clawmark({"--as", "owner", "set", "pref.editor", "helix"}).code, 0);
  const std::string copy = world / "copy.db";
  const auto made = world.clawmark_json({"backup", copy});
  EXPECT_TRUE(get_bool(made, "verified"));
  EXPECT_GT(get_int(made, "events"), 100);
  struct stat file{};
  ASSERT_EQ(::stat(copy.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  EXPECT_EQ(file.st_size, get_int(made, "bytes"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
  EXPECT_THAT(world.clawmark({"--db-path", copy, "--as", "owner", "facts"}).out,
              HasSubstr("helix"));
  EXPECT_EQ(world.clawmark({"--db-path", copy, "verify"}).code, 0);
}

TEST(Backup, overwrites_nothing_and_leaves_nothing_half_made) {
  support::World world;
  EXPECT_EQ(world.clawmark({"backup", world / "copy.db"}).code, 69) << "no store yet";
  ASSERT_EQ(world.once().code, 0);
  std::ofstream(world / "mine") << "precious";
  const auto refused = world.clawmark({"backup", world / "mine"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("nothing is overwritten"));
  EXPECT_EQ(support::read_text(world / "mine"), "precious");
  EXPECT_EQ(world.clawmark({"backup", world / "no/folder/copy.db"}).code, 2);
  for (const auto& entry : std::filesystem::directory_iterator(world.home())) {
    EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr(".part")));
  }
}

TEST(Backup, of_a_store_whose_chain_is_broken_is_refused) {
  support::World world;
  ASSERT_EQ(world.once().code, 0);
  {
    auto db = Database::open(world.db(), OpenMode::kReadWriteCreate);
    ASSERT_TRUE(db.ok());
    ASSERT_TRUE(db->exec("DROP TRIGGER events_no_update;"
                         "UPDATE events SET payload = '{\"text\":\"other\"}' WHERE seq = 5")
                    .ok());
  }
  const auto refused = world.clawmark({"backup", world / "copy.db"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("from event 5 on"));
  EXPECT_FALSE(std::filesystem::exists(world / "copy.db"));
}

}  // namespace
}  // namespace clawmark
