#include "sources/lcm_source.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>

#include "base/files.h"
#include "base/limits.h"
#include "base/scope.h"
#include "base/utf8.h"
#include "sources/entry_parser.h"
#include "sources/foreign_db.h"
#include "sources/lcm_rows.h"
#include "sources/shown_time.h"
#include "sources/stream_tools.h"
#include "sources/text_cleaner.h"
#include "sources/text_sink.h"

namespace clawmark {
namespace {

constexpr std::int64_t kHoldBackMs = 5000;  // LCM before 0.10 commits a row before its parts

std::int64_t to_number(const std::string& text) {
  return std::strtoll(text.c_str(), nullptr, 10);
}

std::int64_t conversation_of(std::string_view key) {
  return key.starts_with("conv:") ? to_number(std::string(key.substr(5))) : -1;
}

// The agent whose folder a path like …/agents/<id>/sessions/x.jsonl names.
std::string agent_of_path(std::string_view path) {
  constexpr std::string_view kFolder = "/agents/";
  const auto at = path.rfind(kFolder);
  if (at == std::string_view::npos) return {};
  const auto rest = path.substr(at + kFolder.size());
  return std::string(rest.substr(0, rest.find('/')));
}

std::string_view class_of(std::string_view role) {
  if (role == "tool") return "toolResult";
  return role == "user" || role == "assistant" ? "chat" : "internal_system";
}

bool is_young(const LcmRow& row, TimeMs now) {
  const TimeMs time = shown_time(row.created_at).time;
  return std::abs(now.value - time.value) < kHoldBackMs;
}

// Newest rows whose parts are not there yet wait.
void hold_back(LcmRead& read, TimeMs now) {
  while (!read.rows.empty() && read.at_end) {
    const auto& row = read.rows.back();
    if (row.has_parts || row.id != read.newest_id || !is_young(row, now)) return;
    read.newest_id = read.rows.size() > 1 ? read.rows[read.rows.size() - 2].id : -1;
    read.rows.pop_back();
  }
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : std::string();
}

// The payload's text when it lies under `dir`, else under the same names there; a path that leads
// out is refused.
std::optional<std::string> read_payload(const std::string& dir, const std::string& uri,
                                        std::int64_t conversation) {
  const auto root = real_path(dir);
  if (root.empty()) return std::nullopt;
  const auto name = base_name(uri);
  for (const auto& candidate :
       {uri, join_path(join_path(dir, std::to_string(conversation)), name), join_path(dir, name)}) {
    const auto real = real_path(candidate);
    if (!real.starts_with(root + "/")) continue;
    auto text = read_file(real, kLineBytesMax);
    if (text.ok()) return std::move(text).value();
  }
  return std::nullopt;
}

void take_sender(const LcmRow& row, Entry& entry) {
  if (row.role != "user") return;
  const auto sender = parse_state(row.sender);
  entry.sender_id = get_string(sender, "senderId");
  entry.sender_name = get_string(sender, "senderName");
  if (entry.sender_id.empty()) read_envelope_sender(entry);
}

Entry to_entry(const LcmRow& row, const StreamInfo& stream, const std::string& files_dir) {
  Entry entry;
  entry.kind = row.alias_of.empty() ? EntryKind::kMessage : EntryKind::kOther;
  entry.alias_of = row.alias_of;
  entry.entry_id = row.entry_id;
  const ShownTime shown = shown_time(row.created_at);
  entry.time = shown.time;
  entry.time_off = !shown.as_is;
  entry.time_step_ms =
      shown.time.value % kSecondMs == 0 && row.created_at.find('.') == std::string::npos ? kSecondMs
                                                                                         : 1;
  entry.role = row.role;
  entry.entry_class = class_of(row.role);
  TextSink sink;
  sink.append(is_valid_utf8(row.content) ? row.content : to_valid_utf8(row.content));
  auto text = sink.finish();
  entry.text = std::move(text.text);
  entry.bytes = text.bytes;
  entry.hash = text.hash;
  entry.tools = row.tools;
  entry.place = std::to_string(row.id);
  entry.order = row.seq;
  take_sender(row, entry);
  stamp_entry(entry, stream);
  if (entry.entry_class != "toolResult") entry.noise = classify_noise(row.role, entry.text);
  if (!row.part_text.empty()) entry.other_hashes.push_back(sha256(to_valid_utf8(row.part_text)));
  for (const auto& uri : row.files) {
    if (const auto payload = read_payload(files_dir, uri, conversation_of(stream.key))) {
      entry.other_hashes.push_back(sha256(to_valid_utf8(*payload)));
    }
  }
  if (row.content.starts_with("[{")) {
    // Versions 0.4 – 0.11 stored raw JSON; another carrier has the text of its blocks, which may be
    // empty.
    entry.other_hashes.push_back(sha256(clean_text(row.content)));
  }
  return entry;
}

Status list_streams(Database& db, const LcmSchema& s, std::vector<StreamInfo>& out) {
  const std::string sql =
      std::string("SELECT c.conversation_id, c.session_id, ") +
      (s.session_key ? "c.session_key, " : "NULL, ") + (s.active ? "c.active, " : "1, ") +
      (s.archive_cause ? "c.archive_cause, " : "NULL, ") + "t.newest, t.rows, m.created_at, " +
      (s.bootstrap ? "(SELECT b.session_file_path FROM conversation_bootstrap_state b WHERE "
                     "b.conversation_id = c.conversation_id LIMIT 1)"
                   : "NULL") +
      " FROM (SELECT conversation_id AS conversation, max(message_id) AS newest, count(*) AS rows "
      "FROM messages GROUP BY conversation_id) t JOIN conversations c ON c.conversation_id = "
      "t.conversation JOIN messages m ON m.message_id = t.newest";
  CLAWMARK_ASSIGN(auto statement, db.prepare(sql));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return Ok{};
    StreamInfo info;
    info.key = "conv:" + std::to_string(statement.integer(0));
    info.session_id = statement.string(1);
    info.session_key = statement.string(2);
    info.live = statement.integer(3) != 0;
    info.deleted = statement.text(4) == "session-deleted";
    if (info.deleted) info.deleted_evidence = "lcm";
    info.newest = parse_iso(statement.text(7)).value_or(TimeMs{});
    info.agent = parse_session_key(info.session_key).agent;
    if (info.agent.empty()) info.agent = agent_of_path(statement.text(8));
    if (info.agent.empty()) info.agent = "main";
    info.tip = std::to_string(statement.integer(5)) + ":" + std::to_string(statement.integer(6)) +
               (info.deleted ? ":deleted" : "");
    out.push_back(std::move(info));
  }
}

}  // namespace

LcmSource::LcmSource(std::string path, std::string files_dir,
                     std::vector<std::string> ignore_sessions, const Clock& clock)
    : path_(std::move(path)),
      files_dir_(std::move(files_dir)),
      ignore_(std::move(ignore_sessions)),
      clock_(clock) {}

SourceHealth LcmSource::validate() {
  SourceHealth health = check_foreign_file(path_);
  if (health.state != SourceState::kOk) return health;
  const auto look = [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(auto schema, probe_lcm(db));
    health.schema_fingerprint = schema.fingerprint;
    health.notes = std::move(schema.notes);
    return Ok{};
  };
  const auto status = with_foreign_db(path_, look);
  return status.ok() ? health : health_of_error(status.error(), path_);
}

Result<std::vector<StreamInfo>> LcmSource::streams() {
  std::vector<StreamInfo> out;
  const auto look = [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto schema, probe_lcm(db));
    return list_streams(db, schema, out);
  };
  CLAWMARK_TRY(with_foreign_db(path_, look));
  std::erase_if(out, [&](const StreamInfo& info) { return is_ignored(info.session_key, ignore_); });
  const auto now = clock_.now();
  for (auto& info : out) {
    // Its newest row may be held back: reading to the end now does not mean that there is no more.
    if (std::abs(now.value - info.newest.value) < 2 * kHoldBackMs) info.tip.clear();
  }
  std::sort(out.begin(), out.end(), by_newest);
  return out;
}

Result<StreamBatch> LcmSource::read(const StreamInfo& stream, const StreamPosition& after,
                                    std::size_t items_max) {
  const auto conversation = conversation_of(stream.key);
  LcmTail tail = parse_lcm_tail(after);
  LcmRead rows;
  std::string reason;
  const auto look = [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(const auto schema, probe_lcm(db));
    CLAWMARK_ASSIGN(reason, check_lcm_tail(db, schema, conversation, tail));
    CLAWMARK_ASSIGN(rows, read_lcm_rows(db, schema, conversation, tail.last, items_max, clock_));
    return mark_lcm_copies(db, schema, stream, conversation, rows.rows);
  };
  CLAWMARK_TRY(with_foreign_db(path_, look));
  hold_back(rows, clock_.now());
  StreamBatch batch;
  batch.next.epoch = after.epoch;
  if (!reason.empty() && !after.position.empty()) {
    batch.epoch = EpochChange{after.epoch + 1, reason};
    batch.next.epoch = batch.epoch->epoch;
  }
  for (const auto& row : rows.rows) {
    tail.last = row.id;
    ++tail.rows;
    tail.sum += row.id;
    tail.newest.emplace_back(row.id, lcm_row_hash(row.role, row.content));
    batch.bytes += row.content.size();
    batch.entries.push_back(to_entry(row, stream, files_dir_));
  }
  store_lcm_tail(tail, batch.next);
  batch.gone = tail.gone;
  batch.at_end = rows.at_end;
  return batch;
}

std::vector<std::optional<std::string>> LcmSource::bodies(std::span<const Wanted> wanted) {
  std::vector<std::optional<std::string>> out(wanted.size());
  for (std::size_t from = 0; from < wanted.size(); from += kSourceBatchItems) {
    const auto until = std::min(wanted.size(), from + kSourceBatchItems);
    const auto look = [&](Database& db) -> Status {
      for (auto i = from; i < until; ++i) {
        CLAWMARK_ASSIGN(out[i], db.query_text("SELECT content FROM messages WHERE message_id = ?",
                                              to_number(wanted[i].place)));
      }
      return Ok{};
    };
    if (!with_foreign_db(path_, look).ok()) break;
  }
  for (auto& text : out) {
    if (text && !is_valid_utf8(*text)) text = to_valid_utf8(*text);
  }
  return out;
}

std::string LcmSource::change_token() {
  return foreign_change_token(path_);
}

}  // namespace clawmark
