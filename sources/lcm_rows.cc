#include "sources/lcm_rows.h"

#include <algorithm>

#include "base/limits.h"
#include "sources/stream_tools.h"

namespace clawmark {
namespace {

constexpr std::size_t kTailRows = 16;

std::string text_or_null(bool there, const char* column) {
  return there ? std::string(", m.") + column : std::string(", NULL");
}

void read_metadata(std::string_view metadata, std::vector<std::string>& file_ids) {
  const auto object = parse_state(metadata);  // broken JSON: an empty object
  const bool whole =
      get_bool(object, "toolOutputExternalized") || get_bool(object, "rawPayloadExternalized");
  if (!whole) return;
  if (auto id = get_string(object, "externalizedFileId"); !id.empty()) {
    file_ids.push_back(std::move(id));
  }
}

Status read_parts(Database& db, const LcmSchema& schema, LcmRow& row) {
  if (!schema.parts) {
    row.has_parts = true;
    return Ok{};
  }
  CLAWMARK_ASSIGN(Statement * parts,
                  db.cached("SELECT part_type, text_content, tool_call_id, tool_name, metadata "
                            "FROM message_parts WHERE message_id = ? ORDER BY ordinal"));
  parts->with(row.id);
  std::vector<std::string> file_ids;
  std::string joined;
  std::size_t texts = 0;
  for (;;) {
    CLAWMARK_ASSIGN(const bool there, parts->step());
    if (!there) break;
    row.has_parts = true;
    const auto type = parts->text(0);
    if (type == "text" && texts++ > 0) joined.push_back('\n');
    if (type == "text") joined.append(parts->text(1));
    if (row.role == "assistant" && !parts->text(2).empty()) {  // whatever the part's type is called
      row.tools.push_back({parts->string(2), parts->string(3)});
    }
    if (row.call_id.empty()) row.call_id = parts->string(2);
    read_metadata(parts->text(4), file_ids);
  }
  parts->reset();
  if (texts > 0 && joined != row.content) row.part_text = std::move(joined);
  if (!schema.large_files) return Ok{};
  for (const auto& id : file_ids) {
    CLAWMARK_ASSIGN(const auto uri,
                    db.query_text("SELECT storage_uri FROM large_files WHERE file_id = ?", id));
    if (uri) row.files.push_back(*uri);
  }
  return Ok{};
}

Result<std::string> call_id_of(Database& db, const LcmSchema& schema, std::int64_t id) {
  if (!schema.parts) return std::string();
  CLAWMARK_ASSIGN(const auto call,
                  db.query_text("SELECT tool_call_id FROM message_parts WHERE message_id = ? AND "
                                "tool_call_id IS NOT NULL ORDER BY ordinal LIMIT 1",
                                id));
  return call.value_or("");
}

// The entry id of the row, or its message_id when it has none.
Result<std::string> name_of(Database& db, const LcmSchema& schema, std::int64_t id) {
  if (schema.entry_id) {
    CLAWMARK_ASSIGN(
        const auto entry,
        db.query_text("SELECT transcript_entry_id FROM messages WHERE message_id = ?", id));
    if (entry && !entry->empty()) return *entry;
  }
  return std::to_string(id);
}

// message_id of an earlier row of the session's family with this entry id and content; 0: none.
Result<std::int64_t> earlier_by_entry_id(Database& db, const StreamInfo& stream,
                                         const LcmRow& row) {
  CLAWMARK_ASSIGN(const auto first,
                  db.query_int("SELECT min(m.message_id) FROM conversations c JOIN messages m ON "
                               "m.conversation_id = c.conversation_id WHERE c.session_key = ? AND "
                               "m.transcript_entry_id = ? AND +m.message_id < ? AND m.role = ? AND "
                               "m.content = ?",
                               stream.session_key, row.entry_id, row.id, row.role, row.content));
  return first.value_or(0);
}

// message_id of an earlier row with this role, second and content but for host metadata; 0: none.
Result<std::int64_t> earlier_by_hash(Database& db, const LcmSchema& schema,
                                     std::int64_t conversation, const LcmRow& row) {
  CLAWMARK_ASSIGN(
      const auto first,
      db.query_int("SELECT min(+message_id) FROM messages WHERE conversation_id = ? AND "
                   "identity_hash = ? AND +message_id < ? AND role = ? AND created_at = ?",
                   conversation, row.identity_hash, row.id, row.role, row.created_at));
  if (!first || (row.role != "tool" && row.tools.empty())) return first.value_or(0);
  // Two calls of one second may answer the same; only the same call is a copy.
  CLAWMARK_ASSIGN(const auto call, call_id_of(db, schema, *first));
  return call == row.call_id || call.empty() || row.call_id.empty() ? *first : 0;
}

}  // namespace

std::string lcm_row_hash(std::string_view role, std::string_view content) {
  std::string text(role);
  text.push_back('\0');
  text.append(content);
  return short_hash(text);
}

LcmTail parse_lcm_tail(const StreamPosition& position) {
  LcmTail tail;
  const auto at = parse_state(position.position);
  tail.last = get_int(at, "m");
  tail.rows = get_int(at, "n");
  tail.sum = get_int(at, "s");
  const auto anchor = parse_state(position.anchor);
  tail.sequence = get_int(anchor, "q");
  const auto* newest = find_array(anchor, "t");
  if (newest == nullptr) return tail;
  for (const auto& pair : *newest) {
    if (!pair.is_array() || pair.get_array().size() != 2) continue;
    const auto& items = pair.get_array();
    if (!items[0].is_int64() || !items[1].is_string()) continue;
    tail.newest.emplace_back(items[0].get_int64(), std::string(view(items[1].get_string())));
  }
  return tail;
}

void store_lcm_tail(const LcmTail& tail, StreamPosition& position) {
  json::array newest;
  const auto skip = tail.newest.size() > kTailRows ? tail.newest.size() - kTailRows : 0;
  for (std::size_t i = skip; i < tail.newest.size(); ++i) {
    newest.push_back(json::array{tail.newest[i].first, tail.newest[i].second});
  }
  position.position = to_text(json::object{{"m", tail.last}, {"n", tail.rows}, {"s", tail.sum}});
  position.anchor = to_text(json::object{{"q", tail.sequence}, {"t", std::move(newest)}});
}

Result<std::string> check_lcm_tail(Database& db, const LcmSchema& schema, std::int64_t conversation,
                                   LcmTail& tail) {
  std::int64_t sequence = 0;
  if (schema.sequence) {
    CLAWMARK_ASSIGN(const auto seq,
                    db.query_int("SELECT seq FROM sqlite_sequence WHERE name = 'messages'"));
    sequence = seq.value_or(0);
  }
  bool restored = sequence < tail.sequence;
  std::int64_t gone_rows = 0, gone_sum = 0;
  std::vector<std::pair<std::int64_t, std::string>> same;
  CLAWMARK_ASSIGN(Statement * row, db.cached("SELECT conversation_id, role, content FROM messages "
                                             "WHERE message_id = ?"));
  for (const auto& [id, hash] : tail.newest) {
    CLAWMARK_ASSIGN(const bool there, row->with(id).step());
    if (there && lcm_row_hash(row->text(1), row->text(2)) != hash) {
      restored = true;
    } else if (there && row->integer(0) == conversation) {
      same.emplace_back(id, hash);
      continue;
    }
    ++gone_rows;
    gone_sum += id;
  }
  row->reset();
  tail.sequence = sequence;
  if (restored) {
    // Ids above the highest row that is still the same may name other messages now.
    std::int64_t reused = INT64_MAX;
    for (const auto& [id, hash] : tail.newest) {
      const bool kept = std::find(same.begin(), same.end(), std::pair(id, hash)) != same.end();
      if (!kept) reused = std::min(reused, id);
    }
    std::erase_if(same, [&](const auto& pair) { return pair.first >= reused; });
    tail.last = same.empty() ? 0 : same.back().first;
  }
  tail.newest = std::move(same);
  CLAWMARK_ASSIGN(auto count,
                  db.prepare("SELECT count(*), coalesce(sum(message_id), 0) FROM messages "
                             "WHERE conversation_id = ? AND +message_id <= ?"));
  CLAWMARK_ASSIGN(const bool counted, count.with(conversation, tail.last).step());
  (void)counted;  // an aggregate always has its row
  const auto rows = count.integer(0), sum = count.integer(1);
  const auto expected_rows = tail.rows - gone_rows, expected_sum = tail.sum - gone_sum;
  tail.gone = restored ? 0 : std::max<std::int64_t>(tail.rows - rows, 0);
  tail.rows = rows;
  tail.sum = sum;
  if (restored) return std::string("restored");
  const bool as_left = rows == expected_rows && sum == expected_sum;
  if (as_left || rows < expected_rows) return std::string();  // unchanged, or rows were deleted
  const auto seen = tail.sequence;
  tail = LcmTail{};
  tail.sequence = seen;
  return std::string("rewritten");
}

Result<LcmRead> read_lcm_rows(Database& db, const LcmSchema& schema, std::int64_t conversation,
                              std::int64_t after, std::size_t items_max, const Clock& clock) {
  LcmRead out;
  CLAWMARK_ASSIGN(const auto newest, db.query_int("SELECT max(message_id) FROM messages"));
  out.newest_id = newest.value_or(0);
  const auto limit = std::min(items_max, kSourceBatchItems);
  // Ids first, from the index on conversations; only then the rows with their content.
  const std::string sql = "SELECT m.message_id, m.seq, m.role, m.content, m.created_at" +
                          text_or_null(schema.entry_id, "transcript_entry_id") +
                          text_or_null(schema.identity_hash, "identity_hash") +
                          text_or_null(schema.sender, "openclaw_sender_metadata") +
                          " FROM (SELECT message_id AS id FROM messages WHERE conversation_id = ?1 "
                          "AND +message_id > ?2 ORDER BY 1 LIMIT ?3) JOIN messages m ON "
                          "m.message_id = id ORDER BY id";
  CLAWMARK_ASSIGN(auto statement, db.prepare(sql));
  statement.with(conversation, after, limit + 1);
  const auto begin = clock.steady_ms();
  std::size_t bytes = 0;
  for (;;) {
    CLAWMARK_ASSIGN(const bool there, statement.step());
    if (!there) return out;
    const bool full = out.rows.size() >= limit || bytes >= kSourceBatchBytes ||
                      (!out.rows.empty() && clock.steady_ms() - begin >= kSourceReadMs);
    if (full) {
      out.at_end = false;
      return out;
    }
    LcmRow& row = out.rows.emplace_back();
    row.id = statement.integer(0);
    row.seq = statement.integer(1);
    row.role = statement.text(2);
    row.content = statement.text(3);
    row.created_at = statement.text(4);
    row.entry_id = statement.text(5);
    row.identity_hash = statement.text(6);
    row.sender = statement.text(7);
    bytes += row.content.size() + 256;
    CLAWMARK_TRY(read_parts(db, schema, row));
  }
}

Status mark_lcm_copies(Database& db, const LcmSchema& schema, const StreamInfo& stream,
                       std::int64_t conversation, std::vector<LcmRow>& rows) {
  for (auto& row : rows) {
    std::int64_t first = 0;
    if (schema.entry_id && schema.session_key && !row.entry_id.empty() &&
        !stream.session_key.empty()) {
      CLAWMARK_ASSIGN(first, earlier_by_entry_id(db, stream, row));
    }
    if (first == 0 && schema.identity_hash && !row.identity_hash.empty()) {
      CLAWMARK_ASSIGN(first, earlier_by_hash(db, schema, conversation, row));
    }
    if (first == 0) continue;
    CLAWMARK_ASSIGN(row.alias_of, name_of(db, schema, first));
  }
  return Ok{};
}

}  // namespace clawmark
