#include "sources/agent_db_schema.h"

#include <array>
#include <string_view>

#include "sources/foreign_db.h"

namespace clawmark {
namespace {

constexpr std::int64_t kFirstWithTranscripts = 4;
constexpr std::int64_t kNewestKnown = 23;
constexpr std::array<std::string_view, 9> kTables = {"transcript_events",
                                                     "transcript_event_identities",
                                                     "transcript_rewrite_watermarks",
                                                     "session_transcript_active_events",
                                                     "session_transcript_index_state",
                                                     "session_windows",
                                                     "session_transcript_archives",
                                                     "session_transcript_cold_archives",
                                                     "memory_session_tombstones"};

Result<bool> has_all(Database& db, std::string_view table,
                     std::initializer_list<std::string_view> columns) {
  CLAWMARK_ASSIGN(const auto found, table_columns(db, table));
  for (const auto column : columns) {
    if (!has_column(found, column)) return false;
  }
  return true;
}

Error drift(const char* reason, std::string message) {
  return make_error(ErrorKind::kFatal, "source", reason, std::move(message));
}

}  // namespace

Result<AgentDbSchema> probe_agent_db(Database& db) {
  AgentDbSchema s;
  CLAWMARK_ASSIGN(const auto version, db.query_int("PRAGMA user_version"));
  s.user_version = version.value_or(0);
  CLAWMARK_ASSIGN(const auto events, table_columns(db, "transcript_events"));
  if (events.empty()) {
    CLAWMARK_ASSIGN(const auto tables, db.query_int("SELECT count(*) FROM sqlite_master"));
    if (tables.value_or(0) == 0 || s.user_version < kFirstWithTranscripts) {
      return make_error(ErrorKind::kRetriable, "source", "not_initialised",
                        db.path() + " has no transcripts yet; it is tried again");
    }
    return drift("missing_table", db.path() + " has no table transcript_events (schema " +
                                      std::to_string(s.user_version) +
                                      "): this host version is not known yet");
  }
  for (const std::string_view column : {"session_id", "seq"}) {
    if (has_column(events, column)) continue;
    return drift("missing_column",
                 db.path() + " has no column transcript_events." + std::string(column));
  }
  s.event_json = has_column(events, "event_json");
  s.event_zstd = has_column(events, "event_zstd");
  if (!s.event_json && !s.event_zstd) {
    return drift("missing_column", db.path() + " has no column transcript_events.event_json");
  }
  CLAWMARK_ASSIGN(s.windows, has_all(db, "session_windows", {"session_id", "session_key"}));
  CLAWMARK_ASSIGN(s.window_updated, has_all(db, "session_windows", {"transcript_updated_at"}));
  CLAWMARK_ASSIGN(s.watermarks,
                  has_all(db, "transcript_rewrite_watermarks", {"session_id", "generation"}));
  CLAWMARK_ASSIGN(s.identities,
                  has_all(db, "transcript_event_identities",
                          {"session_id", "event_id", "seq", "event_type", "parent_id"}));
  CLAWMARK_ASSIGN(const bool rows,
                  has_all(db, "session_transcript_active_events", {"session_id", "event_seq"}));
  CLAWMARK_ASSIGN(const bool state, has_all(db, "session_transcript_index_state",
                                            {"session_id", "indexed_seq", "needs_rebuild"}));
  s.active = rows && state;
  CLAWMARK_ASSIGN(s.archives, has_all(db, "session_transcript_archives",
                                      {"session_id", "generation", "session_key", "reason",
                                       "encoding", "archive_blob", "created_at"}));
  CLAWMARK_ASSIGN(s.cold,
                  has_all(db, "session_transcript_cold_archives",
                          {"session_id", "generation", "archive_name", "storage", "archive_blob"}));
  CLAWMARK_ASSIGN(s.tombstones,
                  has_all(db, "memory_session_tombstones", {"session_id", "created_at"}));
  CLAWMARK_ASSIGN(s.fingerprint, schema_fingerprint(db, kTables));
  if (s.user_version > kNewestKnown) {
    s.notes.push_back("schema " + std::to_string(s.user_version) + " is newer than " +
                      std::to_string(kNewestKnown) + "; all needed columns are there");
  }
  if (!s.windows) s.notes.push_back("no session_windows: session keys are not known");
  if (!s.identities) s.notes.push_back("no transcript_event_identities: branches are not known");
  return s;
}

}  // namespace clawmark
