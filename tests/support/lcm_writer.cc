#include "tests/support/lcm_writer.h"

#include <filesystem>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "tests/support/lcm_ddl.h"

namespace clawmark::support {
namespace {

// datetime('now') form: UTC, whole seconds.
std::string sql_time(std::int64_t ms) {
  std::string text = iso_ms(ms).substr(0, 19);
  text[10] = ' ';
  return text;
}

std::string lcm_role(const Item& item) {
  return item.role == "toolResult" ? "tool" : item.role;
}

bool is_stored(const Item& item) {
  if (item.kind != ItemKind::kMessage || !item.mark.empty()) return false;
  return item.role == "user" || item.role == "assistant" || item.role == "toolResult";
}

std::int64_t time_of(const Item& item) {
  return item.message_ms != 0 ? item.message_ms : item.entry_ms;
}

}  // namespace

LcmWriter::LcmWriter(std::string path) : path_(std::move(path)), ids_(fnv1a(path_)) {
  const auto folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  db_ = std::make_unique<HostDb>(path_);
  db_->exec("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;");
  if (db_->integer("SELECT count(*) FROM sqlite_master WHERE name = 'messages'") == 0) {
    db_->exec(std::string("BEGIN;") + kLcmSchema +
              "INSERT INTO lcm_migration_state(step_name, algorithm_version) VALUES"
              "('backfillSummaryDepths',1),('backfillSummaryMetadata',1),"
              "('backfillToolCallColumns',1),('repairOpenClawMetadataIdentityState',2); COMMIT;");
  }
}

std::int64_t LcmWriter::write(const Conversation& conversation, bool with_entry_ids) {
  db_->run(
      "UPDATE conversations SET active = 0, archived_at = ?2, archive_cause = 'session-end' "
      "WHERE session_key = ?1 AND active = 1",
      {conversation.session_key, sql_time(conversation.start_ms)});
  db_->run(
      "INSERT INTO conversations(session_id, session_key, created_at, updated_at) VALUES(?,?,?,?)",
      {conversation.session_id, conversation.session_key, sql_time(conversation.start_ms),
       sql_time(conversation.start_ms)});
  const std::int64_t id = db_->last_id();
  conversations_[conversation.session_id] = id;
  append(conversation, 0, with_entry_ids);
  return id;
}

void LcmWriter::append(const Conversation& conversation, std::size_t first, bool with_entry_ids) {
  const std::int64_t id = conversations_.at(conversation.session_id);
  for (std::size_t i = first; i < conversation.items.size(); ++i) {
    const Item& item = conversation.items[i];
    if (!is_stored(item)) continue;
    db_->exec("BEGIN IMMEDIATE");
    add_message(id, conversation, item, with_entry_ids);
    db_->exec("COMMIT");
  }
}

void LcmWriter::add_message(std::int64_t conversation_id, const Conversation& conversation,
                            const Item& item, bool with_entry_id) {
  const std::string text = text_of(item), role = lcm_role(item);
  const std::string hash = to_hex(sha256(role + std::string(1, '\0') + text));
  Value sender(nullptr);
  if (!item.sender.id.empty() && conversation.chat_type == "group") {
    sender = to_text(json::object{{"senderId", item.sender.id},
                                  {"senderName", item.sender.name},
                                  {"senderUsername", item.sender.username}});
  }
  db_->run(
      "INSERT INTO messages(conversation_id, seq, role, content, token_count, identity_hash, "
      "openclaw_sender_metadata, transcript_entry_id, created_at) VALUES(?1, "
      "(SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE conversation_id = ?1), "
      "?2,?3,?4,?5,?6,?7,?8)",
      {conversation_id, role, text, static_cast<std::int64_t>(text.size() / 4 + 1), hash, sender,
       with_entry_id ? Value(item.id) : Value(nullptr), sql_time(time_of(item))});
  const std::int64_t message_id = db_->last_id();
  add_parts(message_id, conversation, item);
  if (!text.empty()) {
    db_->run("INSERT INTO messages_fts(rowid, content) VALUES(?,?)", {message_id, text});
  }
  db_->run(
      "INSERT INTO context_items(conversation_id, ordinal, item_type, message_id, created_at) "
      "VALUES(?1, (SELECT coalesce(max(ordinal), -1) + 1 FROM context_items WHERE conversation_id "
      "= ?1),"
      " 'message', ?2, ?3)",
      {conversation_id, message_id, sql_time(time_of(item))});
}

void LcmWriter::add_parts(std::int64_t message_id, const Conversation& conversation,
                          const Item& item) {
  std::int64_t ordinal = 0;
  const auto part = [&](const char* type, const Value& text, const Value& call, const Value& name,
                        const Value& input) {
    const std::string meta = to_text(json::object{{"originalRole", item.role}});
    db_->run(
        "INSERT INTO message_parts(part_id, message_id, session_id, part_type, ordinal, "
        "text_content,"
        " tool_call_id, tool_name, tool_input, metadata) VALUES(?,?,?,?,?,?,?,?,?,?)",
        {ids_.uuid(), message_id, conversation.session_id, std::string(type), ordinal++, text, call,
         name, input, meta});
  };
  const Value none(nullptr);
  if (!item.thinking.empty()) part("reasoning", item.thinking, none, none, none);
  const Value call = null_if_empty(item.call_id), name = null_if_empty(item.tool_name);
  if (!item.text.empty()) part("text", item.text, call, name, none);
  for (const auto& block : item.blocks) part("text", block, none, none, none);
  for (const auto& tool : item.tools) part("tool", none, tool.call_id, tool.name, tool.arguments);
}

std::string LcmWriter::summarize(std::int64_t conversation_id, std::int64_t from_seq,
                                 std::int64_t to_seq, const std::string& text) {
  const std::string id = "sum_" + ids_.hex(16);
  db_->run(
      "INSERT INTO summaries(summary_id, conversation_id, kind, content, token_count, earliest_at, "
      "latest_at) SELECT ?1, ?2, 'leaf', ?5, ?6, replace(min(created_at),' ','T')||'.000Z', "
      "replace(max(created_at),' ','T')||'.000Z' FROM messages "
      "WHERE conversation_id = ?2 AND seq BETWEEN ?3 AND ?4",
      {id, conversation_id, from_seq, to_seq, text,
       static_cast<std::int64_t>(text.size() / 4 + 1)});
  db_->run(
      "INSERT INTO summary_messages SELECT ?1, message_id, seq - ?3 FROM messages "
      "WHERE conversation_id = ?2 AND seq BETWEEN ?3 AND ?4",
      {id, conversation_id, from_seq, to_seq});
  db_->run("INSERT INTO summaries_fts(summary_id, content) VALUES(?,?)", {id, text});
  return id;
}

void LcmWriter::archive(std::int64_t conversation_id, const std::string& cause, std::int64_t ms) {
  db_->run(
      "UPDATE conversations SET active = 0, archived_at = ?2, archive_cause = ?3 "
      "WHERE conversation_id = ?1",
      {conversation_id, sql_time(ms), cause});
}

void LcmWriter::checkpoint() {
  db_->exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace clawmark::support
