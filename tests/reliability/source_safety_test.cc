// What our reading leaves of a host's stores: nothing. Rows of the LCM reference, section 3, each
// as a test, on stores written by the host's own kind of connection.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/limits.h"
#include "sources/foreign_db.h"
#include "tests/reliability/invariants.h"
#include "tests/reliability/report.h"
#include "tests/support/store_builder.h"
#include "tests/workers/support.h"

namespace clawmark::reliability {
namespace {

using support::HostDb;
using support::LcmWriter;
using support::TempDir;

struct Lcm {
  Lcm() : writer(dir / "lcm.db") {
    make.messages = 20;
    talk = make_conversation(make);
    writer.write(talk);
    complete(talk);
  }
  void grow(std::size_t messages) {
    const auto first = support::extend(talk, ++seed, messages, support::Era::kDatabase4);
    writer.append(talk, first);
  }
  std::int64_t rows() { return writer.db().integer("SELECT count(*) FROM messages"); }
  std::int64_t wal_bytes() {
    return static_cast<std::int64_t>(std::filesystem::file_size(dir / "lcm.db-wal"));
  }
  support::MakeOptions make;
  support::Conversation talk;
  TempDir dir;
  LcmWriter writer;
  std::uint64_t seed = 100;
};

// How many rows a read of ours sees; -1 and the reason when it is refused.
struct Seen {
  std::int64_t rows = -1;
  std::string reason;
};
Seen look(const std::string& path) {
  Seen seen;
  const auto status = with_foreign_db(path, [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto count, db.query_int("SELECT count(*) FROM messages"));
    seen.rows = count.value_or(-1);
    return Ok{};
  });
  if (!status.ok()) seen = {-1, health_of_error(status.error(), path).reason};
  return seen;
}

// A store of ours that reads a state folder.
void read_from(World& ours, const std::string& state_dir) {
  ours.close();
  ours.options.discover = [&ours, state_dir] {
    SourceOptions sources;
    sources.state_dir = state_dir;
    return discover_sources(sources, ours.clock);
  };
  ours.open();
}

TEST(SourceSafety, row_1_beside_a_live_writer_every_commit_is_seen_and_no_write_is_possible) {
  Lcm lcm;
  for (int i = 0; i < 5; ++i) {
    lcm.grow(2);
    EXPECT_EQ(look(lcm.writer.path()).rows, lcm.rows());
  }
  const auto status = with_foreign_db(lcm.writer.path(),
                                      [](Database& db) { return db.exec("DELETE FROM messages"); });
  EXPECT_FALSE(status.ok());
}

TEST(SourceSafety, row_3_a_read_is_one_snapshot) {
  Lcm lcm;
  const auto before = lcm.rows();
  const auto status = with_foreign_db(lcm.writer.path(), [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto first, db.query_int("SELECT count(*) FROM messages"));
    lcm.grow(3);
    CLAWMARK_ASSIGN(const auto second, db.query_int("SELECT count(*) FROM messages"));
    EXPECT_EQ(first, before);
    EXPECT_EQ(second, before);
    return Ok{};
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(look(lcm.writer.path()).rows, lcm.rows());
}

// The longest write-ahead log of a writer that says 400 things, with `each` after every fourth.
std::int64_t longest_log(Lcm& lcm, const std::function<void()>& each) {
  lcm.writer.db().exec("PRAGMA wal_autocheckpoint=100");
  std::int64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    lcm.grow(4);
    each();
    most = std::max(most, lcm.wal_bytes());
  }
  return most;
}

TEST(SourceSafety, row_5_the_write_ahead_log_of_a_busy_writer_stays_bounded_while_we_follow) {
  Lcm alone, followed;
  World ours;
  read_from(ours, followed.dir.path());
  const auto without = longest_log(alone, [] {});
  const auto with = longest_log(followed, [&] { ours.drain(); });
  EXPECT_LE(with, without + without / 4) << "a reader that stays open makes it grow for ever";
  EXPECT_EQ(ours.count("message.observed"), followed.rows());
}

TEST(SourceSafety,
     row_6_a_read_goes_on_while_the_owner_holds_its_write_lock_and_the_lock_survives) {
  Lcm lcm;
  const auto before = lcm.rows();
  lcm.writer.db().exec("PRAGMA foreign_keys=OFF; BEGIN EXCLUSIVE");
  EXPECT_EQ(look(lcm.writer.path()).rows, before);
  lcm.writer.db().exec(
      "DELETE FROM messages WHERE message_id = (SELECT max(message_id) FROM messages)");
  EXPECT_EQ(look(lcm.writer.path()).rows, before) << "what is not committed is not there";
  lcm.writer.db().exec("COMMIT");
  EXPECT_EQ(look(lcm.writer.path()).rows, before - 1);
}

TEST(SourceSafety, row_7_what_is_only_in_the_write_ahead_log_is_seen) {
  Lcm lcm;
  lcm.writer.checkpoint();
  lcm.grow(4);
  EXPECT_GT(lcm.wal_bytes(), 0);
  EXPECT_EQ(look(lcm.writer.path()).rows, lcm.rows());
}

TEST(SourceSafety, row_8_a_column_added_between_two_reads_harms_nothing) {
  Lcm lcm;
  World ours;
  read_from(ours, lcm.dir.path());
  ours.drain();
  lcm.writer.db().exec("ALTER TABLE messages ADD COLUMN something TEXT");
  lcm.grow(4);
  ours.drain();
  EXPECT_EQ(ours.count("message.observed"), lcm.rows());
}

TEST(SourceSafety, row_9_the_owners_closing_checkpoints_although_we_follow) {
  World ours;
  TempDir dir;
  {
    LcmWriter writer(dir / "lcm.db");
    writer.write(support::make_conversation({}));
    read_from(ours, dir.path());
    ours.drain();
  }
  EXPECT_EQ(support::list_files(dir.path()), std::vector<std::string>{"lcm.db"})
      << "a handle of ours kept the owner from tidying up";
}

TEST(SourceSafety, row_10_an_idle_store_is_read_without_leaving_side_files_or_changing_a_byte) {
  TempDir dir;
  {
    LcmWriter writer(dir / "lcm.db");
    writer.write(support::make_conversation({}));
    support::AgentDbWriter db(dir.path(), "main");
    support::MakeOptions other;
    other.seed = 2;
    db.write(make_conversation(other));
    support::TranscriptWriter files(dir.path(), "work");
    other.seed = 3;
    other.agent = "work";
    other.era = support::Era::kFiles3;
    files.write(make_conversation(other));
  }
  const auto before = support::tree_digest(dir.path());
  World ours;
  read_from(ours, dir.path());
  ours.drain();
  EXPECT_GT(ours.count("message.observed"), 50);
  EXPECT_EQ(joined(check_sources(before, support::tree_digest(dir.path()))), "");
}

TEST(SourceSafety, rows_13_and_14_a_store_that_was_replaced_is_read_as_it_is_now) {
  TempDir dir, other;
  const auto path = dir / "lcm.db";
  {
    LcmWriter writer(path);
    writer.write(support::make_conversation({}));
  }
  const auto first = look(path).rows;
  {
    LcmWriter writer(other / "lcm.db");
    support::MakeOptions make;
    make.messages = 7;
    writer.write(make_conversation(make));
  }
  std::filesystem::rename(other / "lcm.db", path);  // another inode
  const auto second = look(path).rows;
  EXPECT_NE(second, first);
  {
    LcmWriter writer(other / "lcm.db");
    support::MakeOptions make;
    make.messages = 11;
    writer.write(make_conversation(make));
  }
  std::filesystem::copy_file(other / "lcm.db", path,
                             std::filesystem::copy_options::overwrite_existing);  // the same inode
  EXPECT_NE(look(path).rows, second);
}

TEST(SourceSafety, row_15_a_file_put_back_beside_a_foreign_log_never_harms_what_was_read) {
  Lcm lcm;
  World ours;
  read_from(ours, lcm.dir.path());
  ours.drain();
  const auto known = ours.count("message.observed");
  EXPECT_EQ(known, lcm.rows());
  TempDir odd;
  {
    LcmWriter writer(odd / "lcm.db");
    support::MakeOptions make;
    make.seed = 77;
    make.messages = 90;
    writer.write(make_conversation(make));
  }
  lcm.grow(30);
  support::write_text(odd / "lcm.db-wal", support::read_text(lcm.writer.path() + "-wal"));
  read_from(ours, odd.path());
  (void)ours.pipeline->run_until_idle();
  EXPECT_GE(ours.count("message.observed"), known);
  CursorMemory cursors;
  EXPECT_EQ(joined(check_log(ours.store->db())), "");
}

TEST(SourceSafety, rows_16_and_17_a_store_that_is_held_is_busy_and_not_ours_to_judge) {
  TempDir dir;
  const auto path = dir / "x.db";
  HostDb host(path);
  host.exec("CREATE TABLE messages(x); INSERT INTO messages VALUES (1)");
  host.exec("BEGIN EXCLUSIVE; INSERT INTO messages VALUES (2)");  // a rollback journal
  EXPECT_EQ(look(path).reason, "busy");
  host.exec("COMMIT");
  EXPECT_EQ(look(path).rows, 2);
  const auto wal = dir / "y.db";
  {
    HostDb exclusive(wal);
    exclusive.exec(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
        "CREATE TABLE messages(x); INSERT INTO messages VALUES (1)");
    EXPECT_EQ(look(wal).reason, "busy");
  }
  EXPECT_EQ(look(wal).rows, 1);
}

TEST(SourceSafety, row_20_what_is_no_database_has_a_name) {
  TempDir dir;
  Lcm lcm;
  lcm.writer.checkpoint();
  const auto whole = support::read_text(lcm.writer.path());
  support::write_text(dir / "empty", "");
  support::write_text(dir / "text", std::string(4096, 'x'));
  support::write_text(dir / "half", whole.substr(0, whole.size() / 2));
  support::write_text(dir / "header", whole.substr(0, 100));
  std::filesystem::create_directory(dir / "folder");
  EXPECT_EQ(look(dir / "empty").reason, "empty");
  EXPECT_EQ(look(dir / "text").reason, "not_a_database");
  EXPECT_EQ(look(dir / "half").reason, "corrupt");
  EXPECT_EQ(look(dir / "header").rows, -1);
  EXPECT_EQ(look(dir / "folder").reason, "not_a_file");
  EXPECT_EQ(look(dir / "missing").reason, "missing");
}

}  // namespace
}  // namespace clawmark::reliability
