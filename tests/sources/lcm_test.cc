#include <gtest/gtest.h>

#include <filesystem>

#include "base/clock.h"
#include "base/files.h"
#include "sources/lcm_source.h"
#include "sources/text_cleaner.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::TempDir;
using test::drain;
using Ids = std::vector<std::string>;

class LcmTest : public testing::Test {
 protected:
  TempDir dir_;
  ManualClock clock_{{1'794'500'000'000}};
  std::optional<support::LcmWriter> writer_{std::in_place, dir_ / "lcm.db"};
  support::Conversation talk_ = support::make_conversation({.seed = 5, .messages = 12});
  LcmSource source_{dir_ / "lcm.db", dir_ / "lcm-files", {}, clock_};

  support::HostDb& db() { return writer_->db(); }
  // One bare row, as a version without entry ids would write it.
  void insert(std::int64_t conversation, std::int64_t seq, const std::string& text,
              const std::string& created, const std::string& role = "user",
              const support::Value& entry = nullptr, bool part = true) {
    db().run(
        "INSERT INTO messages (conversation_id, seq, role, content, token_count, identity_hash, "
        "transcript_entry_id, created_at) VALUES (?, ?, ?, ?, 1, ?, ?, ?)",
        {conversation, seq, role, text, to_hex(sha256(role + text)), entry, created});
    if (!part) return;
    const auto id = db().last_id();
    db().run(
        "INSERT INTO message_parts (part_id, message_id, session_id, part_type, ordinal, "
        "text_content) VALUES "
        "(?, ?, 's', 'text', 0, ?)",
        {"p" + std::to_string(id), id, text});
  }
};

TEST_F(LcmTest, C021_a_database_without_tables_is_not_initialised_and_read_once_it_is) {
  TempDir dir;
  const auto path = dir / "lcm.db";
  {
    support::HostDb(path).exec("PRAGMA user_version = 1");
  }
  LcmSource source(path, "", {}, clock_);
  const auto health = source.validate();
  EXPECT_EQ(health.state, SourceState::kNotInitialised);
  EXPECT_EQ(source.streams().error().kind, ErrorKind::kRetriable);
  support::LcmWriter writer(path);
  writer.write(talk_);
  EXPECT_EQ(source.validate().state, SourceState::kOk);
  EXPECT_EQ(drain(source, test::stream_of(source, talk_.session_id)).message_ids(),
            support::message_ids(talk_));
}

TEST_F(LcmTest, rows_stored_twice_come_once_with_the_second_id_as_alias) {
  const auto id = writer_->write(talk_);
  const auto before = support::message_ids(talk_).size();
  db().exec(
      "INSERT INTO messages (conversation_id, seq, role, content, token_count, identity_hash, "
      "created_at) SELECT "
      "conversation_id, seq + 1000, role, content, token_count, identity_hash, created_at FROM "
      "messages ORDER BY "
      "message_id");
  const auto drained = drain(source_, test::stream_of(source_, talk_.session_id), {}, 5);
  EXPECT_EQ(drained.message_ids(), support::message_ids(talk_));
  std::size_t aliases = 0;
  for (const auto& e : drained.entries) {
    if (e.alias_of.empty()) continue;
    EXPECT_EQ(e.kind, EntryKind::kOther);
    EXPECT_EQ(e.alias_of, support::message_ids(talk_)[aliases++]);
  }
  EXPECT_EQ(aliases, before);
  (void)id;
}

TEST_F(LcmTest, two_equal_words_a_minute_apart_stay_two) {
  const auto id = writer_->write(talk_);
  insert(id, 500, "ok", "2026-08-03 09:00:00");
  insert(id, 501, "ok", "2026-08-03 09:01:00");
  insert(id, 502, "ok", "2026-08-03 09:01:00");  // the same second: a copy
  const auto drained = drain(source_, test::stream_of(source_, talk_.session_id));
  const auto texts = drained.texts();
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "ok"), 2);
}

TEST_F(LcmTest, C016_rows_imported_again_with_the_same_entry_ids_are_aliases) {
  const auto id = writer_->write(talk_);
  const auto first = drain(source_, test::stream_of(source_, talk_.session_id));
  db().exec(
      "INSERT INTO conversations (session_id, session_key, active, created_at, updated_at) SELECT "
      "'again', session_key, 0, created_at, updated_at FROM conversations LIMIT 1");
  const auto again = db().last_id();
  db().run(
      "INSERT INTO messages (conversation_id, seq, role, content, token_count, "
      "transcript_entry_id, created_at) "
      "SELECT ?, seq, role, content, 1, transcript_entry_id, '2026-11-29 10:00:00' FROM messages "
      "WHERE "
      "conversation_id = ? ORDER BY seq LIMIT 5",
      {again, id});
  const auto second = drain(source_, test::stream_of(source_, "again"));
  EXPECT_TRUE(second.message_ids().empty());
  EXPECT_EQ(second.entries.size(), 5u);
  EXPECT_EQ(second.entries[0].alias_of, first.message_ids()[0]);
}

TEST_F(LcmTest, a_restored_backup_is_read_on_from_the_last_row_that_is_the_same) {
  const auto id = writer_->write(talk_);
  writer_->checkpoint();
  support::copy_tree(dir_.path(), dir_ / "../" + base_name(dir_.path()) + "-backup");
  const auto backup = dir_ / "../" + base_name(dir_.path()) + "-backup";
  insert(id, 900, "said before the restore", "2026-08-03 09:00:00");
  insert(id, 901, "said before the restore too", "2026-08-03 09:00:01");
  const auto first = drain(source_, test::stream_of(source_, talk_.session_id));
  writer_.reset();
  std::filesystem::remove(dir_ / "lcm.db");
  std::filesystem::copy_file(backup + "/lcm.db", dir_ / "lcm.db");
  std::filesystem::remove_all(backup);
  writer_.emplace(dir_ / "lcm.db");
  insert(id, 900, "said after", "2026-08-04 09:00:00");
  insert(id, 901, "said after too", "2026-08-04 09:00:01");
  insert(id, 902, "and more", "2026-08-04 09:00:02");
  const auto second = drain(source_, test::stream_of(source_, talk_.session_id), first.position, 2);
  ASSERT_EQ(second.epochs.size(), 1u);
  EXPECT_EQ(second.epochs[0].reason, "restored");
  EXPECT_EQ(second.texts(), (Ids{"said after", "said after too", "and more"}));
}

TEST_F(LcmTest, a_pruned_heartbeat_turn_is_no_epoch) {
  const auto id = writer_->write(talk_);
  insert(id, 900, "[OpenClaw heartbeat poll]", "2026-08-03 09:00:00");
  insert(id, 901, "HEARTBEAT_OK", "2026-08-03 09:00:01", "assistant");
  const auto first = drain(source_, test::stream_of(source_, talk_.session_id));
  db().exec(
      "DELETE FROM message_parts WHERE message_id IN (SELECT message_id FROM messages WHERE seq >= "
      "900); DELETE FROM "
      "messages WHERE seq >= 900");
  insert(id, 900, "a real turn under the same seq", "2026-08-03 09:05:00");
  const auto second = drain(source_, test::stream_of(source_, talk_.session_id), first.position);
  EXPECT_TRUE(second.epochs.empty());
  EXPECT_EQ(second.texts(), Ids{"a real turn under the same seq"});
}

TEST_F(LcmTest, rows_deleted_inside_a_conversation_are_counted_once) {
  const auto id = writer_->write(talk_);
  const auto read = [&](const StreamPosition& after) {
    return source_.read(test::stream_of(source_, talk_.session_id), after, 500).value();
  };
  const StreamBatch first = read({});
  EXPECT_EQ(first.gone, 0);
  // Among the last rows that are known one by one, and far before them.
  db().exec(
      "PRAGMA foreign_keys=OFF; DELETE FROM messages WHERE seq IN (SELECT seq FROM messages"
      " ORDER BY seq LIMIT 1) OR seq IN (SELECT seq FROM messages ORDER BY seq DESC LIMIT 2)");
  const StreamBatch second = read(first.next);
  EXPECT_EQ(second.gone, 3);
  EXPECT_TRUE(second.entries.empty());
  EXPECT_FALSE(second.epoch);
  EXPECT_NE(second.next.position, first.next.position) << "or it would be counted again";
  EXPECT_EQ(read(second.next).gone, 0);
  insert(id, 900, "and on", "2026-08-03 09:05:00");
  EXPECT_EQ(read(second.next).entries.size(), 1u);
}

TEST_F(LcmTest, messages_moved_into_a_conversation_are_seen_there) {
  const auto a = writer_->write(talk_);
  auto other = support::make_conversation({.seed = 9, .messages = 4});
  other.session_key = "agent:main:telegram:direct:9";
  const auto b = writer_->write(other);
  const auto first = drain(source_, test::stream_of(source_, other.session_id));
  db().run(
      "UPDATE messages SET conversation_id = ?, seq = seq + 500 WHERE conversation_id = ? AND seq "
      "<= 3",
      {b, a});
  const auto second = drain(source_, test::stream_of(source_, other.session_id), first.position);
  ASSERT_EQ(second.epochs.size(), 1u);
  EXPECT_EQ(second.epochs[0].reason, "rewritten");
  EXPECT_EQ(second.message_ids().size(), support::message_ids(other).size() + 3);
}

TEST_F(LcmTest, the_newest_row_waits_for_its_parts_but_not_for_ever) {
  const auto id = writer_->write(talk_);
  clock_.set(*parse_iso("2026-11-29T10:00:01Z"));
  insert(id, 900, "parts are coming", "2026-11-29 10:00:00", "user", nullptr, false);
  const auto stream = test::stream_of(source_, talk_.session_id);
  EXPECT_EQ(stream.tip, "") << "a tip would say that all was read";
  const auto first = drain(source_, stream);
  EXPECT_EQ(first.message_ids().size(), support::message_ids(talk_).size());
  clock_.advance(60'000);
  EXPECT_NE(test::stream_of(source_, talk_.session_id).tip, "");
  EXPECT_EQ(drain(source_, stream, first.position).texts(), Ids{"parts are coming"});
}

TEST_F(LcmTest, raw_block_arrays_of_old_versions_keep_their_hash_and_show_only_their_text) {
  const auto id = writer_->write(talk_);
  const std::string raw =
      R"([{"type":"thinking","thinking":"hidden"},{"type":"toolCall","id":"c"}])";
  insert(id, 900, raw, "2026-08-03 09:00:00", "assistant");
  const auto entry = drain(source_, test::stream_of(source_, talk_.session_id)).entries.back();
  EXPECT_EQ(entry.hash, sha256(raw));
  EXPECT_EQ(entry.noise, "empty");
  EXPECT_EQ(clean_text(entry.text), "");
  EXPECT_NE(std::find(entry.other_hashes.begin(), entry.other_hashes.end(), sha256("")),
            entry.other_hashes.end());
}

TEST_F(LcmTest, an_externalised_payload_is_known_by_its_hash_and_only_from_its_own_folder) {
  const auto id = writer_->write(talk_);
  support::write_text(dir_ / "lcm-files/1/file_00000000000000aa.txt", "the whole output");
  support::write_text(dir_ / "outside.txt", "not ours to read");
  const auto externalise = [&](const std::string& file, const std::string& uri) {
    insert(id, 900 + static_cast<std::int64_t>(uri.size()), "[LCM Tool Output: " + file + "]",
           "2026-08-03 09:00:00", "tool");
    db().run(
        "UPDATE message_parts SET metadata = ? WHERE message_id = (SELECT max(message_id) FROM "
        "messages)",
        {"{\"toolOutputExternalized\":true,\"externalizedFileId\":\"" + file + "\"}"});
    db().run(
        "INSERT INTO large_files (file_id, conversation_id, storage_uri, created_at) VALUES (?, ?, "
        "?, '2026-08-03 "
        "09:00:00')",
        {file, id, uri});
    return drain(source_, test::stream_of(source_, talk_.session_id)).entries.back();
  };
  const auto there = externalise("file_00000000000000aa",
                                 "/home/user/.openclaw/lcm-files/1/file_00000000000000aa.txt");
  EXPECT_EQ(there.other_hashes, std::vector<Hash256>{sha256("the whole output")});
  EXPECT_TRUE(externalise("file_00000000000000bb", dir_ / "outside.txt").other_hashes.empty());
  EXPECT_TRUE(
      externalise("file_00000000000000cc", dir_ / "lcm-files/../outside.txt").other_hashes.empty());
}

TEST_F(LcmTest, C020_only_session_deleted_means_deleted) {
  const auto a = writer_->write(talk_);
  auto reset = support::make_conversation({.seed = 9, .messages = 4});
  reset.session_key = "agent:main:telegram:direct:9";
  const auto b = writer_->write(reset);
  writer_->archive(a, "session-deleted", 1'794'200'000'000);
  writer_->archive(b, "manual-reset", 1'794'200'000'000);
  const auto deleted = test::stream_of(source_, talk_.session_id),
             kept = test::stream_of(source_, reset.session_id);
  EXPECT_TRUE(deleted.deleted);
  EXPECT_EQ(deleted.deleted_evidence, "lcm");
  EXPECT_FALSE(deleted.live);
  EXPECT_FALSE(kept.deleted);
  EXPECT_FALSE(kept.live);
}

TEST_F(LcmTest, C026_the_agent_comes_from_the_session_key_whatever_its_name) {
  for (const char* key :
       {"agent:ops:cron:nightly:run:7", "agent:ops:telegram:direct:u1", "agent:main:heartbeat"}) {
    auto c =
        support::make_conversation({.seed = static_cast<std::uint64_t>(key[10]), .messages = 2});
    c.session_key = key;
    writer_->write(c);
    EXPECT_EQ(test::stream_of(source_, c.session_id).agent,
              std::string(key).substr(6, std::string(key).find(':', 6) - 6));
  }
}

TEST_F(LcmTest, times_without_a_zone_are_utc) {
  const auto id = writer_->write(talk_);
  insert(id, 900, "late", "2026-03-30 23:11:15");
  const auto entry = drain(source_, test::stream_of(source_, talk_.session_id)).entries.back();
  EXPECT_EQ(format_iso(entry.time), "2026-03-30T23:11:15.000Z");
  EXPECT_EQ(entry.time_step_ms, 1000);
}

}  // namespace
}  // namespace clawmark
