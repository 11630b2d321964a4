// SQLite handles: owners, modes, errors.

#include "base/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"

namespace clawmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << describe(result.error());
    std::abort();
  }
  return std::move(result).value();
}

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "clawmark-XXXXXX").string();
    dir_ = ::mkdtemp(pattern.data());
    path_ = dir_ + "/a b?c#d%e.db";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  Database open(OpenMode mode = OpenMode::kReadWriteCreate) {
    return must(Database::open(path_, mode));
  }
  std::string dir_, path_;
};

TEST_F(SqliteTest, values_of_every_kind_come_back) {
  auto db = must(Database::open_memory());
  must(db.exec("CREATE TABLE t(a, b, c, d, e, f)"));
  const std::string text("nul\0inside", 10);
  const std::uint8_t blob[] = {0, 1, 255};
  must(db.run("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", std::int64_t{1} << 40, 0.5, text,
              std::span<const std::uint8_t>(blob), nullptr, std::optional<int>()));
  auto rows = must(db.prepare("SELECT a, b, c, d, e, f FROM t"));
  ASSERT_TRUE(must(rows.step()));
  EXPECT_EQ(rows.integer(0), std::int64_t{1} << 40);
  EXPECT_EQ(rows.real(1), 0.5);
  EXPECT_EQ(rows.string(2), text);
  EXPECT_THAT(rows.blob(3), ElementsAre(0, 1, 255));
  EXPECT_TRUE(rows.is_null(4));
  EXPECT_TRUE(rows.is_null(5));
  EXPECT_FALSE(must(rows.step()));
}

TEST_F(SqliteTest, an_empty_view_is_an_empty_text_and_not_null) {
  auto db = must(Database::open_memory());
  must(db.exec("CREATE TABLE t(a TEXT NOT NULL, b BLOB NOT NULL)"));
  must(db.run("INSERT INTO t VALUES (?, ?)", std::string_view(), std::span<const std::uint8_t>()));
  EXPECT_EQ(must(db.query_text("SELECT a FROM t")), "");
  EXPECT_EQ(must(db.query_int("SELECT length(b) FROM t")), 0);
}

TEST_F(SqliteTest, a_parameter_of_the_last_use_does_not_stay) {
  auto db = must(Database::open_memory());
  auto query = must(db.prepare("SELECT ?, ?"));
  ASSERT_TRUE(must(query.with(1, 2).step()));
  ASSERT_TRUE(must(query.with(3).step()));
  EXPECT_EQ(query.integer(0), 3);
  EXPECT_TRUE(query.is_null(1));
}

TEST_F(SqliteTest, the_first_row_or_nothing) {
  auto db = must(Database::open_memory());
  EXPECT_EQ(must(db.query_int("SELECT 1 WHERE 0")), std::nullopt);
  EXPECT_EQ(must(db.query_int("SELECT NULL")), std::nullopt);
  EXPECT_EQ(must(db.query_text("SELECT ?", "x")), "x");
  EXPECT_FALSE(db.query_int("SELECT FROM").ok());
}

TEST_F(SqliteTest, a_name_full_of_uri_signs_is_a_name_and_all_files_are_private) {
  const auto before = ::umask(0);
  auto db = open();
  ::umask(before);
  must(db.exec("CREATE TABLE t(a)"));
  EXPECT_THAT(list_dir(dir_), ElementsAre("a b?c#d%e.db", "a b?c#d%e.db-shm", "a b?c#d%e.db-wal"));
  for (const auto& name : list_dir(dir_)) {
    struct stat info{};
    ASSERT_EQ(::stat((dir_ + "/" + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
  EXPECT_EQ(must(db.query_text("PRAGMA journal_mode")), "wal");
  EXPECT_EQ(must(db.query_int("PRAGMA foreign_keys")), 1);
  EXPECT_EQ(must(db.query_int("PRAGMA secure_delete")), 1);
}

TEST_F(SqliteTest, read_only_modes_refuse_to_write_and_do_not_create) {
  for (const auto mode : {OpenMode::kReadOnly, OpenMode::kForeignReadOnly, OpenMode::kImmutable}) {
    EXPECT_EQ(Database::open(path_, mode).error().reason, "cantopen");
  }
  EXPECT_TRUE(list_dir(dir_).empty());
  must(open().exec("CREATE TABLE t(a)"));
  for (const auto mode : {OpenMode::kReadOnly, OpenMode::kForeignReadOnly, OpenMode::kImmutable}) {
    auto db = open(mode);
    EXPECT_FALSE(db.exec("INSERT INTO t VALUES (1)").ok());
    EXPECT_EQ(must(db.query_int("SELECT count(*) FROM t")), 0);
  }
}

TEST_F(SqliteTest, an_immutable_look_leaves_no_side_files) {
  must(open().exec("CREATE TABLE t(a)"));
  ASSERT_EQ(list_dir(dir_).size(), 1u);
  auto db = open(OpenMode::kImmutable);
  EXPECT_EQ(must(db.query_int("SELECT count(*) FROM t")), 0);
  EXPECT_EQ(list_dir(dir_).size(), 1u);
}

TEST_F(SqliteTest, a_transaction_that_is_not_committed_never_was) {
  auto db = open();
  must(db.exec("CREATE TABLE t(a)"));
  {
    auto txn = must(Transaction::begin(db));
    must(db.run("INSERT INTO t VALUES (1)"));
    auto moved = std::move(txn);
    EXPECT_TRUE(db.in_transaction());
  }
  EXPECT_FALSE(db.in_transaction());
  EXPECT_EQ(must(db.query_int("SELECT count(*) FROM t")), 0);
  auto txn = must(Transaction::begin(db, Durability::kFull));
  EXPECT_EQ(must(db.query_int("PRAGMA synchronous")), 2);
  must(db.run("INSERT INTO t VALUES (1)"));
  must(txn.commit());
  EXPECT_EQ(must(db.query_int("SELECT count(*) FROM t")), 1);
  auto next = must(Transaction::begin(db));
  EXPECT_EQ(must(db.query_int("PRAGMA synchronous")), 1);
}

TEST_F(SqliteTest, errors_are_of_the_kinds_that_callers_act_upon) {
  auto db = open();
  must(db.exec("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)"));
  const auto twice = db.run("INSERT INTO t VALUES (?)", 1);
  EXPECT_EQ(twice.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(twice.error().reason, "constraint");
  auto other = open();
  must(other.exec("PRAGMA busy_timeout=0"));
  {
    auto txn = must(Transaction::begin(db));
    const auto busy = Transaction::begin(other);
    EXPECT_EQ(busy.error().kind, ErrorKind::kRetriable);
    EXPECT_EQ(busy.error().reason, "busy");
  }
  EXPECT_TRUE(Transaction::begin(other).ok()) << "a lost race leaves no transaction behind";
  EXPECT_EQ(sqlite_error(SQLITE_CORRUPT_INDEX, "x", "y").kind, ErrorKind::kFatal);
  EXPECT_EQ(sqlite_error(SQLITE_IOERR_READ, "x", "y").kind, ErrorKind::kRetriable);
  EXPECT_EQ(sqlite_error(SQLITE_FULL, "x", "y").reason, "full");
}

TEST_F(SqliteTest, a_full_disk_is_said_of_the_file_not_of_a_statement) {
  auto db = open();
  must(db.exec("CREATE TABLE t(a); PRAGMA max_page_count=3"));
  const auto error = db.run("INSERT INTO t VALUES (?)", std::string(100'000, 'x')).error();
  EXPECT_EQ(error.reason, "full");
  EXPECT_THAT(error.message, HasSubstr(dir_));
  EXPECT_THAT(error.message, HasSubstr("disk is full"));
  EXPECT_THAT(error.message, testing::Not(HasSubstr("INSERT")));
}

TEST_F(SqliteTest, an_error_does_not_hold_what_was_bound) {
  auto db = must(Database::open_memory());
  must(db.exec("CREATE TABLE t(a TEXT UNIQUE); INSERT INTO t VALUES ('my private words')"));
  const auto error = db.run("INSERT INTO t VALUES (?)", "my private words").error();
  EXPECT_THAT(error.message, testing::Not(HasSubstr("private")));
}

TEST_F(SqliteTest, a_cached_statement_is_handed_out_reset) {
  auto db = must(Database::open_memory());
  must(db.exec("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)"));
  auto* first = must(db.cached("SELECT a FROM t ORDER BY a"));
  ASSERT_TRUE(must(first->step()));
  ASSERT_TRUE(must(first->step()));
  auto* second = must(db.cached("SELECT a FROM t ORDER BY a"));
  EXPECT_EQ(first, second);
  ASSERT_TRUE(must(second->step()));
  EXPECT_EQ(second->integer(0), 1);
}

TEST_F(SqliteTest, a_running_query_can_be_stopped) {
  auto db = must(Database::open_memory());
  int asked = 0;
  db.set_progress([&] { return ++asked > 3; });
  const char* endless =
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
  const auto stopped = db.query_int(endless);
  EXPECT_EQ(stopped.error().reason, "interrupt");
  EXPECT_EQ(stopped.error().kind, ErrorKind::kRetriable);
  db.set_progress(nullptr);
  EXPECT_EQ(must(db.query_int("SELECT 1")), 1);
}

}  // namespace
}  // namespace clawmark
