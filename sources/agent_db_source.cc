#include "sources/agent_db_source.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/files.h"
#include "base/limits.h"
#include "base/zstd.h"
#include "sources/active_path.h"
#include "sources/agent_db_schema.h"
#include "sources/entry_lines.h"
#include "sources/foreign_db.h"
#include "sources/stream_tools.h"

namespace clawmark {
namespace {

struct Row {
  std::int64_t seq = 0;
  bool zstd = false;
  std::string payload;
};

Result<std::string> decode(const Row& row) {
  if (!row.zstd) return row.payload;
  const auto* data = reinterpret_cast<const std::uint8_t*>(row.payload.data());
  return zstd_decompress({data, row.payload.size()}, kLineBytesMax);
}

std::string payload_columns(const AgentDbSchema& schema) {
  return std::string(schema.event_json ? "event_json" : "NULL") + ", " +
         (schema.event_zstd ? "event_zstd" : "NULL");
}

// Columns from `first` on: event_json, event_zstd.
void take_payload(const Statement& statement, int first, Row& row) {
  row.zstd = statement.is_null(first);
  if (row.zstd) {
    const auto blob = statement.blob(first + 1);
    row.payload.assign(reinterpret_cast<const char*>(blob.data()), blob.size());
  } else {
    row.payload = statement.text(first);
  }
}

Result<std::optional<Row>> row_at(Database& db, const AgentDbSchema& schema,
                                  std::string_view session_id, std::int64_t seq) {
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT " + payload_columns(schema) +
                             " FROM transcript_events WHERE session_id = ? AND seq = ?"));
  CLAWMARK_ASSIGN(const bool there, statement.with(session_id, seq).step());
  if (!there) return std::optional<Row>();
  Row row;
  row.seq = seq;
  take_payload(statement, 0, row);
  return std::optional<Row>(std::move(row));
}

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

// What one read transaction gives.
struct SessionRead {
  bool there = false;
  std::string generation;
  std::int64_t from = -1, max_seq = -1;
  std::optional<EpochChange> epoch;
  std::vector<Row> rows;
  std::optional<std::vector<std::string>> inactive;
};

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
    Row& row = read.rows.emplace_back();
    row.seq = statement.integer(0);
    take_payload(statement, 1, row);
    bytes += row.payload.size() * (row.zstd ? 4 : 1);
    if (bytes >= kSourceBatchBytes || clock.steady_ms() - begin >= kSourceReadMs) return Ok{};
  }
}

bool wants(const StreamInfo& stream, const std::vector<std::string>& ignore) {
  return !is_ignored(stream.session_key, ignore);
}

Status add_sessions(Database& db, const AgentDbSchema& s, const std::string& agent,
                    std::vector<StreamInfo>& out) {
  const std::string sql =
      s.windows
          ? std::string("SELECT w.session_id, w.session_key, ") +
                (s.window_updated ? "coalesce(w.transcript_updated_at, w.updated_at)" : "0") +
                ", (SELECT max(e.seq) FROM transcript_events e WHERE e.session_id = "
                "w.session_id), " +
                (s.watermarks ? "(SELECT g.generation FROM transcript_rewrite_watermarks g WHERE "
                                "g.session_id = w.session_id)"
                              : "NULL") +
                " FROM session_windows w"
          : "SELECT session_id, '', max(created_at), max(seq), NULL FROM transcript_events "
            "GROUP BY session_id";
  CLAWMARK_ASSIGN(auto statement, db.prepare(sql));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    if (statement.is_null(3)) continue;  // no rows: pruned, cold, or not begun
    StreamInfo info;
    info.session_id = statement.string(0);
    info.key = "session:" + info.session_id;
    info.session_key = statement.string(1);
    info.agent = agent;
    info.newest = statement.time(2);
    info.tip = std::to_string(statement.integer(3)) + ":" + statement.string(4);
    out.push_back(std::move(info));
  }
}

Status add_archives(Database& db, const std::string& agent, std::vector<StreamInfo>& out) {
  std::set<std::string> live;
  for (const auto& info : out) live.insert(info.session_id);
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT session_id, generation, session_key, reason, created_at FROM "
                             "session_transcript_archives"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    StreamInfo info;
    info.session_id = statement.string(0);
    info.key = "archive:" + info.session_id + ":" + statement.string(1);
    info.session_key = statement.string(2);
    info.agent = agent;
    info.newest = statement.time(4);
    info.live = false;
    info.deleted = statement.text(3) == "deleted" && !live.contains(info.session_id);
    if (info.deleted) info.deleted_evidence = "archive";
    info.tip = "fixed";
    out.push_back(std::move(info));
  }
}

Status add_cold(Database& db, const AgentDbSchema& s, const std::string& agent,
                std::vector<StreamInfo>& out) {
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare(s.windows ? "SELECT c.session_id, c.generation, w.session_key FROM "
                                         "session_transcript_cold_archives c LEFT JOIN "
                                         "session_windows w USING (session_id)"
                                       : "SELECT session_id, generation, '' FROM "
                                         "session_transcript_cold_archives"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    StreamInfo info;
    info.session_id = statement.string(0);
    info.key = "cold:" + info.session_id;
    info.session_key = statement.string(2);
    info.agent = agent;
    info.live = false;
    info.tip = statement.string(1);
    out.push_back(std::move(info));
  }
}

Status mark_tombstones(Database& db, const std::string& agent, std::vector<StreamInfo>& out) {
  CLAWMARK_ASSIGN(auto statement,
                  db.prepare("SELECT session_id, created_at FROM memory_session_tombstones"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    const std::string id = statement.string(0);
    bool found = false;
    for (auto& info : out) {
      if (info.session_id != id) continue;
      found = true;
      if (!info.deleted) info.deleted_evidence = "tombstone";
      info.deleted = true;
      info.tip += ":tombstone";
    }
    if (found) continue;
    StreamInfo info;
    info.key = "tombstone:" + id;
    info.session_id = id;
    info.agent = agent;
    info.newest = statement.time(1);
    info.live = false;
    info.deleted = true;
    info.deleted_evidence = "tombstone";
    info.tip = "fixed";
    out.push_back(std::move(info));
  }
}

struct Archive {
  std::string bytes;
  bool zstd = true;
  EntryLines::Wrap wrap = EntryLines::Wrap::kPlain;
};

constexpr std::size_t kArchiveBytesMax = 256u << 20;

// The bytes of an archive stream, from the database or from the file that it names.
Result<std::optional<Archive>> load_archive(const std::string& path, const StreamInfo& stream) {
  std::optional<Archive> out;
  std::string file;
  const auto look = [&](Database& db) -> Status {
    const bool cold = stream.key.starts_with("cold:");
    CLAWMARK_ASSIGN(auto statement,
                    db.prepare(cold ? "SELECT archive_blob, storage, archive_name FROM "
                                      "session_transcript_cold_archives WHERE session_id = ?1"
                                    : "SELECT archive_blob, encoding, '' FROM "
                                      "session_transcript_archives WHERE session_id = ?1 AND "
                                      "'archive:' || session_id || ':' || generation = ?2"));
    statement.bind(1, stream.session_id);
    if (!cold) statement.bind(2, stream.key);
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    const auto blob = statement.blob(0);
    out = Archive{};
    out->bytes.assign(reinterpret_cast<const char*>(blob.data()), blob.size());
    if (!cold) out->zstd = statement.text(1) == "zstd";
    if (cold) out->wrap = EntryLines::Wrap::kCold;
    if (cold && statement.text(1) == "file") file = base_name(statement.string(2));
    return Ok{};
  };
  CLAWMARK_TRY(with_foreign_db(path, look));
  if (!file.empty()) {
    // agents/<id>/agent/openclaw-agent.sqlite → agents/<id>/sessions/cold/<sha256>.jsonl.zst
    const auto folder = join_path(dir_name(dir_name(path)), "sessions/cold");
    CLAWMARK_ASSIGN(out->bytes, read_file(join_path(folder, file), kArchiveBytesMax));
  }
  return out;
}

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::optional<std::string> whole_text(std::string_view json_text, std::string_view entry_id) {
  EntryParser parser(EntryParser::Keep::kWholeText);
  parser.feed(json_text);
  auto parsed = parser.finish();
  if (!parsed.ok() || parsed->entry.kind != EntryKind::kMessage) return std::nullopt;
  if (!entry_id.empty() && parsed->entry.entry_id != entry_id) return std::nullopt;
  return std::move(parsed->entry.text);
}

}  // namespace

AgentDbSource::AgentDbSource(std::string path, std::string agent,
                             std::vector<std::string> ignore_sessions, const Clock& clock)
    : path_(std::move(path)),
      agent_(std::move(agent)),
      ignore_(std::move(ignore_sessions)),
      clock_(clock) {}

SourceHealth AgentDbSource::validate() {
  SourceHealth health = check_foreign_file(path_);
  if (health.state != SourceState::kOk) return health;
  const auto status = with_foreign_db(path_, [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(auto schema, probe_agent_db(db));
    health.schema_fingerprint = schema.fingerprint;
    health.notes = std::move(schema.notes);
    return Ok{};
  });
  return status.ok() ? health : health_of_error(status.error(), path_);
}

Result<std::vector<StreamInfo>> AgentDbSource::streams() {
  std::vector<StreamInfo> out;
  const auto look = [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto schema, probe_agent_db(db));
    CLAWMARK_TRY(add_sessions(db, schema, agent_, out));
    if (schema.archives) CLAWMARK_TRY(add_archives(db, agent_, out));
    if (schema.cold) CLAWMARK_TRY(add_cold(db, schema, agent_, out));
    if (schema.tombstones) CLAWMARK_TRY(mark_tombstones(db, agent_, out));
    return Ok{};
  };
  CLAWMARK_TRY(with_foreign_db(path_, look));
  std::erase_if(out, [&](const StreamInfo& info) { return !wants(info, ignore_); });
  std::sort(out.begin(), out.end(), by_newest);
  return out;
}

Result<StreamBatch> AgentDbSource::read(const StreamInfo& stream, const StreamPosition& after,
                                        std::size_t items_max) {
  if (stream.key.starts_with("session:")) return read_session(stream, after, items_max);
  if (stream.key.starts_with("tombstone:")) {
    StreamBatch batch;
    batch.next = after;
    return batch;
  }
  return read_archive(stream, after, items_max);
}

Result<StreamBatch> AgentDbSource::read_session(const StreamInfo& stream,
                                                const StreamPosition& after,
                                                std::size_t items_max) {
  SessionRead read;
  const auto look = [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto schema, probe_agent_db(db));
    CLAWMARK_ASSIGN(const auto max_seq,
                    db.query_int("SELECT max(seq) FROM transcript_events WHERE session_id = ?",
                                 stream.session_id));
    if (!max_seq) return Ok{};  // gone: pruned, deleted or put into cold storage
    read.there = true;
    read.max_seq = *max_seq;
    CLAWMARK_ASSIGN(read.generation, generation_of(db, schema, stream.session_id));
    CLAWMARK_TRY(check_anchor(db, schema, stream, after, read));
    CLAWMARK_TRY(read_rows(db, schema, stream, items_max, clock_, read));
    if (read.rows.empty() || read.rows.back().seq < read.max_seq) return Ok{};
    CLAWMARK_ASSIGN(read.inactive, inactive_of(db, schema, stream.session_id, read.max_seq));
    return Ok{};
  };
  CLAWMARK_TRY(with_foreign_db(path_, look));
  StreamBatch batch;
  batch.next = after;
  if (!read.there) return batch;
  batch.epoch = read.epoch;
  if (read.epoch) batch.next.epoch = read.epoch->epoch;
  batch.inactive = std::move(read.inactive);
  std::int64_t last = read.from;
  for (auto& row : read.rows) {
    last = row.seq;
    auto text = decode(row);
    row.payload = {};
    if (!text.ok()) {
      note_skip(batch, row.seq, "zstd");
      continue;
    }
    batch.bytes += text->size();
    if (&row == &read.rows.back()) batch.next.anchor = short_hash(*text);
    auto parsed = parse_entry(*text);
    if (!parsed.ok()) {
      note_skip(batch, row.seq, parsed.error().reason);
      continue;
    }
    Entry& entry = batch.entries.emplace_back(std::move(parsed->entry));
    stamp_entry(entry, stream);
    entry.place = std::to_string(row.seq);
    entry.order = row.seq;
  }
  if (last < 0 && read.rows.empty()) return batch;
  batch.next.position = to_text(json::object{{"g", read.generation}, {"s", last}});
  batch.at_end = last >= read.max_seq;
  return batch;
}

Result<StreamBatch> AgentDbSource::read_archive(const StreamInfo& stream,
                                                const StreamPosition& after,
                                                std::size_t items_max) {
  StreamBatch batch;
  batch.next = after;
  const auto position = parse_state(after.position);
  CLAWMARK_ASSIGN(const auto archive, load_archive(path_, stream));
  if (!archive) return batch;
  const auto offset = get_int(position, "o");
  EntryLines lines(offset, get_int(position, "l"), 0, archive->wrap);
  std::size_t items = 0;
  bool enough = false;
  const auto on_line = [&](EntryLine&& line) {
    if (!line.parsed.ok()) {
      note_skip(batch, line.number, line.parsed.error().reason);
    } else {
      Entry& entry = batch.entries.emplace_back(std::move(line.parsed->entry));
      stamp_entry(entry, stream);
      entry.place = std::to_string(line.number);
      entry.order = line.number - 1;
      batch.bytes += weight(entry);
    }
    enough = ++items >= items_max || batch.bytes >= kSourceBatchBytes;
    return !enough;
  };
  CLAWMARK_TRY(feed_archive(as_bytes(archive->bytes), archive->zstd, offset, lines, on_line));
  batch.next.position = to_text(json::object{{"o", lines.offset()}, {"l", lines.lines()}});
  batch.at_end = !enough;
  return batch;
}

std::optional<std::string> AgentDbSource::body(const Wanted& wanted) {
  if (wanted.stream.starts_with("session:")) {
    const std::string session_id = wanted.stream.substr(8);
    std::vector<Row> rows;
    const auto status = with_foreign_db(path_, [&](Database& db) -> Status {
      CLAWMARK_ASSIGN(const auto schema, probe_agent_db(db));
      const auto take = [&](std::string_view session, std::int64_t seq) -> Status {
        CLAWMARK_ASSIGN(auto row, row_at(db, schema, session, seq));
        if (row) rows.push_back(*std::move(row));
        return Ok{};
      };
      CLAWMARK_TRY(take(session_id, std::atoll(wanted.place.c_str())));
      if (wanted.entry_id.empty() || !schema.identities) return Ok{};
      // Rows move when the host rewrites; the id stays, and stands in copies of the session too.
      CLAWMARK_ASSIGN(const auto seq,
                      db.query_int("SELECT seq FROM transcript_event_identities WHERE session_id = "
                                   "? AND event_id = ?",
                                   session_id, wanted.entry_id));
      if (seq && std::to_string(*seq) != wanted.place) CLAWMARK_TRY(take(session_id, *seq));
      if (!rows.empty()) return Ok{};
      CLAWMARK_ASSIGN(auto copies,
                      db.prepare("SELECT session_id, seq FROM transcript_event_identities WHERE "
                                 "event_id = ? LIMIT 4"));
      copies.with(wanted.entry_id);
      for (;;) {
        CLAWMARK_ASSIGN(const bool row, copies.step());
        if (!row) return Ok{};
        CLAWMARK_TRY(take(copies.string(0), copies.integer(1)));
      }
    });
    if (!status.ok()) return std::nullopt;
    for (const auto& row : rows) {
      const auto text = decode(row);
      if (!text.ok()) continue;
      if (auto body = whole_text(*text, wanted.entry_id)) return body;
    }
    return std::nullopt;
  }
  StreamInfo stream;
  stream.key = wanted.stream;
  const auto colon = wanted.stream.find(':');
  if (colon == std::string::npos) return std::nullopt;
  stream.session_id = wanted.stream.substr(colon + 1);
  if (const auto next = stream.session_id.rfind(':');
      wanted.stream.starts_with("archive:") && next != std::string::npos) {
    stream.session_id.resize(next);
  }
  const auto archive = load_archive(path_, stream);
  if (!archive.ok() || !archive->has_value()) return std::nullopt;
  std::optional<std::string> found;
  EntryLines lines(0, 0, 0, (*archive)->wrap, EntryParser::Keep::kWholeText);
  const auto on_line = [&](EntryLine&& line) {
    const bool here = std::to_string(line.number) == wanted.place;
    if (here && line.parsed.ok()) found = std::move(line.parsed->entry.text);
    return !here;
  };
  (void)feed_archive(as_bytes((*archive)->bytes), (*archive)->zstd, 0, lines, on_line);
  return found;
}

std::vector<std::optional<std::string>> AgentDbSource::bodies(std::span<const Wanted> wanted) {
  std::vector<std::optional<std::string>> out;
  out.reserve(wanted.size());
  for (const auto& one : wanted) out.push_back(body(one));
  return out;
}

std::string AgentDbSource::change_token() {
  return foreign_change_token(path_);
}

}  // namespace clawmark
