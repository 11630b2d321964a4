// Rows 2, 11, 12 and 18 of what was measured beside a live owner: every commit shows, and a reader
// under another user neither fails nor locks the owner out. The latter need to change user.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

#include "sources/foreign_db.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::HostDb;
using support::TempDir;
using Files = std::vector<std::string>;

constexpr uid_t kNobody = 65534;

// -1: not to be read.
std::int64_t rows(const std::string& path) {
  std::int64_t n = -1;
  const auto status = with_foreign_db(path, [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto count, db.query_int("SELECT count(*) FROM t"));
    n = count.value_or(-1);
    return Ok{};
  });
  return status.ok() ? n : -1;
}

// Gives up root for one check, in a child.
bool as_nobody(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(2);
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The owner has come and gone: a WAL database without side files.
std::string idle_store(const TempDir& dir, mode_t folder) {
  const std::string path = dir / "host.db";
  HostDb(path).exec("PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
  ::chmod(path.c_str(), 0644);
  ::chmod(dir.path().c_str(), folder);
  return path;
}

TEST(ForeignUsers, row_2_every_commit_of_the_owner_changes_the_token) {
  TempDir dir;
  const std::string path = dir / "host.db";
  HostDb host(path);
  host.exec("PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
  std::set<std::string> tokens = {foreign_change_token(path, -1)};
  for (int i = 0; i < 5; ++i) {
    host.exec("INSERT INTO t VALUES (1)");
    EXPECT_TRUE(tokens.insert(foreign_change_token(path, -1)).second) << i;
    EXPECT_FALSE(tokens.insert(foreign_change_token(path, -1)).second) << "without a commit";
  }
}

TEST(ForeignUsers, row_11_a_folder_that_is_not_writable_is_read_idle_and_live) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to change user";
  TempDir dir;
  const std::string path = idle_store(dir, 0755);
  EXPECT_TRUE(as_nobody([&] { return rows(path) == 1; }));
  EXPECT_EQ(support::list_files(dir.path()), Files{"host.db"});
  HostDb host(path);
  host.exec("INSERT INTO t VALUES (2)");
  for (const char* suffix : {"-wal", "-shm"}) ::chmod((path + suffix).c_str(), 0644);
  EXPECT_TRUE(as_nobody([&] { return rows(path) == 2; }));
}

TEST(ForeignUsers, row_12_root_reads_another_users_store_and_leaves_nothing_of_its_own) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to change user";
  TempDir dir;
  const std::string path = idle_store(dir, 0755);
  ASSERT_EQ(::chown(dir.path().c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(rows(path), 1);
  EXPECT_EQ(support::list_files(dir.path()), Files{"host.db"});
  EXPECT_TRUE(as_nobody([&] {
    HostDb(path).exec("INSERT INTO t VALUES (2)");
    return true;
  })) << "its owner is locked out";
  EXPECT_EQ(rows(path), 2);
}

TEST(ForeignUsers, row_18_a_reader_in_a_shared_folder_who_comes_first_does_not_lock_the_owner_out) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to change user";
  TempDir dir;
  const std::string path = idle_store(dir, 0777);
  EXPECT_TRUE(as_nobody([&] { return rows(path) == 1; }));
  EXPECT_EQ(support::list_files(dir.path()), Files{"host.db"}) << "side files of the reader";
  HostDb host(path);
  host.exec("INSERT INTO t VALUES (2)");
  EXPECT_EQ(rows(path), 2);
  // A log that its owner left behind, and nobody's shared memory beside it: not ours to make.
  TempDir left;
  ::chmod(left.path().c_str(), 0777);
  support::write_text(left / "host.db", support::read_text(path));
  support::write_text(left / "host.db-wal", support::read_text(path + "-wal"));
  for (const char* suffix : {"", "-wal"}) ::chmod((left / "host.db" + suffix).c_str(), 0644);
  EXPECT_TRUE(as_nobody([&] {
    const auto health = check_foreign_file(left / "host.db");
    return health.state == SourceState::kForbidden && health.reason == "not_owner";
  }));
  EXPECT_EQ(support::list_files(left.path()), (Files{"host.db", "host.db-wal"}));
}

}  // namespace
}  // namespace clawmark
