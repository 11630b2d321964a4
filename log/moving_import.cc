#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/files.h"
#include "base/limits_moving.h"
#include "base/zstd.h"
#include "log/chain.h"
#include "log/moving.h"

namespace clawmark {
namespace {

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::string_view kCheckHead = "{\"check\":\"";
constexpr std::size_t kCheckSize = 16;

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// One line without its newline. False: the file ends here.
Result<bool> next_line(std::FILE* file, std::string& line, bool& whole) {
  line.clear();
  whole = false;
  for (int c = ::getc_unlocked(file); c != EOF; c = ::getc_unlocked(file)) {
    if (c == '\n') {
      whole = true;
      return true;
    }
    if (line.size() == kExportLineMax) {
      return make_error(ErrorKind::kInvalid, "import", "damaged", "is too long");
    }
    line.push_back(static_cast<char>(c));
  }
  return !line.empty();
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return out;
}

std::span<const std::uint8_t> as_blob(const std::string& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

Error ExportReader::bad_line(const char* reason, const std::string& what) const {
  return make_error(
      ErrorKind::kInvalid, "import", reason,
      path_ + ", line " + std::to_string(line_) + ": " + what + "; nothing was imported");
}

Result<MoveCounts> ExportReader::read(const std::function<Status(const json::object&)>& each) {
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path_.c_str(), "re"));
  if (const auto info = stat_file(path_); !file || (info && info->is_directory)) {
    return make_error(ErrorKind::kInvalid, "import", "unreadable",
                      "cannot read " + path_ +
                          (file ? ": it is a folder, not a file of clawmark "
                                  "export"
                                : ""));
  }
  std::string line, check;
  MoveCounts counts;
  for (;;) {
    ++line_;
    bool whole = false;
    const auto more = next_line(file.get(), line, whole);
    if (!more.ok()) return bad_line("damaged", more.error().message);
    if (!*more) return bad_line("cut_off", "the file ends before its last line");
    if (!whole) return bad_line("cut_off", "the line is cut off");
    const std::size_t rest_at = kCheckHead.size() + kCheckSize + 2;
    if (line.size() <= rest_at || !line.starts_with(kCheckHead)) {
      return bad_line(
          line_ == 1 ? "not_an_export" : "damaged",
          line_ == 1 ? "this is no file of clawmark export" : "it is no line of an export");
    }
    const std::string rest = line.substr(rest_at);
    check = to_hex(sha256(check + rest)).substr(0, kCheckSize);
    const auto parsed = parse_json("{" + rest);
    const auto* object = parsed.ok() ? parsed->if_object() : nullptr;
    if (object == nullptr || line.substr(kCheckHead.size(), kCheckSize) != check) {
      return bad_line("damaged", "it, or a line before it, is not as it was written");
    }
    if (line_ == 1) {
      const std::int64_t form = get_int(*object, "clawmark_export"),
                         schema = get_int(*object, "schema");
      const auto here = static_cast<std::int64_t>(migrations().size());
      if (form != 1 || schema != here) {
        return bad_line("newer", "it was written by another version of Clawmark (" +
                                     (form != 1 ? "form " + std::to_string(form) + ", here 1"
                                                : "schema " + std::to_string(schema) + ", here " +
                                                      std::to_string(here)) +
                                     "): import it with that version and upgrade the store then");
      }
    }
    if (get_bool(*object, "end")) {
      if (get_int(*object, "events") != counts.events ||
          get_int(*object, "bodies") != counts.bodies || get_int(*object, "rows") != counts.rows) {
        return bad_line("damaged", "lines are missing");
      }
      if (std::getc(file.get()) != EOF) {
        ++line_;
        return bad_line("damaged", "something follows the end");
      }
      return counts;
    }
    counts.events += object->contains("event") ? 1 : 0;
    counts.bodies += object->contains("body") ? 1 : 0;
    counts.rows += object->contains("row") ? 1 : 0;
    CLAWMARK_TRY(each(*object));
  }
}

namespace {

class Importer {
 public:
  Importer(Database& db, ExportReader& reader) : db_(db), reader_(reader) {}

  Status begin() {
    CLAWMARK_ASSIGN(const Seq head, EventLog::head(db_));
    head_ = head.value;
    return Ok{};
  }

  Status take(const json::object& line) {
    if (line.contains("clawmark_export")) return take_head(line);
    if (line.contains("event")) return take_event(line);
    if (line.contains("body")) return take_body(line);
    if (line.contains("row")) return take_row(line);
    return reader_.bad_line("damaged", "nobody knows this kind of line");
  }
  // Texts of messages that were blanked here leave the vault, unless another one has the same
  // words.
  Status drop_blanked() {
    for (const std::string& hash : blanked_) {
      CLAWMARK_ASSIGN(const auto shared,
                      db_.query_int("SELECT 1 FROM events WHERE type = 'message.observed'"
                                    " AND redacted = 0 AND payload ->> '$.sha256' = ? LIMIT 1",
                                    hash));
      const auto bytes = hash_from_hex(hash);
      if (shared || !bytes) continue;
      CLAWMARK_TRY(db_.run("DELETE FROM bodies WHERE hash = ?", *bytes));
    }
    return Ok{};
  }
  std::int64_t fresh() const { return seq_ > head_ ? seq_ - head_ : 0; }

 private:
  Status take_head(const json::object& line) {
    rule_2_from_ = get_int(line, "rule_2_from", 1);
    CLAWMARK_ASSIGN(const auto here,
                    db_.query_int("SELECT from_seq FROM chain_rules WHERE rule = 2"));
    if (head_ != 0 || here == rule_2_from_) return Ok{};
    // An empty log takes over by which rule the one that comes was written.
    constexpr char kName[] = "chain_rules_no_update";
    CLAWMARK_ASSIGN(const auto trigger,
                    db_.query_text("SELECT sql FROM sqlite_schema WHERE name = ?", kName));
    CLAWMARK_TRY(db_.exec("DROP TRIGGER chain_rules_no_update"));
    CLAWMARK_TRY(db_.run("UPDATE chain_rules SET from_seq = ? WHERE rule = 2", rule_2_from_));
    return db_.exec(trigger.value_or(""));
  }

  Status take_event(const json::object& line) {
    const std::string origin = get_string(line, "origin"), type = get_string(line, "type");
    const std::string agent = get_string(line, "agent"), key = get_string(line, "session_key");
    const std::string lane = get_string(line, "lane"), sender = get_string(line, "sender");
    const std::string dedupe = get_string(line, "dedupe_key"),
                      payload = get_string(line, "payload");
    const auto hash = hash_from_hex(get_string(line, "payload_hash"));
    const auto chain = hash_from_hex(get_string(line, "chain"));
    const bool redacted = get_bool(line, "redacted");
    const Sealed sealed{get_int(line, "event"),
                        get_int(line, "version"),
                        get_int(line, "origin_seq"),
                        {get_int(line, "occurred_ms")},
                        {get_int(line, "recorded_ms")},
                        origin,
                        type,
                        agent,
                        key,
                        lane,
                        sender,
                        dedupe};
    const bool payload_ok =
        redacted ? payload == kRedactedPayload : hash && sha256(payload) == *hash;
    if (!hash || !chain || !payload_ok || sealed.seq != seq_ + 1 ||
        next_chain(chain_, sealed, *hash, rule_2_from_) != *chain) {
      return reader_.bad_line("damaged", "the event does not follow from the ones before it");
    }
    seq_ = sealed.seq;
    chain_ = *chain;
    if (seq_ <= head_) return compare(*chain);
    if (seq_ == 1 || seq_ == head_ + 1) CLAWMARK_TRY(clear_state());
    CLAWMARK_ASSIGN(auto* insert,
                    db_.cached("INSERT INTO events(seq, origin, origin_seq, type, version, agent,"
                               " session_key, lane, sender, dedupe_key, occurred_ms, recorded_ms,"
                               " payload, payload_hash, chain, redacted)"
                               " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    CLAWMARK_TRY(insert
                     ->with(sealed.seq, origin, sealed.origin_seq, type, sealed.version, agent, key,
                            lane, sender, dedupe, sealed.occurred, sealed.recorded, payload, *hash,
                            *chain, redacted)
                     .run());
    if (type != event_type::kEventRedacted) return Ok{};
    // What was taken out there leaves this log, too.
    const auto note = parse_json(payload);
    const auto* said = note.ok() ? note->if_object() : nullptr;
    return said == nullptr ? Status(Ok{}) : blank(get_int(*said, "seq"));
  }

  Status blank(std::int64_t seq) {
    CLAWMARK_ASSIGN(const auto hash,
                    db_.query_text("SELECT payload ->> '$.sha256' FROM events WHERE seq = ?"
                                   " AND redacted = 0 AND type = 'message.observed'",
                                   seq));
    if (hash) blanked_.push_back(*hash);
    return db_.run("UPDATE events SET payload = ?, redacted = 1 WHERE seq = ? AND redacted = 0",
                   kRedactedPayload, seq);
  }

  Status compare(const Hash256& chain) {
    CLAWMARK_ASSIGN(auto* query, db_.cached("SELECT chain FROM events WHERE seq = ?"));
    CLAWMARK_ASSIGN(const bool row, query->with(seq_).step());
    const bool same = row && query->hash(0) == chain;
    query->reset();
    if (same) return Ok{};
    return make_error(
        ErrorKind::kConflict, "import", "diverged",
        "the store has a history of its own: from event " + std::to_string(seq_) +
            " on it differs from the file's, and two histories cannot be joined. Import into a new "
            "store (--db-path), then let clawmarkd read the sources again: what it knows it "
            "recognises. Nothing was imported");
  }

  // What travels beside the log is that of the file from here on.
  Status clear_state() {
    for (auto table = moved_tables().rbegin(); table != moved_tables().rend(); ++table) {
      const bool referenced = table->name == "embedding_models";
      if (referenced) CLAWMARK_TRY(db_.exec("DELETE FROM vectors"));
      std::string sql = "DELETE FROM " + std::string(table->name);
      if (!table->where.empty()) sql += " WHERE " + std::string(table->where);
      CLAWMARK_TRY(db_.exec(sql));
    }
    return Ok{};
  }

  Status take_body(const json::object& line) {
    const auto hash = hash_from_hex(get_string(line, "body"));
    const auto raw = line.contains("hex") ? from_hex(get_string(line, "hex"))
                                          : std::optional(get_string(line, "text"));
    if (!hash || !raw || sha256(*raw) != *hash) {
      return reader_.bad_line("damaged", "the text is not the one of its hash");
    }
    if (seq_ < head_) return Ok{};  // an older state: what left the vault since stays out
    const std::string frame = zstd_compress(*raw);
    return db_.run("INSERT OR IGNORE INTO bodies(hash, bytes, frame) VALUES (?, ?, ?)", *hash,
                   static_cast<std::int64_t>(raw->size()), as_blob(frame));
  }

  Status take_row(const json::object& line) {
    if (fresh() == 0) return Ok{};
    const std::string name = get_string(line, "row");
    const auto* values = find_array(line, "values");
    for (const MovedTable& table : moved_tables()) {
      if (table.name != name) continue;
      if (values == nullptr || values->size() != table.columns.size()) break;
      return insert_row(table, *values);
    }
    return reader_.bad_line("damaged", "there is no such table");
  }

  Status insert_row(const MovedTable& table, const json::array& values) {
    std::string columns, marks;
    for (const auto& [column, kind] : table.columns) {
      columns += (columns.empty() ? "" : ", ") + std::string(column);
      marks += marks.empty() ? "?" : ", ?";
    }
    CLAWMARK_ASSIGN(auto* insert, db_.cached("INSERT OR REPLACE INTO " + std::string(table.name) +
                                             "(" + columns + ") VALUES (" + marks + ")"));
    insert->reset();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const json::value& value = values[i];
      const char kind = table.columns[i].second;
      const int at = static_cast<int>(i) + 1;
      if (value.is_null()) {
        insert->bind(at, nullptr);
      } else if (kind == 'i' && value.is_int64()) {
        insert->bind(at, value.get_int64());
      } else if (const auto number =
                     value.is_string() ? number_of(view(value.get_string())) : std::nullopt;
                 kind == 'r' && number) {
        insert->bind(at, *number);
      } else if (kind == 't' && value.is_string()) {
        insert->bind(at, view(value.get_string()));
      } else if (const auto bytes =
                     value.is_string() ? from_hex(view(value.get_string())) : std::nullopt;
                 kind == 'b' && bytes) {
        insert->bind(at, as_blob(*bytes));
      } else {
        return reader_.bad_line("damaged", "a value is of another kind than its column");
      }
    }
    return insert->run();
  }

  Database& db_;
  ExportReader& reader_;
  std::int64_t head_ = 0, seq_ = 0, rule_2_from_ = 1;
  Hash256 chain_;
  std::vector<std::string> blanked_;
};

}  // namespace

Result<MoveCounts> import_store(Store& store, const std::string& path, bool keep) {
  ExportReader reader(path);
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  Importer importer(store.db(), reader);
  CLAWMARK_TRY(importer.begin());
  CLAWMARK_ASSIGN(MoveCounts counts,
                  reader.read([&](const json::object& line) { return importer.take(line); }));
  counts.fresh = importer.fresh();
  CLAWMARK_TRY(importer.drop_blanked());
  CLAWMARK_TRY(EventLog::check_dense(store.db()));
  if (keep) CLAWMARK_TRY(txn.commit());
  return counts;
}

}  // namespace clawmark
