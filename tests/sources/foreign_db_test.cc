#include "sources/foreign_db.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::HostDb;
using support::TempDir;

std::int64_t rows(const std::string& path) {
  std::int64_t n = -1;
  const auto status = with_foreign_db(path, [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto count, db.query_int("SELECT count(*) FROM t"));
    n = count.value_or(-1);
    return Ok{};
  });
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : describe(status.error()));
  return n;
}

TEST(ForeignDb,
     C023_sees_rows_that_are_only_in_the_write_ahead_log_and_works_again_when_side_files_vanish) {
  TempDir dir;
  const auto path = dir / "live.db";
  {
    HostDb host(path);
    host.exec(
        "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1); PRAGMA "
        "wal_checkpoint(TRUNCATE)");
    host.exec("INSERT INTO t VALUES (2)");
    EXPECT_EQ(rows(path), 2);
  }
  EXPECT_EQ(support::list_files(dir.path()), std::vector<std::string>{"live.db"});
  EXPECT_EQ(rows(path), 2);
  EXPECT_EQ(support::list_files(dir.path()), std::vector<std::string>{"live.db"})
      << "side files were left";
}

// Gives up root for one check, in a child.
bool as_nobody(const std::function<bool()>& check) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    ::_exit(check() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(
    ForeignDb,
    C023_a_live_file_without_shared_memory_in_a_folder_of_another_user_is_refused_with_the_remedy) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to change user";
  TempDir dir;
  const auto path = dir / "live.db";
  HostDb host(path);
  host.exec("PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
  ::chmod(dir.path().c_str(), 0755);
  for (const char* suffix : {"", "-wal", "-shm"}) ::chmod((path + suffix).c_str(), 0644);
  EXPECT_TRUE(as_nobody([&] { return check_foreign_file(path).state == SourceState::kOk; }));
  TempDir copy;
  ::chmod(copy.path().c_str(), 0755);
  support::write_text(copy / "live.db", support::read_text(path));
  support::write_text(copy / "live.db-wal", support::read_text(path + "-wal"));
  for (const char* suffix : {"", "-wal"}) ::chmod((copy / "live.db" + suffix).c_str(), 0644);
  EXPECT_TRUE(as_nobody([&] {
    const auto health = check_foreign_file(copy / "live.db");
    return health.state == SourceState::kForbidden && health.reason == "permission" &&
           health.message.find("gateway's user") != std::string::npos;
  }));
  ::chmod((copy / "live.db").c_str(), 0600);
  EXPECT_TRUE(as_nobody(
      [&] { return check_foreign_file(copy / "live.db").state == SourceState::kForbidden; }));
}

TEST(ForeignDb, a_file_opened_by_its_owner_during_an_idle_read_is_busy_and_read_again_later) {
  TempDir dir;
  const auto path = dir / "x.db";
  {
    HostDb(path).exec("PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
  }
  std::optional<HostDb> host;
  const auto status = with_foreign_db(path, [&](Database&) -> Status {
    host.emplace(path);
    host->exec("INSERT INTO t VALUES (2)");
    return Ok{};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().reason, "busy");
  EXPECT_EQ(status.error().kind, ErrorKind::kRetriable);
  EXPECT_EQ(rows(path), 2);
}

TEST(ForeignDb, never_writes_and_never_checkpoints) {
  TempDir dir;
  const auto path = dir / "x.db";
  HostDb host(path);
  host.exec("PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
  const auto wal = support::read_text(path + "-wal");
  const auto status =
      with_foreign_db(path, [](Database& db) { return db.exec("INSERT INTO t VALUES (9)"); });
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(rows(path), 1);
  EXPECT_EQ(support::read_text(path + "-wal"), wal);
}

TEST(ForeignDb, what_is_no_database_is_named) {
  TempDir dir;
  support::write_text(dir / "empty.db", "");
  EXPECT_EQ(check_foreign_file(dir / "empty.db").state, SourceState::kNotInitialised);
  EXPECT_EQ(check_foreign_file(dir / "nothing.db").state, SourceState::kAbsent);
  EXPECT_EQ(check_foreign_file(dir.path()).state, SourceState::kBroken);
}

TEST(ForeignDb, change_token_shows_growth_of_the_log_and_is_empty_right_after_a_change) {
  TempDir dir;
  const auto path = dir / "x.db";
  HostDb host(path);
  host.exec("PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
  EXPECT_EQ(foreign_change_token(path), "");
  const timespec old[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  const auto settle = [&] {
    for (const char* suffix : {"", "-wal"}) ::utimensat(AT_FDCWD, (path + suffix).c_str(), old, 0);
  };
  settle();
  const auto before = foreign_change_token(path);
  EXPECT_NE(before, "");
  EXPECT_EQ(foreign_change_token(path), before);
  host.exec("INSERT INTO t VALUES (1)");
  settle();
  EXPECT_NE(foreign_change_token(path), before);
}

}  // namespace
}  // namespace clawmark
