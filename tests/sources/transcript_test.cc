#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/zstd.h"
#include "sources/transcript_files.h"
#include "sources/transcript_source.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::TempDir;
using test::drain;
using Ids = std::vector<std::string>;

std::string line(const std::string& id, const std::string& text, const std::string& parent = "",
                 const std::string& role = "user",
                 const std::string& time = "2026-08-03T09:00:00.000Z") {
  return R"({"type":"message","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") + R"(,"timestamp":")" + time +
         R"(","message":{"role":")" + role + R"(","content":[{"type":"text","text":")" + text +
         "\"}]}}\n";
}

std::string header(const std::string& id) {
  return R"({"type":"session","version":3,"id":")" + id +
         R"(","timestamp":"2026-08-03T08:00:00.000Z"})"
         "\n";
}

class TranscriptTest : public testing::Test {
 protected:
  TempDir dir_;
  std::string folder_ = dir_ / "agents/main/sessions";
  void write(const std::string& name, const std::string& text) {
    support::write_text(folder_ + "/" + name, text);
  }
  void append(const std::string& name, const std::string& text) {
    support::append_text(folder_ + "/" + name, text);
  }
  TranscriptSource source() {
    return TranscriptSource({folder_, dir_ / "agents/main/session-sqlite-import-archive"}, "main",
                            {});
  }
  test::Drained read(const std::string& session, StreamPosition from = {},
                     std::size_t items = 100) {
    auto s = source();
    return drain(s, test::stream_of(s, session), std::move(from), items);
  }
};

TEST_F(TranscriptTest, C004_a_file_whose_header_names_another_session_is_a_stream_of_its_own) {
  write("aaa.jsonl", header("bbb") + line("a1", "one") + line("a2", "two", "a1"));
  write("bbb.jsonl", header("bbb") + line("b1", "three") + line("b2", "four", "b1"));
  auto s = source();
  const auto streams = test::streams(s);
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_NE(streams[0].key, streams[1].key);
  std::set<std::string> ids, sessions;
  for (const auto& stream : streams) {
    sessions.insert(stream.session_id);
    for (const auto& id : drain(s, stream).message_ids()) ids.insert(id);
  }
  EXPECT_EQ(ids, (std::set<std::string>{"a1", "a2", "b1", "b2"}));
  EXPECT_EQ(sessions.size(), 2u);
  const auto health = s.validate();
  EXPECT_EQ(health.state, SourceState::kOk);
  ASSERT_EQ(health.notes.size(), 1u);
  EXPECT_NE(health.notes[0].find("aaa.jsonl"), std::string::npos);
}

TEST_F(TranscriptTest, a_session_that_two_entries_call_theirs_is_nobodys_until_it_is_told) {
  write("s1.jsonl", header("s1") + line("a1", "one"));
  write("s2.jsonl", header("s2") + line("b1", "two"));
  const auto key_of = [&](const std::string& id) {
    auto s = source();
    return test::stream_of(s, id).session_key;
  };
  write("sessions.json", R"({"agent:main:telegram:group:-1":{"sessionId":"s1"},)"
                         R"("agent:main:telegram:direct:7":{"sessionId":"s1"},)"
                         R"("agent:main:main":{"sessionId":"s2"}})");
  EXPECT_EQ(key_of("s1"), "");
  EXPECT_EQ(key_of("s2"), "agent:main:main");
  write("sessions.json", R"({"agent:main:telegram:direct:7":{"sessionId":"s1"}})");
  EXPECT_EQ(key_of("s1"), "agent:main:telegram:direct:7");
}

TEST_F(TranscriptTest, C005_a_half_written_line_waits_for_its_newline) {
  const auto whole = line("m2", "second", "m1");
  write("s1.jsonl", line("m1", "first") + whole.substr(0, 27));
  const auto first = read("s1");
  EXPECT_EQ(first.message_ids(), Ids{"m1"});
  EXPECT_EQ(first.skipped_total, 0);
  const auto still = read("s1", first.position);
  EXPECT_TRUE(still.entries.empty());
  EXPECT_EQ(still.position.position, first.position.position);
  append("s1.jsonl", whole.substr(27, whole.size() - 28));  // all but the newline
  EXPECT_TRUE(read("s1", first.position).entries.empty());
  append("s1.jsonl", "\n");
  const auto then = read("s1", still.position);
  EXPECT_EQ(then.message_ids(), Ids{"m2"});
  EXPECT_TRUE(then.epochs.empty());
}

TEST_F(TranscriptTest, C007_bad_lines_are_reported_by_physical_line) {
  write("s1.jsonl", "\n\n{bad json}\n" + line("m1", "kept") +
                        "undefined\nnull\n[]\n42\n{\"type\":\"message\"}\n");
  const auto drained = read("s1", {}, 3);
  EXPECT_EQ(drained.message_ids(), Ids{"m1"});
  EXPECT_EQ(drained.skipped_total, 6);
  std::vector<std::pair<std::int64_t, std::string>> skips;
  for (const auto& s : drained.skipped) skips.emplace_back(s.line, s.reason);
  EXPECT_EQ(skips, (std::vector<std::pair<std::int64_t, std::string>>{{3, "syntax"},
                                                                      {5, "syntax"},
                                                                      {6, "not_object"},
                                                                      {7, "not_object"},
                                                                      {8, "not_object"},
                                                                      {9, "no_message"}}));
}

TEST_F(TranscriptTest, C008_a_lone_surrogate_does_not_hurt_its_neighbours) {
  write("s1.jsonl",
        line("m1", "before") + line("m2", "cost \\ud83d then more") + line("m3", "after"));
  const auto texts = read("s1").texts();
  EXPECT_EQ(texts, (Ids{"before", "cost \xEF\xBF\xBD then more", "after"}));
}

TEST_F(TranscriptTest, C011_a_file_replaced_by_its_compacted_tail_starts_an_epoch) {
  std::string before = header("s1");
  for (int i = 1; i <= 10; ++i)
    before += line("m" + std::to_string(i), "text " + std::to_string(i));
  write("s1.jsonl", before);
  const auto first = read("s1");
  EXPECT_EQ(first.message_ids().size(), 10u);
  std::string after = header("s1") +
                      R"({"type":"compaction","id":"k","parentId":null,"summary":"text 1 to 6"})"
                      "\n";
  for (int i = 7; i <= 10; ++i) after += line("n" + std::to_string(i), "text " + std::to_string(i));
  write("s1.jsonl.new", after);
  std::filesystem::rename(folder_ + "/s1.jsonl.new", folder_ + "/s1.jsonl");
  const auto again = read("s1", first.position);
  ASSERT_EQ(again.epochs.size(), 1u);
  EXPECT_EQ(again.message_ids(), (Ids{"n7", "n8", "n9", "n10"}));
  append("s1.jsonl", line("m11", "new"));
  EXPECT_EQ(read("s1", again.position).message_ids(), Ids{"m11"});
  // The same words under a new id: who asks by the old one gets them, and knows them by their hash.
  const Entry& moved = again.entries.back();
  auto s = source();
  const MessageSource::Wanted wanted[] = {{"s1", moved.place, "m10", sha256("text 10")},
                                          {"s1", moved.place, "m9", sha256("text 9")},
                                          {"s1", moved.place, "m10"}};
  const auto bodies = s.bodies(wanted);
  EXPECT_EQ(bodies[0], "text 10");
  EXPECT_EQ(bodies[1], "text 9");
  EXPECT_FALSE(bodies[2].has_value());
}

TEST_F(TranscriptTest, C013_a_short_tail_file_is_an_epoch_and_never_a_deletion) {
  std::string before = header("s1");
  for (int i = 1; i <= 20; ++i)
    before += line("m" + std::to_string(i), "text " + std::to_string(i));
  write("s1.jsonl", before);
  const auto first = read("s1");
  std::string tail = header("s1");
  for (int i = 18; i <= 20; ++i) tail += line("m" + std::to_string(i), "text " + std::to_string(i));
  write("s1.jsonl", tail);
  const auto again = read("s1", first.position);
  EXPECT_EQ(again.epochs.size(), 1u);
  EXPECT_EQ(again.epochs[0].reason, "shrunk");
  EXPECT_EQ(again.message_ids(), (Ids{"m18", "m19", "m20"}));
  auto s = source();
  EXPECT_FALSE(test::stream_of(s, "s1").deleted);
}

TEST_F(TranscriptTest, C014_a_compaction_entry_says_nothing_and_both_copies_keep_their_ids) {
  write("s1.jsonl",
        line("a1", "Ship build 41 to staging") +
            R"({"type":"compaction","id":"k","summary":"User asked: Ship build 41 to staging"})"
            "\n" +
            line("b7", "Ship build 41 to staging"));
  const auto drained = read("s1");
  EXPECT_EQ(drained.message_ids(), (Ids{"a1", "b7"}));
  EXPECT_EQ(drained.entries[1].kind, EntryKind::kCompaction);
  EXPECT_TRUE(drained.entries[1].text.empty());
  EXPECT_EQ(drained.entries[0].hash, drained.entries[2].hash);
  EXPECT_EQ(drained.entries[0].time, drained.entries[2].time);
}

TEST_F(TranscriptTest,
       C017_messages_of_a_left_branch_are_named_inactive_until_it_is_taken_up_again) {
  write("s1.jsonl", line("m1", "Let's choose a port") + line("m2", "Use port 8080", "m1"));
  const auto first = read("s1");
  EXPECT_FALSE(first.inactive.has_value());
  append("s1.jsonl",
         "{\"type\":\"leaf\",\"targetId\":\"m1\"}\n" + line("m3", "Use port 9090", "m1"));
  const auto second = read("s1", first.position, 1);
  ASSERT_TRUE(second.inactive.has_value());
  EXPECT_EQ(*second.inactive, Ids{"m2"});
  append("s1.jsonl", line("m4", "and bind to localhost", "m3"));
  const auto third = read("s1", second.position);
  EXPECT_FALSE(third.inactive.has_value());
  append("s1.jsonl", "{\"type\":\"leaf\",\"targetId\":\"m2\"}\n");
  const auto fourth = read("s1", third.position);
  ASSERT_TRUE(fourth.inactive.has_value());
  EXPECT_EQ(*fourth.inactive, (Ids{"m3", "m4"}));
}

TEST_F(TranscriptTest, C019_names_decide_what_is_read) {
  write("s1.jsonl", line("a", "1"));
  write("s2.jsonl.reset.2026-08-01T00-00-00.000Z", line("b", "2"));
  write("s3.jsonl.deleted.2026-08-02T00-00-00.000Z", line("c", "3"));
  for (const char* name :
       {"s1.trajectory.jsonl", "s1.trajectory-path.json", "sessions.json", ".DS_Store",
        "s1.jsonl.lock", "s1.checkpoint.4f.jsonl", ".s9.jsonl", "notes.txt", "s1.jsonl.tmp"}) {
    write(name, line("x", "not a chat"));
  }
  auto s = source();
  std::map<std::string, bool> deleted;
  std::set<std::string> ids;
  for (const auto& stream : test::streams(s)) {
    deleted[stream.session_id] = stream.deleted;
    for (const auto& id : drain(s, stream).message_ids()) ids.insert(id);
  }
  EXPECT_EQ(deleted, (std::map<std::string, bool>{{"s1", false}, {"s2", false}, {"s3", true}}));
  EXPECT_EQ(ids, (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(TranscriptTest, C020_a_deleted_session_is_marked_and_its_copies_with_it_unless_it_lives) {
  write("s5.jsonl.deleted.2026-08-02T00-00-00.000Z", line("c", "My badge colour is teal"));
  write("s5.jsonl.bak", line("c", "My badge colour is teal"));
  {
    auto s = source();
    const auto streams = test::streams(s);
    ASSERT_EQ(streams.size(), 2u);
    for (const auto& stream : streams) {
      EXPECT_TRUE(stream.deleted) << stream.key;
      EXPECT_EQ(stream.deleted_evidence, "file");
    }
  }
  write("s5.jsonl", line("c", "My badge colour is teal"));
  auto s = source();
  for (const auto& stream : test::streams(s)) EXPECT_FALSE(stream.deleted) << stream.key;
}

TEST_F(TranscriptTest, a_reset_renames_the_file_and_the_cursor_goes_on) {
  support::TranscriptWriter writer(dir_.path(), "main");
  auto talk = support::make_conversation({.messages = 8, .era = support::Era::kFiles3});
  writer.write(talk);
  auto s = source();
  const auto key = test::stream_of(s, talk.session_id).key;
  const auto first = read(talk.session_id, {}, 3);
  const auto from = support::extend(talk, 9, 2, support::Era::kFiles3);
  writer.append(talk, from);
  writer.reset(talk.session_id, 1'794'100'000'000);
  auto renamed = source();
  const auto stream = test::stream_of(renamed, talk.session_id);
  EXPECT_EQ(stream.key, key);
  EXPECT_FALSE(stream.live);
  const auto rest = drain(renamed, stream, first.position);
  EXPECT_TRUE(rest.epochs.empty());
  const auto ids = support::message_ids(talk);
  EXPECT_EQ(rest.message_ids(), Ids(ids.end() - 2, ids.end()));
}

TEST_F(TranscriptTest, a_migration_moves_the_file_and_the_cursor_goes_on) {
  support::TranscriptWriter writer(dir_.path(), "main");
  const auto talk = support::make_conversation({.messages = 8, .era = support::Era::kFiles3});
  writer.write(talk);
  const auto first = read(talk.session_id);
  support::AgentDbWriter database(dir_.path(), "main");
  writer.migrate(database, 1'794'100'000'000);
  auto s = source();
  const auto stream = test::stream_of(s, talk.session_id);
  EXPECT_FALSE(stream.live);
  EXPECT_EQ(stream.session_key, "agent:main:main");
  const auto again = drain(s, stream, first.position);
  EXPECT_TRUE(again.entries.empty());
  EXPECT_TRUE(again.epochs.empty());
}

TEST_F(TranscriptTest, a_copy_under_the_same_name_with_the_same_bytes_is_no_new_epoch) {
  write("s1.jsonl", header("s1") + line("a", "1") + line("b", "2", "a"));
  const auto first = read("s1");
  std::filesystem::copy_file(folder_ + "/s1.jsonl", folder_ + "/copy");
  std::filesystem::rename(folder_ + "/copy", folder_ + "/s1.jsonl");
  append("s1.jsonl", line("c", "3", "b"));
  const auto again = read("s1", first.position);
  EXPECT_TRUE(again.epochs.empty());
  EXPECT_EQ(again.message_ids(), Ids{"c"});
}

TEST_F(TranscriptTest, a_redaction_of_equal_length_in_the_middle_is_seen) {
  write("s1.jsonl", header("s1") + line("a", "secret") + line("b", "2", "a"));
  const auto first = read("s1");
  write("s1.jsonl.tmp", header("s1") + line("a", "******") + line("b", "2", "a"));
  std::filesystem::rename(folder_ + "/s1.jsonl.tmp", folder_ + "/s1.jsonl");
  const auto again = read("s1", first.position);
  ASSERT_EQ(again.epochs.size(), 1u);
  EXPECT_EQ(again.epochs[0].reason, "replaced");
  EXPECT_EQ(again.texts()[0], "******");
}

TEST_F(TranscriptTest, an_archive_without_a_last_newline_is_read_to_its_end) {
  const auto text = line("a", "1") + line("b", "2");
  write("s2.jsonl.reset.2026-08-01T00-00-00.000Z", text.substr(0, text.size() - 1));
  const auto first = read("s2");
  EXPECT_EQ(first.message_ids(), (Ids{"a", "b"}));
  EXPECT_TRUE(read("s2", first.position).entries.empty());
  auto s = source();
  test::expect_bodies_round_trip(s, "s2", first.entries);
}

TEST_F(TranscriptTest, a_cut_archive_gives_what_can_be_decoded_says_so_and_goes_on_once_whole) {
  const std::string name = "s2.jsonl.reset.2026-08-01T00-00-00.000Z.zst";
  const auto whole = zstd_compress(header("s2") + line("a", "1") + line("b", "2")) +
                     zstd_compress(line("c", "3") + line("d", "4"));
  write(name, whole.substr(0, whole.size() - 9));
  const auto first = read("s2", {}, 2);
  EXPECT_EQ(first.message_ids(), (Ids{"a", "b"}));
  ASSERT_TRUE(first.stopped.has_value());
  EXPECT_EQ(first.stopped->reason, "cut_short");
  EXPECT_EQ(first.stopped->line, kRestOfStream);
  EXPECT_EQ(first.stopped->file, folder_ + "/" + name);
  EXPECT_EQ(first.skipped_total, 0);
  write(name, whole.substr(0, 20));
  const auto shorter = read("s2", first.position);
  EXPECT_TRUE(shorter.epochs.empty());
  EXPECT_EQ(shorter.stopped->reason, "cut_short");
  write(name, whole);
  const auto second = read("s2", shorter.position);
  EXPECT_EQ(second.message_ids(), (Ids{"c", "d"}));
  EXPECT_TRUE(second.epochs.empty());
  EXPECT_FALSE(second.stopped.has_value());
}

TEST_F(TranscriptTest, a_damaged_or_empty_archive_stops_its_own_stream_only) {
  write("s1.jsonl", header("s1") + line("a", "1"));
  const auto whole = zstd_compress(header("s2") + line("b", "2")) + zstd_compress(line("c", "3"));
  auto flipped = whole;
  const std::size_t second = whole.rfind("\x28\xB5\x2F\xFD");
  flipped[second] = '\0';
  write("s2.jsonl.reset.2026-08-01T00-00-00.000Z.zst", flipped);
  write("s3.jsonl.reset.2026-08-01T00-00-00.000Z.zst", "");
  const auto damaged = read("s2");
  EXPECT_EQ(damaged.message_ids(), Ids{"b"});
  EXPECT_EQ(damaged.stopped->reason, "damaged");
  EXPECT_EQ(read("s3").stopped->reason, "cut_short");
  EXPECT_EQ(read("s1").message_ids(), Ids{"a"});
}

TEST_F(TranscriptTest, a_file_that_is_not_ours_to_read_stops_its_own_stream_only) {
  write("s1.jsonl", header("s1") + line("a", "1"));
  write("s2.jsonl", header("s2") + line("b", "2"));
  std::filesystem::permissions(dir_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder_ + "/s1.jsonl", std::filesystem::perms::none);
  const bool is_root = ::geteuid() == 0;
  if (is_root && ::seteuid(65534) != 0) GTEST_SKIP() << "needs to become another user";
  const auto closed = read("s1");
  const auto open = read("s2");
  ASSERT_TRUE(!is_root || ::seteuid(0) == 0);
  ASSERT_TRUE(closed.stopped.has_value());
  EXPECT_EQ(closed.stopped->reason, "permission");
  EXPECT_EQ(open.message_ids(), Ids{"b"});
  auto s = source();
  const std::string tip = test::stream_of(s, "s1").tip;
  std::filesystem::permissions(folder_ + "/s1.jsonl", std::filesystem::perms::owner_all);
  EXPECT_NE(test::stream_of(s, "s1").tip, tip) << "it is looked at again";
  EXPECT_EQ(read("s1", closed.position).message_ids(), Ids{"a"});
}

TEST_F(TranscriptTest, carriage_returns_and_a_byte_order_mark_do_no_harm) {
  auto text = line("a", "1");
  text.insert(text.size() - 1, "\r");
  write("s1.jsonl", "\xEF\xBB\xBF" + text + "\r\n" + text);
  const auto drained = read("s1");
  EXPECT_EQ(drained.message_ids(), (Ids{"a", "a"}));
  EXPECT_EQ(drained.skipped_total, 0);
}

TEST_F(TranscriptTest, bodies_are_found_again_after_the_file_was_rewritten) {
  write("s1.jsonl", header("s1") + line("a", "first") + line("b", "second", "a"));
  const auto before = read("s1");
  write("s1.jsonl", header("s1") + line("b", "second"));
  auto s = source();
  const MessageSource::Wanted wanted[] = {{"s1", before.entries[2].place, "b"},
                                          {"s1", before.entries[1].place, "a"}};
  const auto bodies = s.bodies(wanted);
  EXPECT_EQ(bodies[0], "second");
  EXPECT_FALSE(bodies[1].has_value());
}

TEST_F(TranscriptTest, session_keys_come_from_the_index_also_for_earlier_sessions_of_a_chat) {
  write("s1.jsonl", line("a", "1"));
  write("old.jsonl.reset.2026-08-01T00-00-00.000Z", line("b", "2"));
  write(
      "sessions.json",
      R"({"agent:main:telegram:direct:7":{"sessionId":"s1","sessionFile":"/home/user/s1.jsonl","usageFamilySessionIds":["old","s1"]}})");
  auto s = source();
  EXPECT_EQ(test::stream_of(s, "s1").session_key, "agent:main:telegram:direct:7");
  EXPECT_EQ(test::stream_of(s, "old").session_key, "agent:main:telegram:direct:7");
  const auto entry = drain(s, test::stream_of(s, "s1")).entries.at(0);
  EXPECT_EQ(entry.sender_id, "7");
  EXPECT_EQ(entry.channel, "telegram");
}

TEST(TranscriptNames, rules) {
  const auto kind = [](const char* name) { return parse_transcript_name(name); };
  EXPECT_EQ(kind("a.jsonl")->kind, FileKind::kLive);
  EXPECT_EQ(kind("a.jsonl.deleted.2026-11-29T19-26-58.833Z.15ab.zst")->kind, FileKind::kDeleted);
  EXPECT_TRUE(kind("a.jsonl.deleted.2026-11-29T19-26-58.833Z.15ab.zst")->zstd);
  EXPECT_EQ(kind("agent_main_main.37761b65.jsonl.imported-1795982671951")->stem, "37761b65");
  EXPECT_EQ(kind("a.jsonl.bak-17")->kind, FileKind::kBackup);
  EXPECT_FALSE(kind("a.trajectory.jsonl"));
  EXPECT_FALSE(kind("a.jsonl.lock"));
  EXPECT_FALSE(kind("sessions.json"));
  EXPECT_FALSE(kind(".jsonl"));
}

}  // namespace
}  // namespace clawmark
