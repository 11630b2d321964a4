#include "sources/agent_db_rows.h"

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "base/zstd.h"
#include "sources/active_path.h"
#include "sources/entry_parser.h"
#include "sources/stream_tools.h"

namespace clawmark {
namespace {

std::string payload_columns(const AgentDbSchema& schema) {
  return std::string(schema.event_json ? "event_json" : "NULL") + ", " +
         (schema.event_zstd ? "event_zstd" : "NULL");
}

// Columns from `first` on: event_json, event_zstd.
void take_payload(const Statement& statement, int first, AgentDbRow& row) {
  row.zstd = statement.is_null(first);
  if (row.zstd) {
    const auto blob = statement.blob(first + 1);
    row.payload.assign(reinterpret_cast<const char*>(blob.data()), blob.size());
  } else {
    row.payload = statement.text(first);
  }
}

}  // namespace

Result<std::string> decode(const AgentDbRow& row) {
  if (!row.zstd) return row.payload;
  const auto* data = reinterpret_cast<const std::uint8_t*>(row.payload.data());
  return zstd_decompress({data, row.payload.size()}, kLineBytesMax);
}

Result<std::optional<AgentDbRow>> row_at(Database& db, const AgentDbSchema& schema,
                                         std::string_view session_id, std::int64_t seq) {
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT " + payload_columns(schema) +
                             " FROM transcript_events WHERE session_id = ? AND seq = ?"));
  CLAWMARK_ASSIGN(const bool there, statement.with(session_id, seq).step());
  if (!there) return std::optional<AgentDbRow>();
  AgentDbRow row;
  row.seq = seq;
  take_payload(statement, 0, row);
  return std::optional<AgentDbRow>(std::move(row));
}

namespace {

Result<std::string> generation_of(Database& db, const AgentDbSchema& schema,
                                  std::string_view session_id) {
  if (!schema.watermarks) return std::string();
  CLAWMARK_ASSIGN(
      auto generation,
      db.query_text("SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = ?",
                    session_id));
  return generation.value_or("");
}

// The host's own index of the active branch, when it is there and complete.
Result<std::optional<std::vector<std::string>>> inactive_by_index(Database& db,
                                                                  const AgentDbSchema& schema,
                                                                  std::string_view session_id,
                                                                  std::int64_t max_seq) {
  std::optional<std::vector<std::string>> none;
  if (!schema.active || !schema.identities) return none;
  CLAWMARK_ASSIGN(const auto usable,
                  db.query_int("SELECT needs_rebuild = 0 AND indexed_seq >= ? FROM "
                               "session_transcript_index_state WHERE session_id = ?",
                               max_seq, session_id));
  if (usable.value_or(0) == 0) return none;
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT i.event_id FROM transcript_event_identities i "
                             "WHERE i.session_id = ?1 AND i.event_type = 'message' AND NOT EXISTS "
                             "(SELECT 1 FROM session_transcript_active_events a "
                             "WHERE a.session_id = ?1 AND a.event_seq = i.seq) ORDER BY i.seq"));
  statement.with(session_id);
  std::vector<std::string> ids;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return std::optional(std::move(ids));
    ids.push_back(statement.string(0));
  }
}

// The same from parents and leaf rows.
Result<std::optional<std::vector<std::string>>> inactive_by_tree(Database& db,
                                                                 const AgentDbSchema& schema,
                                                                 std::string_view session_id) {
  if (!schema.identities) return std::optional<std::vector<std::string>>();
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT seq, event_id, event_type, parent_id FROM "
                             "transcript_event_identities WHERE session_id = ? ORDER BY seq"));
  statement.with(session_id);
  ActivePath path;
  for (;;) {
    CLAWMARK_ASSIGN(const bool there, statement.step());
    if (!there) return std::optional(path.inactive());
    const auto type = statement.text(2);
    if (type == "session") continue;
    if (type != "leaf") {
      path.add(statement.text(1), statement.text(3), type == "message");
      continue;
    }
    CLAWMARK_ASSIGN(const auto row, row_at(db, schema, session_id, statement.integer(0)));
    if (!row) continue;
    const auto text = decode(*row);
    const auto leaf = text.ok() ? parse_entry(*text) : Result<ParsedEntry>(text.error());
    if (leaf.ok()) path.add_leaf(leaf->entry.entry_id, leaf->entry.target_id);
  }
}

Result<std::optional<std::vector<std::string>>> inactive_of(Database& db,
                                                            const AgentDbSchema& schema,
                                                            std::string_view session_id,
                                                            std::int64_t max_seq) {
  CLAWMARK_ASSIGN(auto by_index, inactive_by_index(db, schema, session_id, max_seq));
  if (by_index) return by_index;
  return inactive_by_tree(db, schema, session_id);
}

// Is what was read last still there? If not, the epoch changes and reading starts again.
Status check_anchor(Database& db, const AgentDbSchema& schema, const StreamInfo& stream,
                    const StreamPosition& after, SessionRead& read) {
  if (after.position.empty()) return Ok{};
  const auto position = parse_state(after.position);
  const auto last = get_int(position, "s", -1);
  std::string reason;
  if (last > read.max_seq) {
    reason = "shrunk";
  } else if (get_string(position, "g") != read.generation) {
    reason = "rewritten";
  } else if (last >= 0) {
    CLAWMARK_ASSIGN(const auto row, row_at(db, schema, stream.session_id, last));
    const auto text = row ? decode(*row) : Result<std::string>(std::string());
    if (!row || !text.ok() || short_hash(*text) != after.anchor) reason = "replaced";
  }
  if (reason.empty()) {
    read.from = last;
  } else {
    read.epoch = EpochChange{after.epoch + 1, reason};
  }
  return Ok{};
}

Status read_rows(Database& db, const AgentDbSchema& schema, const StreamInfo& stream,
                 std::size_t items_max, const Clock& clock, SessionRead& read) {
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT seq, " + payload_columns(schema) +
                             " FROM transcript_events WHERE session_id = ? AND seq > ? "
                             "ORDER BY seq LIMIT ?"));
  statement.with(stream.session_id, read.from, std::min(items_max, kSourceBatchItems));
  const auto begin = clock.steady_ms();
  std::size_t bytes = 0;
  for (;;) {
    CLAWMARK_ASSIGN(const bool there, statement.step());
    if (!there) return Ok{};
    AgentDbRow& row = read.rows.emplace_back();
    row.seq = statement.integer(0);
    take_payload(statement, 1, row);
    bytes += row.payload.size() * (row.zstd ? 4 : 1);
    if (bytes >= kSourceBatchBytes || clock.steady_ms() - begin >= kSourceReadMs) return Ok{};
  }
}

}  // namespace

Result<SessionRead> read_session_rows(Database& db, const AgentDbSchema& schema,
                                      const StreamInfo& stream, const StreamPosition& after,
                                      std::size_t items_max, const Clock& clock) {
  SessionRead read;
  CLAWMARK_ASSIGN(const auto max_seq,
                  db.query_int("SELECT max(seq) FROM transcript_events WHERE session_id = ?",
                               stream.session_id));
  if (!max_seq) return read;  // gone: pruned, deleted or put into cold storage
  read.there = true;
  read.max_seq = *max_seq;
  CLAWMARK_ASSIGN(read.generation, generation_of(db, schema, stream.session_id));
  CLAWMARK_TRY(check_anchor(db, schema, stream, after, read));
  CLAWMARK_TRY(read_rows(db, schema, stream, items_max, clock, read));
  if (read.rows.empty() || read.rows.back().seq < read.max_seq) return read;
  CLAWMARK_ASSIGN(read.inactive, inactive_of(db, schema, stream.session_id, read.max_seq));
  return read;
}

}  // namespace clawmark
