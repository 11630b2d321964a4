// Stores written by real releases, read and compared with independent readings of them. Run only
// where the shared fixtures are there; always on copies.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "sources/agent_db_source.h"
#include "sources/entry_parser.h"
#include "sources/lcm_source.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::TempDir;
using test::drain_all;

std::vector<json::object> json_lines(const std::string& path) {
  std::vector<json::object> out;
  const auto text = support::read_text(path);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (end > at)
      out.push_back(parse_json(std::string_view(text).substr(at, end - at)).value().get_object());
    at = end + 1;
  }
  return out;
}

std::set<std::string> strings(const json::object& row, std::string_view key) {
  std::set<std::string> out;
  if (const auto* items = find_array(row, key)) {
    for (const auto& item : *items) out.insert(std::string(view(item.get_string())));
  }
  return out;
}

// What several carriers and sessions say of one entry.
struct Seen {
  Entry entry;
  std::set<std::string> sessions, active_in, carriers;
};

std::string carrier_name(const MessageSource& source, const StreamInfo& stream) {
  if (source.carrier() == "agent-db")
    return stream.key.starts_with("archive:") ? "deleted" : "agent-db";
  if (stream.deleted) return "deleted";
  return stream.live ? "file" : "archive";
}

class OpenClawFixture : public testing::TestWithParam<const char*> {};

TEST_P(OpenClawFixture, every_row_matches_the_independent_reading) {
  const auto shared = support::shared_path(std::string("fixtures/openclaw/") + GetParam());
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(*shared, dir.path());
  const auto before = support::tree_digest(dir.path());

  const SystemClock clock;
  SourceOptions options;
  options.state_dir = dir.path();
  std::map<std::string, Seen> seen;  // entry id + time
  for (auto& open : discover_sources(options, clock)) {
    EXPECT_EQ(open.source->validate().state, SourceState::kOk);
    EXPECT_EQ(open.agent, "main");
    const auto streams = open.source->streams();
    ASSERT_TRUE(streams.ok()) << describe(streams.error());
    for (const auto& stream : *streams) {
      const auto drained = test::drain(*open.source, stream, {}, 7);
      EXPECT_EQ(drained.skipped_total, 0);
      test::expect_bodies_round_trip(*open.source, stream.key, drained.entries);
      const std::set<std::string> inactive =
          drained.inactive
              ? std::set<std::string>(drained.inactive->begin(), drained.inactive->end())
              : std::set<std::string>();
      for (const auto& entry : drained.entries) {
        if (entry.kind != EntryKind::kMessage) continue;
        auto& one = seen[entry.entry_id + " " + format_iso(entry.time)];
        if (!one.entry.entry_id.empty()) {
          EXPECT_EQ(one.entry.hash, entry.hash);
        }
        one.entry = entry;
        one.sessions.insert(stream.session_id);
        one.carriers.insert(carrier_name(*open.source, stream));
        if (stream.key.starts_with("session:") && !inactive.contains(entry.entry_id)) {
          one.active_in.insert(stream.session_id);
        }
      }
    }
  }

  const auto expected = json_lines(join_path(*shared, "expected.jsonl"));
  EXPECT_EQ(seen.size(), expected.size());
  for (const auto& row : expected) {
    const auto id = get_string(row, "id") + " " + get_string(row, "time");
    SCOPED_TRACE(id);
    ASSERT_TRUE(seen.contains(id));
    const auto& one = seen[id];
    EXPECT_EQ(one.entry.role, get_string(row, "role"));
    EXPECT_EQ(one.entry.entry_class, get_string(row, "class"));
    EXPECT_EQ(one.entry.message_time.value, get_int(row, "message_ms"));
    EXPECT_EQ(one.entry.bytes, get_int(row, "bytes"));
    EXPECT_EQ(to_hex(one.entry.hash), get_string(row, "sha256"));
    std::set<std::string> calls;
    for (const auto& tool : one.entry.tools) calls.insert(tool.call_id);
    EXPECT_EQ(calls, strings(row, "tool_calls"));
    EXPECT_EQ(one.sessions, strings(row, "sessions"));
    EXPECT_EQ(one.active_in, strings(row, "active_in"));
    auto carriers = strings(row, "carriers");
    if (carriers.erase("reset") + carriers.erase("imported") > 0) carriers.insert("archive");
    EXPECT_EQ(one.carriers, carriers);
  }
  EXPECT_EQ(support::tree_digest(dir.path()), before) << "the source was changed";
}

INSTANTIATE_TEST_SUITE_P(Versions, OpenClawFixture,
                         testing::Values("v2026.3.23", "v2026.5.28", "v2026.9.6",
                                         "v2026.9.6-migrated-from-5.28"),
                         [](const auto& param) {
                           std::string name = param.param;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

TEST(AgentDbFixture, rows_equal_the_decoded_reference_row_by_row) {
  const auto shared = support::shared_path("fixtures/openclaw/v2026.9.6");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(*shared, dir.path());
  const SystemClock clock;
  AgentDbSource source(dir / "agents/main/agent/openclaw-agent.sqlite", "main", {}, clock);
  const auto index =
      parse_json(support::read_text(join_path(*shared, "decoded/index.json"))).value();
  for (const auto& item : index.get_array()) {
    const auto id = get_string(item.get_object(), "sessionId");
    SCOPED_TRACE(id);
    const auto stream = test::stream_of(source, id);
    EXPECT_EQ(stream.session_key, get_string(item.get_object(), "sessionKey"));
    const auto entries = test::drain(source, stream).entries;
    const auto lines = json_lines(join_path(*shared, "decoded/" + id + ".decoded.jsonl"));
    ASSERT_EQ(entries.size(), lines.size());
    ASSERT_EQ(static_cast<std::int64_t>(lines.size()), get_int(item.get_object(), "events"));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto parsed = parse_entry(to_text(lines[i])).value();
      EXPECT_EQ(entries[i].entry_id, parsed.entry.entry_id);
      EXPECT_EQ(entries[i].parent_id, parsed.entry.parent_id);
      EXPECT_EQ(entries[i].kind, parsed.entry.kind);
      EXPECT_EQ(entries[i].hash, parsed.entry.hash);
      EXPECT_EQ(entries[i].time, parsed.entry.time);
    }
  }
}

TEST(AgentDbFixture, sender_and_session_key_come_with_a_channel_message) {
  const auto shared = support::shared_path("fixtures/openclaw/v2026.9.6");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(*shared, dir.path());
  const SystemClock clock;
  AgentDbSource source(dir / "agents/main/agent/openclaw-agent.sqlite", "main", {}, clock);
  bool found = false;
  for (const auto& [key, drained] : drain_all(source)) {
    for (const auto& entry : drained.entries) {
      if (entry.sender_id != "111222333") continue;
      found = true;
      EXPECT_EQ(entry.channel, "telegram");
      EXPECT_EQ(entry.sender_name, "Ada Lovelace");
    }
  }
  EXPECT_TRUE(found);
}

TEST(TranscriptFixture, sender_of_the_old_envelope_is_read_and_its_text_cleaned) {
  const auto shared = support::shared_path("fixtures/openclaw/v2026.3.23");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(*shared, dir.path());
  const SystemClock clock;
  SourceOptions options;
  options.state_dir = dir.path();
  std::map<std::string, std::string> said;
  for (auto& open : discover_sources(options, clock)) {
    for (const auto& [key, drained] : drain_all(*open.source)) {
      for (const auto& entry : drained.entries) {
        if (entry.role == "user")
          said[entry.sender_name + "/" + entry.channel + "/" + entry.entry_id] = entry.session_key;
      }
    }
  }
  EXPECT_EQ(said["Ada Lovelace//e4be09dd"], "agent:main:main");
  EXPECT_EQ(said["Bob/telegram/08ec4466"], "agent:main:telegram:group:-1001234567890");
}

// --- LCM ---------------------------------------------------------------------------------------

struct Altered {
  std::int64_t add_ms = 0;
  bool role = false, seq = false;  // altered on purpose
};

void expect_lcm_rows(const std::string& db, const std::string& expected_path,
                     const Altered& altered = {}) {
  const SystemClock clock;
  LcmSource source(db, dir_name(db) + "/lcm-files", {}, clock);
  const auto health = source.validate();
  ASSERT_EQ(health.state, SourceState::kOk) << health.message;
  std::map<std::int64_t, std::pair<Entry, std::string>> seen;
  const auto streams = source.streams();
  ASSERT_TRUE(streams.ok()) << describe(streams.error());
  for (const auto& stream : *streams) {
    const auto drained = test::drain(source, stream, {}, 11);
    test::expect_bodies_round_trip(source, stream.key, drained.entries);
    for (const auto& entry : drained.entries) {
      if (entry.kind == EntryKind::kMessage) {
        EXPECT_TRUE(seen.emplace(std::stoll(entry.place), std::pair(entry, stream.key)).second);
      }
    }
  }
  const auto expected = json_lines(expected_path);
  EXPECT_EQ(seen.size(), expected.size());
  for (const auto& row : expected) {
    SCOPED_TRACE(to_text(row).substr(0, 120));
    ASSERT_TRUE(seen.contains(get_int(row, "id")));
    const auto& [entry, key] = seen[get_int(row, "id")];
    EXPECT_EQ(key, "conv:" + std::to_string(get_int(row, "conv")));
    if (!altered.seq) {
      EXPECT_EQ(entry.order, get_int(row, "seq"));
    }
    if (!altered.role) {
      EXPECT_EQ(entry.role, get_string(row, "role"));
    }
    EXPECT_EQ(entry.time.value, get_int(row, "ms") + altered.add_ms);
    EXPECT_EQ(entry.bytes, get_int(row, "bytes"));
    EXPECT_EQ(to_hex(entry.hash), get_string(row, "sha"));
    EXPECT_EQ(entry.entry_id, get_string(row, "entry"));
    EXPECT_EQ(entry.session_id, get_string(row, "session_id"));
    EXPECT_EQ(entry.session_key, get_string(row, "session_key"));
    std::vector<std::string> calls;
    for (const auto& part : *find_array(row, "parts")) {
      const auto& object = part.get_object();
      if (get_string(row, "role") == "assistant" && get_string(object, "type") == "tool") {
        calls.push_back(get_string(object, "call"));
      }
    }
    std::vector<std::string> seen_calls;
    for (const auto& tool : entry.tools) seen_calls.push_back(tool.call_id);
    EXPECT_EQ(seen_calls, calls);
  }
}

class LcmVersion : public testing::TestWithParam<const char*> {};

TEST_P(LcmVersion, every_row_matches_the_independent_reading) {
  const std::string name = GetParam();
  const auto shared = support::shared_path("fixtures/lcm/" + name + ".db");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(dir_name(*shared), dir.path());
  const auto before = support::tree_digest(dir.path());
  expect_lcm_rows(dir / (base_name(name) + ".db"), dir / (base_name(name) + ".expected.jsonl"));
  EXPECT_EQ(support::tree_digest(dir.path()), before) << "the source was changed";
}

INSTANTIATE_TEST_SUITE_P(Files, LcmVersion,
                         testing::Values("small", "versions/lcm-v0.5.3", "versions/lcm-v0.9.4",
                                         "versions/lcm-v0.12.0", "versions/lcm-v0.14.0",
                                         "versions/lcm-v0.15.3",
                                         "versions/lcm-v0.3.0-upgraded-HEAD",
                                         "versions/lcm-v1.0.0-beta.4"),
                         [](const auto& param) {
                           std::string name = base_name(param.param);
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

struct Drift {
  const char* file;
  SourceState state;
  const char* reason;  // of a refusal; "rows": accepted, the same rows as small.db
  std::int64_t add_ms = 0;
};

class LcmDrift : public testing::TestWithParam<Drift> {};

TEST_P(LcmDrift, ends_as_expected) {
  const auto& drift = GetParam();
  const auto shared = support::shared_path(std::string("fixtures/lcm/drift/") + drift.file);
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  const auto path = dir / drift.file;
  support::write_text(path, support::read_text(*shared));
  const SystemClock clock;
  LcmSource source(path, dir / "lcm-files", {}, clock);
  const auto health = source.validate();
  EXPECT_EQ(health.state, drift.state) << to_string(health.state) << " " << health.message;
  if (drift.state != SourceState::kOk) {
    EXPECT_EQ(health.reason, drift.reason);
    EXPECT_NE(health.message.find(path), std::string::npos);
    EXPECT_FALSE(source.streams().ok());
  } else {
    expect_lcm_rows(path, *support::shared_path("fixtures/lcm/small.expected.jsonl"),
                    {drift.add_ms, drift.file == std::string_view("new-role.db"),
                     drift.file == std::string_view("wrong-types.db")});
  }
  EXPECT_EQ(support::list_files(dir.path()), std::vector<std::string>{drift.file});
}

INSTANTIATE_TEST_SUITE_P(
    Files, LcmDrift,
    testing::Values(
        Drift{"missing-token_count.db", SourceState::kOk, "rows"},
        Drift{"missing-created_at.db", SourceState::kIncompatible, "missing_column"},
        Drift{"missing-seq.db", SourceState::kIncompatible, "missing_column"},
        Drift{"renamed-content-column.db", SourceState::kIncompatible, "missing_column"},
        Drift{"renamed-messages-table.db", SourceState::kIncompatible, "missing_table"},
        Drift{"renamed-conversations-table.db", SourceState::kIncompatible, "missing_table"},
        Drift{"extra-columns.db", SourceState::kOk, "rows"},
        Drift{"reordered-columns.db", SourceState::kOk, "rows"},
        Drift{"created_at-epoch-ms.db", SourceState::kIncompatible, "column_type"},
        Drift{"created_at-iso-z.db", SourceState::kOk, "rows", 250},
        Drift{"new-role.db", SourceState::kOk, "rows"},
        Drift{"new-part-type-and-broken-metadata.db", SourceState::kOk, "rows"},
        Drift{"no-fts.db", SourceState::kOk, "rows"},
        Drift{"wrong-types.db", SourceState::kOk, "rows"},
        Drift{"double-ingested.db", SourceState::kOk, "rows"},
        Drift{"zero-bytes.db", SourceState::kNotInitialised, "empty"},
        Drift{"not-a-db.db", SourceState::kBroken, "not_a_database"},
        Drift{"truncated-half.db", SourceState::kBroken, "corrupt"},
        Drift{"truncated-tail.db", SourceState::kBroken, "corrupt"},
        Drift{"other-app.db", SourceState::kIncompatible, "missing_column"}),
    [](const auto& param) {
      std::string name = param.param.file;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

TEST(LcmFixture, extra_columns_and_a_missing_token_count_are_reported) {
  const auto shared = support::shared_path("fixtures/lcm/drift");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(*shared, dir.path());
  const SystemClock clock;
  const auto extra = LcmSource(dir / "extra-columns.db", dir.path(), {}, clock).validate();
  ASSERT_FALSE(extra.notes.empty());
  EXPECT_NE(extra.notes[0].find("unknown columns ignored"), std::string::npos);
  const auto missing = LcmSource(dir / "missing-token_count.db", dir.path(), {}, clock).validate();
  ASSERT_FALSE(missing.notes.empty());
  EXPECT_NE(missing.notes[0].find("token_count"), std::string::npos);
  EXPECT_NE(extra.schema_fingerprint, missing.schema_fingerprint);
}

TEST(LcmFixture, a_pending_write_ahead_log_is_read_too) {
  const auto shared = support::shared_path("fixtures/lcm/wal-pending");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(*shared, dir.path());
  const auto main_before = support::read_text(dir / "lcm.db");
  const auto wal_before = support::read_text(dir / "lcm.db-wal");
  const SystemClock clock;
  LcmSource source(dir / "lcm.db", dir.path(), {}, clock);
  std::size_t messages = 0;
  for (const auto& [key, drained] : drain_all(source)) messages += drained.message_ids().size();
  EXPECT_EQ(messages, 128u);
  EXPECT_EQ(support::read_text(dir / "lcm.db"), main_before);
  EXPECT_EQ(support::read_text(dir / "lcm.db-wal"), wal_before);
}

TEST(LcmFixture, its_messages_are_those_of_the_transcripts_it_was_made_from) {
  const auto shared = support::shared_path("fixtures/lcm");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  support::copy_tree(*shared, dir.path());
  const SystemClock clock;
  SourceOptions options;
  options.state_dir = dir / "nothing";
  options.transcripts_dir = dir / "sessions-small";
  options.lcm_path = dir / "small.db";
  // session + entry id + second + role group → hashes
  std::map<std::string, std::set<std::string>> lcm, files;
  const auto name = [](const Entry& e) {
    const bool tool = e.role == "tool" || e.role == "toolResult";
    return e.session_id + " " + e.entry_id + " " + std::to_string(e.time.value / 1000) + " " +
           (tool ? std::string("tool") : e.role);
  };
  for (auto& open : discover_sources(options, clock)) {
    const bool is_lcm = open.source->carrier() == "lcm";
    for (const auto& [key, drained] : drain_all(*open.source)) {
      for (const auto& e : drained.entries) {
        if (e.kind != EntryKind::kMessage) continue;
        auto& hashes = (is_lcm ? lcm : files)[name(e)];
        hashes.insert(to_hex(e.hash));
        for (const auto& other : e.other_hashes) hashes.insert(to_hex(other));
      }
    }
  }
  EXPECT_EQ(lcm.size(), 176u);
  std::size_t same = 0, known = 0;
  for (const auto& [id, hashes] : lcm) {
    if (!files.contains(id)) continue;
    ++known;
    for (const auto& hash : files[id]) same += hashes.contains(hash);
  }
  EXPECT_EQ(known, 176u);
  // Not equal in any form: an image block and a <file> block, which LCM replaced within the text.
  EXPECT_GE(same, 174u);
}

}  // namespace
}  // namespace clawmark
