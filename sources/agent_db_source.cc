#include "sources/agent_db_source.h"

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "base/limits.h"
#include "base/zstd.h"
#include "sources/agent_db_rows.h"
#include "sources/entry_lines.h"
#include "sources/foreign_db.h"
#include "sources/stream_tools.h"

namespace clawmark {
namespace {

struct Archive {
  std::string bytes;
  bool zstd = true;
  EntryLines::Wrap wrap = EntryLines::Wrap::kPlain;
  std::string file;    // that holds them; empty: the database
  Status read = Ok{};  // of that file
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
    out->file = join_path(folder, file);
    auto bytes = read_file(out->file, kArchiveBytesMax);
    bytes.ok() ? void(out->bytes = *std::move(bytes)) : void(out->read = bytes.error());
  }
  return out;
}

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// As in transcript_source.cc: an archive whose checksum is wrong is not believed.
Status believe(const Archive& archive) {
  CLAWMARK_TRY(archive.read);
  if (!archive.zstd) return Ok{};
  ZstdReader reader;
  auto status = reader.feed(archive.bytes, [](std::string_view) { return Status(Ok{}); });
  const bool false_words = !status.ok() && status.error().reason == "checksum";
  return false_words ? status : Status(Ok{});
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
    CLAWMARK_ASSIGN(out, list_agent_db(db, schema, agent_));
    return Ok{};
  };
  CLAWMARK_TRY(with_foreign_db(path_, look));
  std::erase_if(out, [&](const StreamInfo& info) { return is_ignored(info.session_key, ignore_); });
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
    CLAWMARK_ASSIGN(read, read_session_rows(db, schema, stream, after, items_max, clock_));
    return Ok{};
  };
  CLAWMARK_TRY(with_foreign_db(path_, look));
  StreamBatch batch;
  batch.next = after;
  if (!read.there) return batch;
  batch.epoch = read.epoch;
  if (read.epoch) batch.next.epoch = read.epoch->epoch;
  batch.inactive = std::move(read.inactive);
  const std::string where = path_ + " " + stream.key;
  std::int64_t last = read.from;
  for (auto& row : read.rows) {
    last = row.seq;
    auto text = decode(row);
    row.payload = {};
    if (!text.ok()) {
      note_skip(batch, {row.seq, "zstd", where});
      continue;
    }
    batch.bytes += text->size();
    if (&row == &read.rows.back()) batch.next.anchor = short_hash(*text);
    auto parsed = parse_entry(*text);
    if (!parsed.ok()) {
      note_skip(batch, {row.seq, parsed.error().reason, where});
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
  const std::string where = archive->file.empty() ? path_ + " " + stream.key : archive->file;
  if (const auto sound = offset == 0 ? believe(*archive) : archive->read; !sound.ok()) {
    return stopped_batch(after, sound.error(), where, 0);
  }
  EntryLines lines(offset, get_int(position, "l"), 0, archive->wrap);
  std::size_t items = 0;
  bool enough = false;
  const auto on_line = [&](EntryLine&& line) {
    if (!line.parsed.ok()) {
      note_skip(batch, {line.number, line.parsed.error().reason, where});
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
  const auto fed = feed_archive(as_bytes(archive->bytes), archive->zstd, offset, lines, on_line);
  if (!fed.ok()) {
    CLAWMARK_ASSIGN(batch.stopped, stop_of(fed.error(), where, lines.offset()));
  } else if (!enough) {
    lines.end_of_archive(on_line);
  }
  batch.next.position = to_text(json::object{{"o", lines.offset()}, {"l", lines.lines()}});
  batch.at_end = !enough;
  return batch;
}

std::optional<std::string> AgentDbSource::body(const Wanted& wanted) {
  if (wanted.stream.starts_with("session:")) {
    const std::string session_id = wanted.stream.substr(8);
    std::vector<AgentDbRow> rows;
    const auto status = with_foreign_db(path_, [&](Database& db) -> Status {
      CLAWMARK_ASSIGN(const auto schema, probe_agent_db(db));
      const auto take = [&](std::string_view session, std::int64_t seq) -> Status {
        CLAWMARK_ASSIGN(auto row, row_at(db, schema, session, seq));
        if (row) rows.push_back(*std::move(row));
        return Ok{};
      };
      std::int64_t place = 0;
      std::from_chars(wanted.place.data(), wanted.place.data() + wanted.place.size(), place);
      CLAWMARK_TRY(take(session_id, place));
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
    // The host may have written the same words under a new id.
    for (const auto& row : rows) {
      if (!wanted.hash) break;
      const auto text = decode(row);
      if (!text.ok()) continue;
      auto body = whole_text(*text, {});
      if (body && sha256(*body) == *wanted.hash) return body;
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
  if (!found) lines.end_of_archive(on_line);
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
