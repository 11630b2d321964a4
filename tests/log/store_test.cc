// The store's file: modes, versions, backups, shape.

#include "log/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "log/schema_state.h"
#include "support.h"

namespace clawmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kSecond[] =
    "ALTER TABLE source_states ADD COLUMN retry_count INTEGER NOT NULL DEFAULT 0;"
    "CREATE TABLE extra(id INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;";

std::vector<Migration> with_second(const char* sql = kSecond) {
  std::vector<Migration> out(migrations().begin(), migrations().end());
  out.push_back({static_cast<int>(out.size()) + 1, "next", sql});
  return out;
}

int mode_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : -1;
}

class StoreTest : public testing::Test {
 protected:
  Result<Store> open(std::span<const Migration> schema = migrations()) {
    StoreOptions options;
    options.path = path_;
    options.schema = schema;
    return Store::open(options, clock_);
  }
  void exec(const std::string& sql) {
    auto db = must(Database::open(path_, OpenMode::kReadWriteCreate));
    must(db.exec(sql));
  }
  std::string bytes() { return read_file(path_).value(); }

  TempDir dir_;
  ManualClock clock_;
  std::string path_ = dir_.file("data/clawmark.db");
};

TEST_F(StoreTest, C173_folder_0700_and_every_file_0600_under_a_lax_umask) {
  const auto before = ::umask(0);
  {
    Store store = must(open());
    append_count(store, 3);
    EXPECT_EQ(mode_of(dir_.file("data")), 0700);
    const auto names = list_dir(dir_.file("data"));
    EXPECT_EQ(names.size(), 4u) << "db, -wal, -shm, .lock";
    for (const auto& name : names) EXPECT_EQ(mode_of(dir_.file("data/" + name)), 0600) << name;
  }
  const auto two = with_second();
  (void)must(open(two));
  ::umask(before);
  for (const auto& name : list_dir(dir_.file("data"))) {
    EXPECT_EQ(mode_of(dir_.file("data/" + name)), 0600) << name;
  }
}

TEST_F(StoreTest, C173_files_that_were_made_readable_are_closed_again) {
  (void)must(open());
  ::chmod(path_.c_str(), 0644);
  Store store = must(open());
  EXPECT_EQ(mode_of(path_), 0600);
}

TEST_F(StoreTest, origin_is_a_uuid_made_once) {
  const std::string first = must(open()).origin();
  EXPECT_THAT(first,
              testing::MatchesRegex("[0-9a-f]+-[0-9a-f]+-4[0-9a-f]+-[89ab][0-9a-f]+-[0-9a-f]+"));
  EXPECT_EQ(first.size(), 36u);
  EXPECT_EQ(must(open()).origin(), first);
}

TEST_F(StoreTest, the_ledger_says_which_version_and_when) {
  Store store = must(open());
  const auto latest = std::to_string(migrations().back().number);
  EXPECT_EQ(must(store.db().query_text("SELECT value FROM meta WHERE key = 'schema'")), latest);
  EXPECT_EQ(must(store.db().query_text("SELECT applied_at FROM schema_version WHERE version = 1")),
            format_iso(clock_.now()));
}

TEST_F(StoreTest, a_second_owner_is_told_who_the_first_is) {
  StoreOptions options;
  options.path = path_;
  options.holder = "clawmarkd pid 4711 since noon";
  Store first = must(Store::open(options, clock_));
  options.holder = "other";
  const auto second = Store::open(options, clock_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(second.error().reason, "held");
  EXPECT_THAT(second.error().message, HasSubstr("clawmarkd pid 4711 since noon"));
}

TEST_F(StoreTest, C156_a_link_leads_to_the_same_lock) {
  Store first = must(open());
  std::filesystem::create_symlink(path_, dir_.file("link.db"));
  std::filesystem::create_directory_symlink(dir_.file("data"), dir_.file("folder"));
  for (const auto& other : {dir_.file("link.db"), dir_.file("folder/clawmark.db"),
                            dir_.file("data/../data/clawmark.db")}) {
    StoreOptions options;
    options.path = other;
    EXPECT_EQ(Store::open(options, clock_).error().reason, "held") << other;
  }
}

TEST_F(StoreTest, a_link_to_a_store_that_is_not_made_yet_makes_it_at_its_target) {
  std::filesystem::create_symlink("data/clawmark.db", dir_.file("link.db"));
  Store store = open_store(dir_.file("link.db"), clock_);
  EXPECT_EQ(std::filesystem::canonical(store.path()), std::filesystem::canonical(path_));
  EXPECT_TRUE(stat_file(path_ + ".lock").has_value());
}

TEST_F(StoreTest, C156_a_second_name_of_the_file_is_refused_and_gets_no_lock) {
  {
    Store first = must(open());
    std::filesystem::create_hard_link(path_, dir_.file("other.db"));
    StoreOptions options;
    options.path = dir_.file("other.db");
    const auto second = Store::open(options, clock_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().reason, "linked");
    EXPECT_THAT(second.error().message, HasSubstr("-samefile " + options.path));
    EXPECT_EQ(Store::open_read_only(options.path).error().reason, "linked");
    EXPECT_FALSE(stat_file(options.path + ".lock").has_value());
  }
  EXPECT_EQ(open().error().reason, "linked");  // which of the two was written through is not known
  std::filesystem::remove(dir_.file("other.db"));
  EXPECT_TRUE(open().ok());
}

TEST_F(StoreTest, a_folder_that_is_open_to_others_is_told_once) {
  std::filesystem::create_directory(dir_.file("open"));
  ::chmod(dir_.file("open").c_str(), 0755);
  testing::internal::CaptureStderr();
  (void)open_store(dir_.file("open/clawmark.db"), clock_);
  const std::string told = testing::internal::GetCapturedStderr();
  const auto first = told.find("open to other users");
  ASSERT_NE(first, std::string::npos) << told;
  EXPECT_EQ(told.find("open to other users", first + 1), std::string::npos) << told;
}

TEST_F(StoreTest, the_lock_ends_with_its_owner) {
  {
    Store first = must(open());
  }
  EXPECT_TRUE(open().ok());
}

TEST_F(StoreTest, a_file_system_that_cannot_carry_it_is_refused_before_anything_is_made) {
  StoreOptions options;
  options.path = path_;
  options.unsafe_filesystem = [](const std::string&) { return std::string("9p"); };
  const auto store = Store::open(options, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().reason, "unsafe_filesystem");
  EXPECT_THAT(store.error().message, AllOf(HasSubstr("9p"), HasSubstr("local disk")));
  EXPECT_TRUE(list_dir(dir_.file("data")).empty());
}

TEST_F(StoreTest, a_database_of_someone_else_is_left_alone) {
  must(make_private_dir(dir_.file("data")));
  exec("CREATE TABLE theirs(x)");
  const std::string before = bytes();
  EXPECT_EQ(open().error().reason, "not_a_store");
  EXPECT_EQ(bytes(), before);
}

TEST_F(StoreTest, a_file_that_is_no_database_is_named) {
  must(make_private_dir(dir_.file("data")));
  must(write_file_atomic(path_, std::string(8192, 'x')));
  const auto store = open();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().reason, "notadb");
  EXPECT_NE(store.error().message.find(path_ + " is damaged, or no database"), std::string::npos)
      << store.error().message;
  EXPECT_EQ(store.error().message.find("PRAGMA"), std::string::npos);
  const auto read = Store::open_read_only(path_);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message, store.error().message);
  EXPECT_EQ(bytes(), std::string(8192, 'x'));
}

TEST_F(StoreTest, C165_the_backup_comes_before_the_first_statement_and_takes_you_back) {
  {
    Store store = must(open());
    append_count(store, 5);
  }
  const auto two = with_second();
  {
    Store store = must(open(two));
    append_count(store, 2, "later");
    EXPECT_EQ(must(schema_version(store.db())), two.back().number);
  }
  const std::string backup = path_ + ".v" + std::to_string(migrations().size()) + ".bak";
  ASSERT_TRUE(stat_file(backup).has_value());
  EXPECT_EQ(mode_of(backup), 0600);
  // Then the older program meets the newer file: refused, untouched, nothing beside it.
  const std::string before = bytes();
  const auto names = list_dir(dir_.file("data"));
  const auto refused = open();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, "schema_newer");
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr(backup), HasSubstr("schema " + std::to_string(two.size()))));
  EXPECT_EQ(Store::open_read_only(path_).error().reason, "schema_newer");
  EXPECT_EQ(bytes(), before);
  // After the backup is put back, it runs with what it had.
  std::filesystem::copy_file(backup, path_, std::filesystem::copy_options::overwrite_existing);
  for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  Store store = must(open());
  EXPECT_EQ(must(EventLog::head(store.db())), Seq{5});
  EXPECT_TRUE(must(EventLog::verify(store.db())).chain_valid);
}

TEST_F(StoreTest, C165_refusal_of_a_newer_file_makes_no_side_files) {
  const auto two = with_second();
  (void)must(open(two));
  const auto names = list_dir(dir_.file("data"));
  EXPECT_EQ(open().error().reason, "schema_newer");
  EXPECT_EQ(list_dir(dir_.file("data")), names);
  EXPECT_FALSE(stat_file(path_ + "-wal").has_value());
}

TEST_F(StoreTest, C165_reading_or_opening_a_newer_file_leaves_the_folder_as_it_was) {
  const auto two = with_second();
  (void)must(open(two));
  std::filesystem::remove(path_ + ".lock");
  const std::string before = bytes();
  const auto names = list_dir(dir_.file("data"));
  EXPECT_EQ(Store::open_read_only(path_).error().reason, "schema_newer");
  EXPECT_EQ(open().error().reason, "schema_newer");
  EXPECT_EQ(list_dir(dir_.file("data")), names);
  EXPECT_EQ(names.size(), 1u) << "the file alone";
  EXPECT_EQ(bytes(), before);
}

TEST_F(StoreTest, C165_a_newer_version_that_is_only_in_the_wal_is_seen_as_well) {
  const auto two = with_second();
  std::string main_bytes, wal_bytes;
  {
    Store store = must(open());
    append_count(store, 1);
  }
  {
    Store store = must(open(two));
    append_count(store, 1, "w");
    main_bytes = bytes();
    wal_bytes = read_file(path_ + "-wal").value();
  }
  ASSERT_FALSE(wal_bytes.empty());
  // As a killed process leaves it.
  must(write_file_atomic(path_, main_bytes));
  must(write_file_atomic(path_ + "-wal", wal_bytes));
  EXPECT_EQ(open().error().reason, "schema_newer");
  EXPECT_EQ(bytes(), main_bytes);
  EXPECT_EQ(read_file(path_ + "-wal").value(), wal_bytes);
}

TEST_F(StoreTest, C165_a_migration_that_fails_half_way_is_rolled_back_and_named) {
  {
    Store store = must(open());
    append_count(store, 5);
  }
  const auto broken = with_second("CREATE TABLE half(x) STRICT; CREATE TABLE events(y);");
  const auto failed = open(broken);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().reason, "migration");
  EXPECT_THAT(failed.error().message, HasSubstr("next"));
  EXPECT_TRUE(stat_file(path_ + ".v" + std::to_string(migrations().size()) + ".bak").has_value());
  Store store = must(open());
  EXPECT_EQ(must(store.db().query_int("SELECT count(*) FROM sqlite_schema WHERE name = 'half'")),
            0);
  EXPECT_EQ(must(EventLog::head(store.db())), Seq{5});
}

TEST_F(StoreTest, C036_missing_triggers_and_indexes_are_made_again) {
  {
    Store store = must(open());
    append_count(store, 3);
  }
  exec(
      "DROP TRIGGER events_no_delete; DROP TRIGGER events_count; DROP INDEX events_type;"
      "DROP TRIGGER events_dense;"
      "CREATE TRIGGER events_dense BEFORE INSERT ON events BEGIN SELECT 1; END;");
  Store store = must(open());
  EXPECT_FALSE(store.db().exec("DELETE FROM events").ok());
  EXPECT_EQ(must(store.db().query_int("SELECT count(*) FROM sqlite_schema WHERE name ="
                                      " 'events_type'")),
            1);
  append_count(store, 2, "more");
  must(EventLog::check_dense(store.db()));
}

TEST_F(StoreTest, C036_missing_columns_and_tables_are_refused_in_one_message) {
  (void)must(open());
  exec("ALTER TABLE cursors DROP COLUMN attempts; DROP TABLE locators; DROP INDEX chunks_hash;");
  const auto store = open();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().kind, ErrorKind::kFatal);
  EXPECT_EQ(store.error().reason, "schema_shape");
  EXPECT_THAT(store.error().message,
              AllOf(HasSubstr("cursors: column attempts"), HasSubstr("table locators")));
}

TEST_F(StoreTest, C036_a_lost_foreign_key_is_refused) {
  (void)must(open());
  exec(
      "DROP TABLE vectors; CREATE TABLE vectors(model INTEGER NOT NULL, hash BLOB NOT NULL,"
      " scale REAL NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(model, hash))"
      " STRICT, WITHOUT ROWID;");
  EXPECT_THAT(open().error().message, HasSubstr("vectors: foreign key model"));
}

TEST_F(StoreTest, tables_of_projections_are_nobodys_harm) {
  (void)must(open());
  exec(
      "CREATE TABLE facts__g1(a); CREATE VIEW facts AS SELECT a FROM facts__g1;"
      "CREATE INDEX facts__g1_a ON facts__g1(a);");
  EXPECT_TRUE(open().ok());
}

TEST_F(StoreTest, a_log_with_a_hole_is_refused_at_open) {
  {
    Store store = must(open());
    append_count(store, 5);
  }
  exec("DROP TRIGGER events_no_delete; DELETE FROM events WHERE seq = 3;");
  EXPECT_EQ(open().error().reason, "not_dense");
}

TEST_F(StoreTest, a_log_that_lost_its_end_is_refused_at_open) {
  {
    Store store = must(open());
    append_count(store, 5);
  }
  exec("DROP TRIGGER events_no_delete; DELETE FROM events WHERE seq = 5;");
  EXPECT_EQ(open().error().reason, "cut_off");
}

TEST_F(StoreTest, a_folder_that_cannot_be_had_is_named_with_the_remedy) {
  must(make_private_dir(dir_.file("data")));
  exec("CREATE TABLE t(a);");  // a file now, and no folder can be under it
  path_ += "/below/clawmark.db";
  const auto store = open();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().stage, "store");
  EXPECT_EQ(store.error().reason, "forbidden");
  EXPECT_NE(store.error().message.find("choose another db_path"), std::string::npos)
      << store.error().message;
}

TEST_F(StoreTest, readers_need_no_lock_see_commits_and_cannot_write) {
  EXPECT_EQ(Store::open_read_only(path_).error().kind, ErrorKind::kNotFound);
  Store store = must(open());
  append_count(store, 3);
  auto reader = must(Store::open_read_only(path_));
  EXPECT_EQ(must(EventLog::head(reader)), Seq{3});
  EXPECT_FALSE(reader.exec("INSERT INTO meta(key, value) VALUES ('x', 'y')").ok());
}

TEST_F(StoreTest, a_reader_of_an_older_file_is_told_to_start_the_daemon) {
  must(make_private_dir(dir_.file("data")));
  exec("CREATE TABLE schema_version(version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL);");
  EXPECT_EQ(Store::open_read_only(path_).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace clawmark
