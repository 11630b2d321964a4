#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/zstd.h"
#include "sources/agent_db_source.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::TempDir;
using test::drain;
using Ids = std::vector<std::string>;

class AgentDbTest : public testing::Test {
 protected:
  TempDir dir_;
  SystemClock clock_;
  support::AgentDbWriter writer_{dir_.path(), "ops"};
  support::Conversation talk_ = support::make_conversation(
      {.seed = 5, .messages = 12, .agent = "ops", .session_key = "agent:ops:telegram:direct:u1"});
  AgentDbSource source_{writer_.path(), "ops", {}, clock_};

  StreamInfo stream(const std::string& key) {
    for (auto& info : test::streams(source_)) {
      if (info.key == key) return info;
    }
    ADD_FAILURE() << "no stream " << key;
    return {};
  }
};

TEST_F(AgentDbTest, C001_a_row_inserted_later_is_read_within_the_next_round) {
  writer_.write(talk_);
  const auto first = drain(source_, stream("session:" + talk_.session_id));
  const auto from = support::extend(talk_, 8, 1, support::Era::kDatabase4);
  writer_.append(talk_, from);
  const auto second = drain(source_, stream("session:" + talk_.session_id), first.position);
  EXPECT_EQ(second.message_ids(), Ids{talk_.items.back().id});
  EXPECT_TRUE(second.epochs.empty());
}

TEST_F(AgentDbTest, a_rotated_generation_is_an_epoch_and_rows_come_again) {
  writer_.write(talk_);
  const auto first = drain(source_, stream("session:" + talk_.session_id));
  writer_.rotate_generation(talk_.session_id, 1);
  const auto again = drain(source_, stream("session:" + talk_.session_id), first.position);
  ASSERT_EQ(again.epochs.size(), 1u);
  EXPECT_EQ(again.epochs[0].reason, "rewritten");
  EXPECT_EQ(again.message_ids(), support::message_ids(talk_));
}

TEST_F(AgentDbTest, rewind_copies_history_and_names_what_was_left) {
  writer_.write(talk_);
  const auto ids = support::message_ids(talk_);
  writer_.rewind(talk_.session_id, "11111111-2222-4333-8444-555555555555", ids[7], "aaaa0001",
                 1'794'200'000'000);
  const auto copy = drain(source_, stream("session:11111111-2222-4333-8444-555555555555"));
  EXPECT_EQ(copy.message_ids(), ids);
  ASSERT_TRUE(copy.inactive.has_value());
  EXPECT_EQ(*copy.inactive, Ids(ids.begin() + 8, ids.end()));
  const auto old = drain(source_, stream("session:" + talk_.session_id));
  ASSERT_TRUE(old.inactive.has_value());
  EXPECT_TRUE(old.inactive->empty());
}

TEST_F(AgentDbTest, the_branch_is_reckoned_from_the_tree_when_the_hosts_index_is_stale) {
  writer_.write(talk_);
  const auto ids = support::message_ids(talk_);
  const std::string copy = "11111111-2222-4333-8444-555555555555";
  writer_.rewind(talk_.session_id, copy, ids[7], "aaaa0001", 1'794'200'000'000);
  writer_.db().exec("UPDATE session_transcript_index_state SET needs_rebuild = 1");
  const auto drained = drain(source_, stream("session:" + copy));
  ASSERT_TRUE(drained.inactive.has_value());
  EXPECT_EQ(*drained.inactive, Ids(ids.begin() + 8, ids.end()));
}

TEST_F(AgentDbTest, C020_deletion_by_the_user_is_marked_and_pruning_is_not) {
  writer_.write(talk_);
  auto pruned =
      support::make_conversation({.seed = 6, .agent = "ops", .session_key = "agent:ops:main"});
  writer_.write(pruned);
  writer_.prune(pruned.session_id);
  writer_.remove(talk_.session_id, 1'794'200'000'000);
  const auto streams = test::streams(source_);
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_TRUE(streams[0].deleted);
  EXPECT_EQ(streams[0].deleted_evidence, "archive");
  EXPECT_EQ(streams[0].session_key, talk_.session_key);
  const auto drained = drain(source_, streams[0], {}, 5);
  EXPECT_EQ(drained.message_ids(), support::message_ids(talk_));
  test::expect_bodies_round_trip(source_, streams[0].key, drained.entries);
}

TEST_F(AgentDbTest, a_tombstone_marks_the_session_and_stays_when_its_rows_are_gone) {
  writer_.write(talk_);
  writer_.tombstone(talk_.session_id, 1'794'200'000'000);
  auto live = stream("session:" + talk_.session_id);
  EXPECT_TRUE(live.deleted);
  EXPECT_EQ(live.deleted_evidence, "tombstone");
  writer_.prune(talk_.session_id);
  const auto gone = stream("tombstone:" + talk_.session_id);
  EXPECT_TRUE(gone.deleted);
  EXPECT_TRUE(drain(source_, gone).entries.empty());
}

TEST_F(AgentDbTest, reset_adds_a_row_and_no_epoch) {
  writer_.write(talk_);
  const auto first = drain(source_, stream("session:" + talk_.session_id));
  writer_.reset(talk_.session_id, "0a0b0c0d", 1'794'200'000'000, "daily");
  const auto second = drain(source_, stream("session:" + talk_.session_id), first.position);
  ASSERT_EQ(second.entries.size(), 1u);
  EXPECT_EQ(second.entries[0].kind, EntryKind::kReset);
  EXPECT_EQ(second.entries[0].reason, "daily");
  EXPECT_TRUE(second.epochs.empty());
}

TEST_F(AgentDbTest, cold_storage_in_a_file_is_read) {
  writer_.write(talk_);
  std::string cold = "{\"kind\":\"header\",\"version\":1}\n";
  const auto rows = writer_.row_count(talk_.session_id);
  for (std::int64_t seq = 0; seq < rows; ++seq) {
    std::string quoted;
    for (const char c : writer_.event_json(talk_.session_id, seq)) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    cold += "{\"kind\":\"event\",\"row\":{\"seq\":" + std::to_string(seq) + ",\"event_json\":\"" +
            quoted + "\"}}\n";
  }
  support::write_text(dir_ / "agents/ops/sessions/cold/c01d.jsonl.zst", zstd_compress(cold));
  writer_.db().run("DELETE FROM transcript_events WHERE session_id = ?", {talk_.session_id});
  writer_.db().run(
      "INSERT INTO session_transcript_cold_archives (session_id, generation, archive_name, "
      "archive_sha256, "
      "event_count, raw_bytes, archive_bytes, last_seq, archived_at, storage) VALUES "
      "(?, 'g', 'c01d.jsonl.zst', printf('%064d', 0), 1, 1, 1, 1, 1, 'file')",
      {talk_.session_id});
  const auto info = stream("cold:" + talk_.session_id);
  EXPECT_EQ(info.session_key, talk_.session_key);
  const auto drained = drain(source_, info, {}, 4);
  EXPECT_EQ(drained.message_ids(), support::message_ids(talk_));
  test::expect_bodies_round_trip(source_, info.key, drained.entries);
  std::filesystem::remove(dir_ / "agents/ops/sessions/cold/c01d.jsonl.zst");
  const auto gone = drain(source_, info, drained.position);
  ASSERT_TRUE(gone.stopped.has_value());
  EXPECT_EQ(gone.stopped->reason, "missing");
}

TEST_F(AgentDbTest, a_row_that_cannot_be_decoded_is_skipped_and_counted) {
  writer_.write(talk_);
  writer_.db().exec("PRAGMA ignore_check_constraints=ON");
  writer_.db().exec(
      "UPDATE transcript_events SET event_zstd = x'28b52ffd0000', event_json = NULL, "
      "event_utf8_bytes = 6, "
      "navigation_json = '{}' WHERE seq = 3; UPDATE transcript_events SET event_zstd = NULL, "
      "event_utf8_bytes = NULL, navigation_json = NULL, event_json = 'not json' WHERE seq = 4");
  const auto drained = drain(source_, stream("session:" + talk_.session_id));
  ASSERT_EQ(drained.skipped.size(), 2u);
  EXPECT_EQ(drained.skipped[0].line, 3);
  EXPECT_EQ(drained.skipped[0].reason, "zstd");
  EXPECT_EQ(drained.skipped[1].reason, "syntax");
}

TEST_F(AgentDbTest, a_cut_archive_gives_what_can_be_decoded_and_a_damaged_one_nothing_false) {
  writer_.write(talk_);
  std::filesystem::remove(writer_.remove(talk_.session_id, 1'794'200'000'000));
  const auto put = [&](const std::string& archive) {
    writer_.db().run("UPDATE session_transcript_archives SET archive_blob = CAST(? AS BLOB)",
                     {archive});
    return test::streams(source_).at(0);
  };
  std::string text;
  for (int n = 1; n <= 4; ++n) {
    text += R"({"type":"message","id":"m)" + std::to_string(n) +
            R"(","message":{"role":"user","content":"said"}})" + "\n";
  }
  const std::size_t half = text.size() / 2;
  const std::string whole =
      zstd_compress(text.substr(0, half)) + zstd_compress(text.substr(half, half - 1));
  const auto info = put(whole.substr(0, whole.size() - 3));
  const auto first = drain(source_, info, {}, 1);
  EXPECT_EQ(first.message_ids(), (Ids{"m1", "m2"}));
  ASSERT_TRUE(first.stopped.has_value());
  EXPECT_EQ(first.stopped->reason, "cut_short");
  const auto again = put(whole);
  EXPECT_NE(again.tip, info.tip) << "it is looked at again";
  const auto second = drain(source_, again, first.position);
  EXPECT_EQ(second.message_ids(), (Ids{"m3", "m4"})) << "the last line, too, without its newline";
  EXPECT_FALSE(second.stopped.has_value());
  const auto broken = drain(source_, put("garbage"));
  EXPECT_TRUE(broken.entries.empty());
  EXPECT_EQ(broken.stopped->reason, "damaged");
}

TEST_F(AgentDbTest, unknown_columns_are_tolerated_and_a_missing_table_is_named) {
  writer_.write(talk_);
  writer_.db().exec(
      "PRAGMA user_version = 31; ALTER TABLE transcript_events ADD COLUMN brand_new TEXT");
  const auto newer = source_.validate();
  EXPECT_EQ(newer.state, SourceState::kOk);
  ASSERT_FALSE(newer.notes.empty());
  EXPECT_NE(newer.notes[0].find("31"), std::string::npos);
  EXPECT_EQ(drain(source_, stream("session:" + talk_.session_id)).message_ids(),
            support::message_ids(talk_));
  writer_.db().exec(
      "PRAGMA foreign_keys=OFF; ALTER TABLE transcript_events RENAME TO transcript_rows");
  const auto drifted = source_.validate();
  EXPECT_EQ(drifted.state, SourceState::kIncompatible);
  EXPECT_EQ(drifted.reason, "missing_table");
  EXPECT_NE(drifted.message.find(writer_.path()), std::string::npos);
}

TEST_F(AgentDbTest, a_database_of_the_first_versions_has_only_the_bare_table) {
  TempDir dir;
  const auto path = dir / "openclaw-agent.sqlite";
  {
    support::HostDb db(path);
    db.exec(
        "PRAGMA user_version = 4; CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, "
        "event_json TEXT, "
        "created_at INTEGER, PRIMARY KEY(session_id, seq))");
    std::int64_t seq = 0;
    db.run("INSERT INTO transcript_events VALUES ('s2', 0, ?, 5)",
           {support::header_json(talk_, support::Era::kDatabase4)});
    for (const auto& item : talk_.items) {
      db.run("INSERT INTO transcript_events VALUES ('s2', ?, ?, 5)",
             {++seq, support::item_json(talk_, item, support::Era::kDatabase4)});
    }
  }
  AgentDbSource source(path, "ops", {}, clock_);
  EXPECT_EQ(source.validate().state, SourceState::kOk);
  EXPECT_EQ(drain(source, test::stream_of(source, "s2")).message_ids(),
            support::message_ids(talk_));
}

TEST_F(AgentDbTest, an_older_copy_put_back_is_an_epoch) {
  writer_.write(talk_);
  writer_.checkpoint();
  const auto first = drain(source_, stream("session:" + talk_.session_id));
  TempDir other;
  auto shorter = talk_;
  shorter.items.resize(5);
  support::AgentDbWriter older(other.path(), "ops");
  older.write(shorter);
  AgentDbSource restored(older.path(), "ops", {}, clock_);
  const auto again = drain(restored, test::stream_of(restored, talk_.session_id), first.position);
  EXPECT_EQ(again.epochs.size(), 1u);
  EXPECT_EQ(again.message_ids(), support::message_ids(shorter));
}

}  // namespace
}  // namespace clawmark
