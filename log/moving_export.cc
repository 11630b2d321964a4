#include <array>
#include <charconv>
#include <unordered_set>

#include "base/hash.h"
#include "base/read_snapshot.h"
#include "base/utf8.h"
#include "base/zstd.h"
#include "log/moving.h"

namespace clawmark {
namespace {

constexpr std::size_t kBodyMax = 256u << 20;  // far above what a carrier's line can hold

class Writer {
 public:
  explicit Writer(const std::function<Status(std::string_view)>& sink) : sink_(sink) {}

  Status line(const json::object& object) {
    const std::string rest = to_text(object).substr(1);
    check_ = to_hex(sha256(check_ + rest)).substr(0, 16);
    return sink_("{\"check\":\"" + check_ + "\"," + rest + "\n");
  }

 private:
  const std::function<Status(std::string_view)>& sink_;
  std::string check_;
};

// Texts that messages name and the vault does not hold: they are the host's alone.
Result<std::int64_t> count_elsewhere(Database& db) {
  CLAWMARK_ASSIGN(auto rows, db.prepare("SELECT payload ->> '$.sha256' FROM events WHERE type = ? "
                                        "AND redacted = 0"));
  CLAWMARK_ASSIGN(auto kept, db.prepare("SELECT 1 FROM bodies WHERE hash = ?"));
  rows.with(event_type::kMessageObserved);
  std::unordered_set<std::string> elsewhere;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) return static_cast<std::int64_t>(elsewhere.size());
    const auto hash = hash_from_hex(rows.text(0));
    if (!hash || elsewhere.contains(rows.string(0))) continue;
    CLAWMARK_ASSIGN(const bool here, kept.with(*hash).step());
    if (!here) elsewhere.insert(rows.string(0));
  }
}

Status write_events(Database& db, Writer& out, MoveCounts& counts) {
  CLAWMARK_ASSIGN(auto rows,
                  db.prepare("SELECT seq, origin, origin_seq, type, version, agent, session_key,"
                             " lane, sender, dedupe_key, occurred_ms, recorded_ms, payload,"
                             " payload_hash, chain, redacted FROM events ORDER BY seq"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) return Ok{};
    ++counts.events;
    CLAWMARK_TRY(out.line({{"event", rows.integer(0)},
                           {"origin", rows.text(1)},
                           {"origin_seq", rows.integer(2)},
                           {"type", rows.text(3)},
                           {"version", rows.integer(4)},
                           {"agent", rows.text(5)},
                           {"session_key", rows.text(6)},
                           {"lane", rows.text(7)},
                           {"sender", rows.text(8)},
                           {"dedupe_key", rows.text(9)},
                           {"occurred_ms", rows.integer(10)},
                           {"recorded_ms", rows.integer(11)},
                           {"payload", rows.text(12)},
                           {"payload_hash", to_hex(rows.hash(13))},
                           {"chain", to_hex(rows.hash(14))},
                           {"redacted", rows.integer(15) != 0}}));
  }
}

Status write_bodies(Database& db, Writer& out, MoveCounts& counts) {
  CLAWMARK_ASSIGN(auto rows, db.prepare("SELECT hash, frame FROM bodies ORDER BY hash"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) return Ok{};
    CLAWMARK_ASSIGN(const std::string text, zstd_decompress(rows.blob(1), kBodyMax));
    json::object line{{"body", to_hex(rows.hash(0))}};
    if (is_valid_utf8(text)) {
      line["text"] = text;
    } else {
      line["hex"] = to_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    }
    ++counts.bodies;
    CLAWMARK_TRY(out.line(line));
  }
}

json::value value_of(const Statement& row, int column, char kind) {
  if (row.is_null(column)) return nullptr;
  if (kind == 'i') return row.integer(column);
  if (kind == 'r') {  // as text: not every reader of JSON gives back the very same number
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), row.real(column));
    return json::string(std::string_view(digits.data(), end.ptr));
  }
  if (kind == 'b') return json::string(to_hex(row.blob(column)));
  return json::string(row.text(column));
}

Status write_table(Database& db, const MovedTable& table, Writer& out, MoveCounts& counts) {
  std::string columns;
  for (const auto& [name, kind] : table.columns) {
    columns += (columns.empty() ? "" : ", ") + std::string(name);
  }
  std::string sql = "SELECT " + columns + " FROM " + std::string(table.name);
  if (!table.where.empty()) sql += " WHERE " + std::string(table.where);
  CLAWMARK_ASSIGN(auto rows, db.prepare(sql + " ORDER BY " + columns));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) return Ok{};
    json::array values;
    int at = 0;
    for (const auto& [name, kind] : table.columns) values.push_back(value_of(rows, at++, kind));
    ++counts.rows;
    CLAWMARK_TRY(out.line({{"row", table.name}, {"values", std::move(values)}}));
  }
}

}  // namespace

const std::vector<MovedTable>& moved_tables() {
  static const std::vector<MovedTable> tables{
      {"meta", {{"key", 't'}, {"value", 't'}}, "key NOT IN ('origin', 'schema')"},
      {"cursors",
       {{"worker", 't'},
        {"generation", 'i'},
        {"pos", 'i'},
        {"state", 't'},
        {"failure", 't'},
        {"attempts", 'i'},
        {"retry_ms", 'i'},
        {"advanced_ms", 'i'},
        {"beat_ms", 'i'}},
       "worker NOT LIKE 'project.%'"},
      {"source_positions",
       {{"carrier", 't'},
        {"stream", 't'},
        {"epoch", 'i'},
        {"position", 't'},
        {"anchor", 't'},
        {"newest_ms", 'i'},
        {"seen_ms", 'i'},
        {"skipped", 'i'},
        {"note", 't'}},
       ""},
      {"locators", {{"message", 'i'}, {"carrier", 't'}, {"stream", 't'}, {"place", 't'}}, ""},
      {"message_contents",
       {{"agent", 't'},
        {"content", 'b'},
        {"message", 'i'},
        {"session_id", 't'},
        {"occurred_ms", 'i'}},
       ""},
      {"embedding_models", {{"id", 'i'}, {"name", 't'}, {"dims", 'i'}, {"first_ms", 'i'}}, ""},
      {"vectors", {{"model", 'i'}, {"hash", 'b'}, {"scale", 'r'}, {"vector", 'b'}}, ""},
      {"chunks",
       {{"message", 'i'}, {"ordinal", 'i'}, {"hash", 'b'}, {"start", 'i'}, {"length", 'i'}},
       ""},
      {"parked",
       {{"event", 'i'},
        {"worker", 't'},
        {"generation", 'i'},
        {"message", 'i'},
        {"reason", 't'},
        {"detail", 't'},
        {"attempts", 'i'},
        {"parked_ms", 'i'},
        {"retry", 'i'}},
       ""},
      {"spend",
       {{"day", 't'},
        {"worker", 't'},
        {"model", 't'},
        {"calls", 'i'},
        {"input_tokens", 'i'},
        {"output_tokens", 'i'},
        {"micro_usd", 'i'}},
       ""},
      {"texts_gone", {{"message", 'i'}, {"since_ms", 'i'}}, ""},
      {"skipped_lines",
       {{"carrier", 't'},
        {"stream", 't'},
        {"line", 'i'},
        {"file", 't'},
        {"byte", 'i'},
        {"reason", 't'},
        {"seen_ms", 'i'}},
       ""},
  };
  return tables;
}

Result<MoveCounts> export_store(Database& db, const std::function<Status(std::string_view)>& sink) {
  const ReadSnapshot snapshot(db);
  Writer out(sink);
  MoveCounts counts;
  CLAWMARK_ASSIGN(const auto rule_2,
                  db.query_int("SELECT from_seq FROM chain_rules WHERE rule = 2"));
  CLAWMARK_TRY(out.line({{"clawmark_export", 1},
                         {"schema", static_cast<std::int64_t>(migrations().size())},
                         {"rule_2_from", rule_2.value_or(1)}}));
  CLAWMARK_TRY(write_events(db, out, counts));
  CLAWMARK_TRY(write_bodies(db, out, counts));
  for (const MovedTable& table : moved_tables()) {
    CLAWMARK_TRY(write_table(db, table, out, counts));
  }
  CLAWMARK_ASSIGN(counts.elsewhere, count_elsewhere(db));
  CLAWMARK_TRY(out.line({{"end", true},
                         {"events", counts.events},
                         {"bodies", counts.bodies},
                         {"rows", counts.rows}}));
  return counts;
}

}  // namespace clawmark
