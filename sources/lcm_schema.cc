#include "sources/lcm_schema.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/clock.h"
#include "base/files.h"
#include "sources/foreign_db.h"

namespace clawmark {
namespace {

constexpr std::array<std::string_view, 4> kTables = {"conversations", "messages", "message_parts",
                                                     "large_files"};
constexpr std::array<std::string_view, 3> kConversationNeeds = {"conversation_id", "session_id",
                                                                "created_at"};
constexpr std::array<std::string_view, 6> kMessageNeeds = {
    "message_id", "conversation_id", "seq", "role", "content", "created_at"};
constexpr std::array<std::string_view, 20> kKnown = {
    "conversation_id",
    "session_id",
    "session_key",
    "active",
    "archived_at",
    "archive_cause",
    "title",
    "bootstrapped_at",
    "created_at",
    "updated_at",
    "message_id",
    "seq",
    "role",
    "content",
    "token_count",
    "identity_hash",
    "large_content",
    "stable_event_key",
    "transcript_entry_id",
    "openclaw_sender_metadata",
};

Error drift(const char* reason, std::string message) {
  return make_error(ErrorKind::kFatal, "source", reason, std::move(message));
}

// The header promises more pages than the file holds; with a write-ahead log it may rightly do so.
Status check_length(Database& db) {
  const auto wal = stat_file(db.path() + "-wal");
  if (wal && wal->size > 0) return Ok{};
  CLAWMARK_ASSIGN(const auto pages, db.query_int("PRAGMA page_count"));
  CLAWMARK_ASSIGN(const auto size, db.query_int("PRAGMA page_size"));
  const auto file = stat_file(db.path());
  if (file && pages && size && *pages * *size > file->size) {
    return drift("corrupt", db.path() + " is cut off");
  }
  return Ok{};
}

Status check_columns(Database& db, std::string_view table, std::span<const std::string_view> needs,
                     std::vector<std::string>& columns) {
  CLAWMARK_ASSIGN(columns, table_columns(db, table));
  if (columns.empty()) {
    CLAWMARK_ASSIGN(const auto count, db.query_int("SELECT count(*) FROM sqlite_master"));
    if (count.value_or(0) == 0) {
      return make_error(
          ErrorKind::kRetriable, "source", "not_initialised",
          db.path() + " has no tables yet: its owner has not initialised it; it is tried again");
    }
    return drift("missing_table", db.path() + " has no table " + std::string(table) +
                                      ": not an LCM database of a known shape");
  }
  for (const auto need : needs) {
    if (has_column(columns, need)) continue;
    return drift("missing_column",
                 db.path() + " has no column " + std::string(table) + "." + std::string(need));
  }
  return Ok{};
}

// Types of the oldest and the newest row stand for all.
Status check_types(Database& db) {
  for (const char* end : {"min", "max"}) {
    CLAWMARK_ASSIGN(auto row,
                    db.prepare("SELECT typeof(message_id), typeof(content), typeof(created_at), "
                               "created_at FROM messages WHERE message_id = (SELECT " +
                               std::string(end) + "(message_id) FROM messages)"));
    CLAWMARK_ASSIGN(const bool there, row.step());
    if (!there) continue;
    const char* wrong = row.text(0) != "integer"  ? "message_id"
                        : row.text(1) != "text"   ? "content"
                        : row.text(2) != "text"   ? "created_at"
                        : !parse_iso(row.text(3)) ? "created_at"
                                                  : nullptr;
    if (wrong == nullptr) continue;
    return drift("column_type",
                 db.path() + ": messages." + wrong + " holds values of another type than known");
  }
  return Ok{};
}

std::size_t unknown_columns(const std::vector<std::string>& columns) {
  return static_cast<std::size_t>(
      std::count_if(columns.begin(), columns.end(), [](const std::string& column) {
        const auto name = std::string_view(column).substr(0, column.find(' '));
        return std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end();
      }));
}

Result<bool> is_table(Database& db, std::string_view name) {
  CLAWMARK_ASSIGN(const auto columns, table_columns(db, name));
  return !columns.empty();
}

}  // namespace

Result<LcmSchema> probe_lcm(Database& db) {
  LcmSchema s;
  CLAWMARK_TRY(check_length(db));
  std::vector<std::string> conversations, messages;
  CLAWMARK_TRY(check_columns(db, "conversations", kConversationNeeds, conversations));
  CLAWMARK_TRY(check_columns(db, "messages", kMessageNeeds, messages));
  CLAWMARK_TRY(check_types(db));
  s.session_key = has_column(conversations, "session_key");
  s.active = has_column(conversations, "active");
  s.archive_cause = has_column(conversations, "archive_cause");
  s.token_count = has_column(messages, "token_count");
  s.identity_hash = has_column(messages, "identity_hash");
  s.entry_id = has_column(messages, "transcript_entry_id");
  s.sender = has_column(messages, "openclaw_sender_metadata");
  CLAWMARK_ASSIGN(const auto parts, table_columns(db, "message_parts"));
  s.parts = true;
  for (const std::string_view column : {"message_id", "ordinal", "part_type", "text_content",
                                        "tool_call_id", "tool_name", "metadata"}) {
    s.parts = s.parts && has_column(parts, column);
  }
  CLAWMARK_ASSIGN(const auto files, table_columns(db, "large_files"));
  s.large_files = has_column(files, "file_id") && has_column(files, "storage_uri") &&
                  has_column(files, "conversation_id");
  CLAWMARK_ASSIGN(const auto bootstrap, table_columns(db, "conversation_bootstrap_state"));
  s.bootstrap =
      has_column(bootstrap, "conversation_id") && has_column(bootstrap, "session_file_path");
  CLAWMARK_ASSIGN(s.sequence, is_table(db, "sqlite_sequence"));
  CLAWMARK_ASSIGN(s.fingerprint, schema_fingerprint(db, kTables));
  if (!s.token_count)
    s.notes.push_back("column messages.token_count is missing: own estimates are used");
  if (!s.parts) s.notes.push_back("no message_parts: tool calls are not known");
  if (const auto n = unknown_columns(conversations) + unknown_columns(messages); n > 0) {
    s.notes.push_back(std::to_string(n) + " unknown columns ignored");
  }
  return s;
}

}  // namespace clawmark
