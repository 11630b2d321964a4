// The builders against what the real host wrote: same tables, same index of the active branch.

#include "tests/support/store_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace clawmark::support {
namespace {

TEST(StoreBuilder, same_options_give_the_same_bytes) {
  const Conversation a = make_conversation({.seed = 5, .messages = 30});
  const Conversation b = make_conversation({.seed = 5, .messages = 30});
  const Conversation c = make_conversation({.seed = 6, .messages = 30});
  EXPECT_EQ(transcript_text(a, Era::kFiles3), transcript_text(b, Era::kFiles3));
  EXPECT_NE(transcript_text(a, Era::kFiles3), transcript_text(c, Era::kFiles3));
  EXPECT_EQ(message_ids(a).size(), 30u);
}

TEST(StoreBuilder, agent_database_holds_every_item_and_compresses_long_ones) {
  TempDir dir;
  const Conversation talk = make_conversation({.seed = 1, .messages = 40});
  AgentDbWriter db(dir.path(), "main");
  db.write(talk);
  EXPECT_EQ(db.row_count(talk.session_id), static_cast<std::int64_t>(talk.items.size()) + 1);
  EXPECT_GT(db.db().integer("SELECT count(*) FROM transcript_events WHERE event_zstd IS NOT NULL"),
            0);
  EXPECT_EQ(db.db().integer("SELECT count(*) FROM session_transcript_active_events"),
            static_cast<std::int64_t>(talk.items.size()));
  EXPECT_EQ(db.db().integer("PRAGMA user_version"), 23);
  for (std::size_t i = 0; i < talk.items.size(); ++i) {
    EXPECT_EQ(db.event_json(talk.session_id, static_cast<std::int64_t>(i) + 1),
              item_json(talk, talk.items[i], Era::kDatabase4));
  }
}

TEST(StoreBuilder, rewind_copies_ids_and_leaves_the_cut_off_the_active_branch) {
  TempDir dir;
  const Conversation talk = make_conversation({.seed = 2, .messages = 10, .tools = false});
  AgentDbWriter db(dir.path(), "main");
  db.write(talk);
  const std::string target = talk.items[talk.items.size() - 3].id;
  db.rewind(talk.session_id, "new-session", target, "3b95c2f5", talk.start_ms + 10'000'000);
  EXPECT_EQ(db.row_count("new-session"), db.row_count(talk.session_id) + 1);
  EXPECT_EQ(db.db().integer("SELECT count(*) FROM session_transcript_active_events "
                            "WHERE session_id = 'new-session' AND message_position IS NOT NULL"),
            8);
  EXPECT_EQ(db.db().integer("SELECT count(*) FROM session_windows"), 2);
  EXPECT_EQ(db.db().integer("SELECT count(*) FROM session_nodes"), 1);
}

TEST(StoreBuilder, fork_prefix_reset_and_deletion) {
  TempDir dir;
  const Conversation talk = make_conversation({.seed = 3, .messages = 12});
  AgentDbWriter db(dir.path(), "main");
  db.write(talk);
  db.fork(talk.session_id, "forked", "agent:main:dashboard:f", talk.items[5].id, talk.start_ms + 1);
  EXPECT_EQ(db.row_count("forked"), 7);
  db.reset(talk.session_id, "002eaae8", talk.start_ms + 99'000'000);
  EXPECT_EQ(db.row_count(talk.session_id), static_cast<std::int64_t>(talk.items.size()) + 2);
  const std::string archive = db.remove("forked", talk.start_ms + 100'000'000);
  EXPECT_TRUE(std::filesystem::exists(archive));
  EXPECT_EQ(db.row_count("forked"), 0);
  EXPECT_EQ(db.db().integer("SELECT count(*) FROM session_transcript_archives"), 1);
}

TEST(StoreBuilder, files_migrate_into_the_database_and_resets_stay) {
  TempDir dir;
  TranscriptWriter files(dir.path(), "main");
  Conversation old = make_conversation({.seed = 4, .messages = 8, .era = Era::kFiles3});
  files.write(old);
  const std::string reset = files.reset(old.session_id, old.start_ms + 5'000'000);
  const Conversation live = make_conversation({.seed = 5, .messages = 8, .era = Era::kFiles3});
  files.write(live);
  AgentDbWriter db(dir.path(), "main");
  files.migrate(db, live.start_ms + 9'000'000);
  EXPECT_TRUE(std::filesystem::exists(reset));
  EXPECT_FALSE(std::filesystem::exists(files.path(live.session_id)));
  EXPECT_EQ(db.row_count(live.session_id), static_cast<std::int64_t>(live.items.size()) + 1);
  EXPECT_THAT(db.event_json(live.session_id, 0), testing::HasSubstr("\"version\":3"));
}

TEST(StoreBuilder, lcm_keeps_messages_with_parts) {
  TempDir dir;
  const Conversation talk = make_conversation({.seed = 8, .messages = 25});
  LcmWriter lcm(dir / "lcm.db");
  const auto id = lcm.write(talk);
  EXPECT_EQ(lcm.db().integer("SELECT count(*) FROM messages"), 25);
  EXPECT_EQ(lcm.db().integer("SELECT count(*) FROM messages WHERE message_id NOT IN "
                             "(SELECT message_id FROM message_parts)"),
            0);
  lcm.summarize(id, 1, 10, "Ten messages.");
  EXPECT_EQ(lcm.db().integer("SELECT count(*) FROM summary_messages"), 10);
}

// Reading back what the real host wrote: our index of the active branch must be the host's.
TEST(StoreBuilder, tables_are_those_of_the_real_host) {
  const auto real = shared_path("fixtures/openclaw/v2026.9.6");
  if (!real) GTEST_SKIP() << "no shared fixtures";
  TempDir dir;
  copy_tree(*real, dir / "real");
  HostDb host(dir / "real/agents/main/agent/openclaw-agent.sqlite");
  AgentDbWriter made(dir / "made", "main");
  const char* columns =
      "SELECT m.name || '.' || c.name || ' ' || c.type FROM sqlite_master m, "
      "pragma_table_info(m.name) c "
      "WHERE m.type = 'table' AND (m.name LIKE 'transcript\\_%' ESCAPE '\\' OR m.name IN "
      "('session_windows', 'session_nodes', 'session_transcript_archives', "
      "'memory_session_tombstones', "
      "'session_transcript_active_events', 'session_transcript_index_state', 'schema_meta')) ORDER "
      "BY 1";
  const auto list = [&](HostDb& db) {
    std::vector<std::string> out;
    for (const auto& row : db.rows(columns)) out.push_back(std::get<std::string>(row[0]));
    return out;
  };
  EXPECT_THAT(list(made.db()), testing::ContainerEq(list(host)));
}

}  // namespace
}  // namespace clawmark::support
