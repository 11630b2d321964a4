#include "tests/support/agent_db_writer.h"

#include <zstd.h>

#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "tests/support/agent_db_ddl.h"
#include "tests/support/fixtures.h"

namespace clawmark::support {
namespace {

// A level-1 frame with content size and checksum, no dictionary: what the host writes.
std::string host_frame(std::string_view text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size)) throw std::runtime_error("zstd");
  out.resize(size);
  return out;
}

bool wants_zstd(std::string_view text, std::string_view frame) {
  if (text.size() < 1024 || text.size() > 4u << 20) return false;
  if (text.find("\\u") != std::string_view::npos) return false;
  if (text.find('\0') != std::string_view::npos) return false;
  const std::size_t saves = std::max<std::size_t>(64, text.size() / 10);
  return frame.size() + saves <= text.size();
}

std::string decompress(const std::string& frame) {
  std::string out(ZSTD_getFrameContentSize(frame.data(), frame.size()), '\0');
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_isError(size)) throw std::runtime_error("zstd frame");
  return out;
}

std::string navigation(const json::object& event, std::size_t bytes) {
  json::object entry{{"id", get_string(event, "id")},
                     {"timestamp", get_string(event, "timestamp")},
                     {"type", get_string(event, "type")}};
  if (const auto* parent = find(event, "parentId")) entry["parentId"] = *parent;
  const auto size = static_cast<std::int64_t>(bytes);
  return to_text(json::object{{"version", 1},
                              {"report", {{"kind", "canonical"}, {"entry", entry}}},
                              {"navigation", entry},
                              {"reset", entry},
                              {"model", entry},
                              {"modelBytes", size},
                              {"modelWithoutCheckpointBytes", size},
                              {"withoutCustomDataBytes", size}});
}

json::object parse_object(const std::string& text) {
  auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object()) throw std::runtime_error("event is not a JSON object");
  return parsed->as_object();
}

std::int64_t event_ms(const json::object& event) {
  return parse_iso(get_string(event, "timestamp")).value_or(TimeMs{}).value;
}

std::string as_text(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

AgentDbWriter::AgentDbWriter(std::string state_dir, std::string agent)
    : state_dir_(std::move(state_dir)), agent_(std::move(agent)), ids_(fnv1a(agent_) ^ 0x5eed) {
  const std::string folder = state_dir_ + "/agents/" + agent_ + "/agent";
  std::filesystem::create_directories(folder);
  path_ = folder + "/openclaw-agent.sqlite";
  db_ = std::make_unique<HostDb>(path_);
  ensure_schema();
}

void AgentDbWriter::ensure_schema() {
  if (db_->integer("SELECT count(*) FROM sqlite_master WHERE name = 'transcript_events'") == 1) {
    return;
  }
  db_->exec("PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF;");
  db_->exec("BEGIN");
  db_->exec(kAgentDbTables);
  db_->exec(kAgentDbTranscripts);
  db_->run(
      "INSERT INTO schema_meta "
      "VALUES('primary','agent',23,?,'2026.9.6',1795979825318,1795979825318)",
      {agent_});
  db_->exec("INSERT INTO session_key_contract VALUES(1,'main',NULL,0)");
  db_->exec("PRAGMA user_version = 23; COMMIT");
}

void AgentDbWriter::ensure_session(const Conversation& talk, std::int64_t ms) {
  db_->run(
      "INSERT INTO session_nodes(session_key, current_session_id, entry_json, updated_at, status, "
      "created_at, created_via, created_actor_type, last_interaction_at) "
      "VALUES(?1,?2,?3,?4,'done',?4,?5,?6,?4) ON CONFLICT(session_key) DO UPDATE SET "
      "current_session_id = excluded.current_session_id, updated_at = excluded.updated_at",
      {talk.session_key, talk.session_id,
       to_text(json::object{{"sessionId", talk.session_id}, {"updatedAt", ms}}), ms,
       std::string(talk.channel.empty() ? "operator" : "channel"),
       talk.channel.empty() ? Value(nullptr) : Value(std::string("human"))});
  db_->run(
      "INSERT OR IGNORE INTO session_windows(session_id, session_key, session_scope, created_at, "
      "updated_at, transcript_updated_at, transcript_observed_at, started_at, status, chat_type, "
      "channel, account_id, model_provider, model, agent_harness_id) "
      "VALUES(?1,?2,?3,?4,?4,?4,?4,?4,'done',?5,?6,?7,'example','example-1','openclaw')",
      {talk.session_id, talk.session_key,
       std::string(talk.chat_type == "group" ? "group" : "conversation"), ms,
       null_if_empty(talk.chat_type), null_if_empty(talk.channel),
       talk.channel.empty() ? Value(nullptr) : Value(std::string("default"))});
  db_->run("INSERT OR IGNORE INTO transcript_rewrite_watermarks VALUES(?,?,?)",
           {talk.session_id, ids_.hex(32), ms});
}

void AgentDbWriter::insert(const std::string& session_id, std::int64_t seq,
                           const std::string& event_json) {
  const json::object event = parse_object(event_json);
  const std::int64_t ms = event_ms(event);
  const std::string frame = host_frame(event_json);
  if (wants_zstd(event_json, frame)) {
    db_->run(
        "INSERT INTO transcript_events(session_id, seq, created_at, event_zstd, event_utf8_bytes, "
        "navigation_json) VALUES(?,?,?,?,?,?)",
        {session_id, seq, ms, Blob{frame}, static_cast<std::int64_t>(event_json.size()),
         navigation(event, event_json.size())});
  } else {
    db_->run(
        "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES(?,?,?,?)",
        {session_id, seq, event_json, ms});
  }
  std::string key;
  if (const auto* message = find_object(event, "message")) {
    key = get_string(*message, "idempotencyKey");
  }
  db_->run("INSERT OR REPLACE INTO transcript_event_identities VALUES(?,?,?,?,?,?,?)",
           {session_id, get_string(event, "id"), seq, get_string(event, "type"),
            null_if_empty(get_string(event, "parentId")), null_if_empty(key), ms});
}

void AgentDbWriter::write(const Conversation& conversation, Era era) {
  db_->exec("BEGIN IMMEDIATE");
  ensure_session(conversation, conversation.start_ms);
  insert(conversation.session_id, 0, header_json(conversation, era));
  db_->exec("COMMIT");
  append(conversation, 0, era);
}

void AgentDbWriter::append(const Conversation& conversation, std::size_t first, Era era) {
  db_->exec("BEGIN IMMEDIATE");
  std::int64_t seq = row_count(conversation.session_id);
  std::int64_t ms = conversation.start_ms;
  for (std::size_t i = first; i < conversation.items.size(); ++i) {
    insert(conversation.session_id, seq++, item_json(conversation, conversation.items[i], era));
    ms = std::max(ms, conversation.items[i].entry_ms);
  }
  reindex(conversation.session_id, ms);
  db_->exec("COMMIT");
}

void AgentDbWriter::append_json(const std::string& session_id, const std::string& event_json,
                                std::int64_t ms) {
  db_->exec("BEGIN IMMEDIATE");
  insert(session_id, row_count(session_id), event_json);
  reindex(session_id, ms);
  db_->exec("COMMIT");
}

// The active branch: from the newest entry (or the target of the newest leaf row) up to the root.
void AgentDbWriter::reindex(const std::string& session_id, std::int64_t ms) {
  struct Node {
    std::int64_t seq;
    std::string parent, type;
  };
  std::unordered_map<std::string, Node> nodes;
  std::string leaf;
  std::int64_t last = -1;
  const std::int64_t rows = row_count(session_id);
  for (std::int64_t seq = 0; seq < rows; ++seq) {
    const json::object event = parse_object(event_json(session_id, seq));
    const std::string type = get_string(event, "type"), id = get_string(event, "id");
    last = seq;
    if (type == "session") continue;
    if (type == "leaf") {
      leaf = get_string(event, "targetId");
      continue;
    }
    nodes[id] = {seq, get_string(event, "parentId"), type};
    leaf = id;
  }
  std::map<std::int64_t, std::string> path;
  const std::string newest = leaf;
  while (nodes.contains(leaf) && path.emplace(nodes[leaf].seq, nodes[leaf].type).second) {
    leaf = nodes[leaf].parent;
  }
  db_->run("DELETE FROM session_transcript_active_events WHERE session_id = ?", {session_id});
  std::int64_t position = 0, messages = 0;
  for (const auto& [seq, type] : path) {
    const bool message = type == "message";
    db_->run("INSERT INTO session_transcript_active_events VALUES(?,?,?,?,1)",
             {session_id, position++, seq, message ? Value(messages++) : Value(nullptr)});
  }
  db_->run("INSERT OR REPLACE INTO session_transcript_index_state VALUES(?,?,?,0,?,?,?)",
           {session_id, last, null_if_empty(newest), position, messages, ms});
  db_->run(
      "UPDATE session_windows SET updated_at = ?2, transcript_updated_at = max(?2, "
      "transcript_updated_at), transcript_observed_at = ?2 WHERE session_id = ?1",
      {session_id, ms});
}

std::int64_t AgentDbWriter::row_count(const std::string& session_id) {
  return db_->integer(
      "SELECT coalesce(max(seq), -1) + 1 FROM transcript_events WHERE session_id = ?",
      {session_id});
}

std::string AgentDbWriter::event_json(const std::string& session_id, std::int64_t seq) {
  const auto found = db_->rows(
      "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? AND seq = ?",
      {session_id, seq});
  if (found.empty()) throw std::runtime_error("no such row");
  if (const auto* frame = std::get_if<Blob>(&found[0][1])) return decompress(frame->bytes);
  return as_text(found[0][0]);
}

std::int64_t AgentDbWriter::seq_of(const std::string& session_id, const std::string& event_id) {
  return db_->integer(
      "SELECT seq FROM transcript_event_identities WHERE session_id = ? AND event_id = ?",
      {session_id, event_id});
}

void AgentDbWriter::reset(const std::string& session_id, const std::string& id, std::int64_t ms,
                          const std::string& reason) {
  const auto leaf =
      db_->rows("SELECT leaf_event_id FROM session_transcript_index_state WHERE session_id = ?",
                {session_id});
  json::object row{{"type", "reset"},
                   {"id", id},
                   {"parentId", nullptr},
                   {"timestamp", iso_ms(ms)},
                   {"reason", reason}};
  if (!leaf.empty() && !as_text(leaf[0][0]).empty()) row["parentId"] = as_text(leaf[0][0]);
  append_json(session_id, to_text(row), ms);
}

void AgentDbWriter::copy_rows(const std::string& from, const std::string& to,
                              std::int64_t last_seq) {
  for (std::int64_t seq = 1; seq <= last_seq; ++seq) insert(to, seq, event_json(from, seq));
}

void AgentDbWriter::rewind(const std::string& session_id, const std::string& new_session_id,
                           const std::string& target, const std::string& leaf_id, std::int64_t ms) {
  const auto window =
      db_->rows("SELECT session_key, channel, chat_type FROM session_windows WHERE session_id = ?",
                {session_id});
  Conversation copy;
  copy.session_id = new_session_id;
  copy.session_key = as_text(window.at(0)[0]);
  copy.channel = as_text(window[0][1]);
  copy.chat_type = as_text(window[0][2]);
  copy.start_ms = ms;
  db_->exec("BEGIN IMMEDIATE");
  ensure_session(copy, ms);
  insert(new_session_id, 0, header_json(copy, Era::kDatabase4));
  const std::int64_t rows = row_count(session_id);
  copy_rows(session_id, new_session_id, rows - 1);
  const json::object last = parse_object(event_json(session_id, rows - 1));
  insert(new_session_id, rows,
         to_text(json::object{{"type", "leaf"},
                              {"id", leaf_id},
                              {"parentId", get_string(last, "id")},
                              {"timestamp", iso_ms(ms)},
                              {"targetId", target}}));
  reindex(new_session_id, ms);
  db_->exec("COMMIT");
}

void AgentDbWriter::fork(const std::string& session_id, const std::string& new_session_id,
                         const std::string& new_key, const std::string& last_entry,
                         std::int64_t ms) {
  Conversation copy;
  copy.session_id = new_session_id;
  copy.session_key = new_key;
  copy.start_ms = ms;
  const std::int64_t last = seq_of(session_id, last_entry);
  if (last < 0) throw std::runtime_error("fork: no such entry");
  db_->exec("BEGIN IMMEDIATE");
  ensure_session(copy, ms);
  json::object header = parse_object(header_json(copy, Era::kDatabase4));
  header["parentSession"] = "sqlite:" + agent_ + ":" + session_id + ":" + path_;
  insert(new_session_id, 0, to_text(header));
  copy_rows(session_id, new_session_id, last);
  db_->run(
      "UPDATE session_nodes SET fork_source_session_id = ?2, fork_source_entry_id = ?3, "
      "fork_source_session_key = (SELECT session_key FROM session_windows WHERE session_id = ?2) "
      "WHERE session_key = ?1",
      {new_key, session_id, last_entry});
  reindex(new_session_id, ms);
  db_->exec("COMMIT");
}

std::string AgentDbWriter::remove(const std::string& session_id, std::int64_t ms) {
  std::string lines;
  for (std::int64_t seq = 0; seq < row_count(session_id); ++seq) {
    lines += event_json(session_id, seq) + "\n";
  }
  const auto found = db_->rows(
      "SELECT w.session_key, g.generation FROM session_windows w JOIN "
      "transcript_rewrite_watermarks g "
      "USING(session_id) WHERE session_id = ?",
      {session_id});
  const std::string key = as_text(found.at(0)[0]), generation = as_text(found[0][1]);
  const std::string name =
      session_id + ".jsonl.deleted." + file_stamp(ms) + "." + generation + ".zst";
  const std::string frame = host_frame(lines);
  db_->exec("BEGIN IMMEDIATE");
  db_->run(
      "INSERT INTO session_transcript_archives VALUES(?,?,?,'deleted','zstd',?,?,?,?,?,1,?,NULL)",
      {session_id, generation, key, Blob{frame}, to_hex(sha256(frame)), name, ms, ms + 8000,
       ms + 8000});
  prune(session_id);
  db_->exec("COMMIT");
  const std::string file = state_dir_ + "/agents/" + agent_ + "/sessions/" + name;
  write_text(file, frame);
  return file;
}

void AgentDbWriter::prune(const std::string& session_id) {
  for (const char* table :
       {"session_transcript_active_events", "session_transcript_index_state",
        "transcript_event_identities", "transcript_events", "transcript_rewrite_watermarks"}) {
    db_->run(std::string("DELETE FROM ") + table + " WHERE session_id = ?", {session_id});
  }
  db_->run(
      "DELETE FROM session_nodes WHERE current_session_id = ?1 AND NOT EXISTS (SELECT 1 FROM "
      "session_windows w WHERE w.session_key = session_nodes.session_key AND w.session_id <> ?1)",
      {session_id});
  db_->run("DELETE FROM session_windows WHERE session_id = ?", {session_id});
}

void AgentDbWriter::tombstone(const std::string& session_id, std::int64_t ms) {
  db_->run("INSERT OR REPLACE INTO memory_session_tombstones VALUES(?,?,'user-forget',?)",
           {session_id, agent_, ms});
}

void AgentDbWriter::rewrite_row(const std::string& session_id, std::int64_t seq,
                                const std::string& event_json, std::int64_t ms) {
  db_->exec("BEGIN IMMEDIATE");
  db_->run("DELETE FROM transcript_event_identities WHERE session_id = ? AND seq = ?",
           {session_id, seq});
  db_->run("DELETE FROM transcript_events WHERE session_id = ? AND seq = ?", {session_id, seq});
  insert(session_id, seq, event_json);
  rotate_generation(session_id, ms);
  reindex(session_id, ms);
  db_->exec("COMMIT");
}

void AgentDbWriter::replace_suffix(const Conversation& conversation, std::int64_t from,
                                   std::size_t first_item, std::int64_t ms) {
  db_->exec("BEGIN IMMEDIATE");
  for (const char* table : {"transcript_event_identities", "transcript_events"}) {
    db_->run(std::string("DELETE FROM ") + table + " WHERE session_id = ? AND seq >= ?",
             {conversation.session_id, from});
  }
  std::int64_t seq = from;
  if (seq == 0) insert(conversation.session_id, seq++, header_json(conversation, Era::kDatabase4));
  for (std::size_t i = first_item; i < conversation.items.size(); ++i) {
    insert(conversation.session_id, seq++,
           item_json(conversation, conversation.items[i], Era::kDatabase4));
  }
  rotate_generation(conversation.session_id, ms);
  reindex(conversation.session_id, ms);
  db_->exec("COMMIT");
}

void AgentDbWriter::rotate_generation(const std::string& session_id, std::int64_t ms) {
  db_->run("INSERT OR REPLACE INTO transcript_rewrite_watermarks VALUES(?,?,?)",
           {session_id, ids_.hex(32), ms});
}

void AgentDbWriter::checkpoint() {
  db_->exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace clawmark::support
