#include "sources/foreign_memory.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "sources/foreign_db.h"
#include "sources/lcm_source.h"
#include "sources/text_cleaner.h"

namespace clawmark {
namespace {

constexpr std::size_t kFileMax = 8u << 20;   // of one memory file
constexpr std::size_t kSectionBytes = 1200;  // of one entry made of a memory file
constexpr std::size_t kFilesMax = 5000;

Error import_error(const char* reason, std::string message) {
  return make_error(ErrorKind::kInvalid, "import", reason, std::move(message));
}

Error not_taken(const SourceHealth& health, const std::string& path) {
  const bool named = health.message.find(path) != std::string::npos;
  return import_error("not_one",
                      (named ? "" : path + ": ") + health.message + "; nothing was taken from it");
}

// Reads a database that nobody writes any more; what SQLite says of it is told in our words.
Status with_old_db(const std::string& path, const std::function<Status(Database&)>& read) {
  Status status = with_foreign_db(path, read);
  if (status.ok() || status.error().stage != "sqlite") return status;
  return not_taken(health_of_error(status.error(), path), path);
}

Status need_columns(Database& db, std::string_view table,
                    std::initializer_list<std::string_view> names, const std::string& path) {
  CLAWMARK_ASSIGN(const auto columns, table_columns(db, table));
  for (const auto name : names) {
    if (has_column(columns, name)) continue;
    return import_error("not_one", path + " has no column " + std::string(table) + "." +
                                       std::string(name) +
                                       ": it is not of the kind that was named");
  }
  return Ok{};
}

void set_text(Entry& entry, std::string text) {
  entry.text = to_valid_utf8(text);
  entry.bytes = static_cast<std::int64_t>(entry.text.size());
  entry.hash = sha256(entry.text);
}

std::string class_of(std::string_view role) {
  if (role == "user" || role == "assistant") return "chat";
  return role == "system" ? "internal_system" : "toolResult";
}

// Block content that was stored as JSON text; anything else as it is.
std::string plain_content(std::string text) {
  if (!text.starts_with("[{")) return text;
  const auto parsed = parse_json(text);
  const auto* blocks = parsed.ok() ? parsed->if_array() : nullptr;
  if (blocks == nullptr) return text;
  std::string out;
  for (const auto& block : *blocks) {
    const auto* object = block.if_object();
    if (object == nullptr || get_string(*object, "type") != "text") continue;
    out += (out.empty() ? "" : "\n") + get_string(*object, "text");
  }
  return out;
}

// --- the original Clawmark

Status read_clawmark(Database& db, const std::string& path, ForeignMemory& out) {
  CLAWMARK_TRY(need_columns(
      db, "facts", {"key", "value", "confidence", "source", "updated_at", "is_deleted"}, path));
  CLAWMARK_ASSIGN(auto rows, db.prepare("SELECT key, value, confidence, source, updated_at,"
                                        " is_deleted FROM facts ORDER BY key"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) break;
    if (rows.integer(5) != 0) {
      ++out.deleted;
      continue;
    }
    out.facts.push_back({rows.string(0), to_valid_utf8(rows.text(1)), rows.text(3) == "user",
                         rows.real(2), parse_iso(rows.text(4)).value_or(TimeMs{})});
  }
  out.left_out.emplace_back("message_vectors: vectors without text or model name");
  return Ok{};
}

// --- recursive-claw

Status read_recursive(Database& db, const std::string& path, const TakeEntries& take) {
  CLAWMARK_TRY(need_columns(
      db, "messages", {"id", "session_id", "role", "content", "timestamp", "message_index"}, path));
  CLAWMARK_ASSIGN(auto rows,
                  db.prepare("SELECT session_id, role, content, timestamp, message_index FROM"
                             " messages ORDER BY session_id, message_index"));
  StreamInfo stream;
  std::vector<Entry> entries;
  const auto hand_over = [&]() -> Status {
    if (entries.empty()) return Ok{};
    return take(stream, std::exchange(entries, {}));
  };
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) return hand_over();
    const std::string session = rows.string(0);
    if (session != stream.session_id || entries.size() == kSourceBatchItems) {
      CLAWMARK_TRY(hand_over());
      stream = StreamInfo{};
      stream.key = stream.session_id = session;
    }
    Entry& entry = entries.emplace_back();
    entry.kind = EntryKind::kMessage;
    entry.session_id = session;
    entry.role = rows.string(1);
    entry.entry_class = class_of(entry.role);
    entry.time = rows.time(3);
    // Its ids are its own; times are of storing. So rows are matched as those of LCM are.
    entry.time_step_ms = 1000;
    entry.order = rows.integer(4);
    entry.place = std::to_string(entry.order);
    set_text(entry, plain_content(rows.string(2)));
    if (trim(entry.text).empty()) entries.pop_back();
  }
}

// --- databases with LCM's tables

Status read_lcm(const std::string& path, const Clock& clock, const TakeEntries& take) {
  LcmSource source(path, "", {}, clock);
  if (const auto health = source.validate();
      health.state != SourceState::kOk && health.state != SourceState::kStale) {
    return not_taken(health, path);
  }
  CLAWMARK_ASSIGN(const auto streams, source.streams());
  for (const StreamInfo& stream : streams) {
    StreamPosition at;
    for (;;) {
      CLAWMARK_ASSIGN(auto batch, source.read(stream, at, kSourceBatchItems));
      if (!batch.entries.empty()) CLAWMARK_TRY(take(stream, std::move(batch.entries)));
      if (batch.at_end || batch.next.position == at.position) break;
      at = std::move(batch.next);
    }
  }
  return Ok{};
}

constexpr std::string_view kLcmTables[] = {"conversations", "messages",         "message_parts",
                                           "summaries",     "summary_messages", "summary_parents",
                                           "context_items", "large_files"};

// What the file holds beside LCM's tables: a world model of another make, which has no evidence
// that could be checked.
Status name_further_tables(const std::string& path, ForeignMemory& out) {
  return with_foreign_db(path, [&](Database& db) -> Status {
    CLAWMARK_ASSIGN(auto rows, db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'"
                                          " AND name NOT LIKE 'sqlite_%' AND name NOT LIKE"
                                          " '%\\_fts%' ESCAPE '\\' ORDER BY name"));
    for (;;) {
      CLAWMARK_ASSIGN(const bool row, rows.step());
      if (!row) return Ok{};
      const auto name = rows.text(0);
      if (std::find(std::begin(kLcmTables), std::end(kLcmTables), name) == std::end(kLcmTables)) {
        out.left_out.emplace_back(name);
      }
    }
  });
}

// --- OpenClaw's memory files

// Headings with what stands under them, cut at blank lines where that is long.
std::vector<std::string> sections_of(const std::string& text) {
  std::vector<std::string> out;
  std::string heading, body;
  const auto flush = [&] {
    const std::string kept(trim(body));
    if (!kept.empty()) out.push_back(heading.empty() ? kept : heading + "\n" + kept);
    body.clear();
  };
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.starts_with('#')) {
      flush();
      heading = std::string(trim(line.substr(
          line.find_first_not_of('#') == line.npos ? line.size() : line.find_first_not_of('#'))));
      continue;
    }
    if (body.size() >= kSectionBytes && (trim(line).empty() || line.starts_with("- "))) flush();
    body.append(line).append("\n");
  }
  flush();
  return out;
}

// "memory/2026-11-02.md" is of that day; anything else of when it was last written.
TimeMs time_of_file(const std::string& name, const FileInfo& file) {
  if (name.size() >= 13) {
    if (const auto day = parse_iso(name.substr(0, 10) + "T12:00:00Z")) return *day;
  }
  return {file.mtime_ms};
}

// An agent writes that folder: what it points at elsewhere is not its memory.
bool leads_out(const std::string& folder, const std::string& path) {
  std::error_code unknown;
  const auto root = std::filesystem::canonical(folder, unknown);
  const auto real = std::filesystem::canonical(path, unknown);
  return unknown || !real.string().starts_with(root.string() + "/");
}

Status read_memory_file(const std::string& folder, const std::string& name,
                        const TakeEntries& take) {
  const std::string path = join_path(folder, name);
  const auto file = stat_file(path);
  if (!file || !file->is_regular) return Ok{};
  if (leads_out(folder, path)) {
    return import_error("link", path + " is a link out of " + folder +
                                    "; nothing was taken: put a copy there, or remove it");
  }
  CLAWMARK_ASSIGN(const std::string text, read_file(path, kFileMax));
  StreamInfo stream;
  stream.key = stream.session_id = "memory-file:" + name;
  std::vector<Entry> entries;
  const TimeMs time = time_of_file(base_name(name), *file);
  for (std::string& section : sections_of(text)) {
    Entry& entry = entries.emplace_back();
    entry.kind = EntryKind::kMessage;
    entry.session_id = stream.session_id;
    entry.role = "assistant";  // the agent wrote it, whoever said it first
    entry.entry_class = "chat";
    entry.order = static_cast<std::int64_t>(entries.size());
    entry.time = {time.value + entry.order};
    set_text(entry, std::move(section));
    entry.entry_id = derived_uuid(name + "\n" + entry.text);
    entry.place = entry.entry_id;
  }
  if (entries.empty()) return Ok{};
  return take(stream, std::move(entries));
}

Status read_files(const std::string& folder, const TakeEntries& take) {
  std::vector<std::string> names;
  for (const char* name : {"MEMORY.md", "USER.md"}) {
    if (stat_file(join_path(folder, name))) names.emplace_back(name);
  }
  for (const auto& name : list_dir(join_path(folder, "memory"))) {
    if (name.ends_with(".md") && names.size() < kFilesMax) names.push_back("memory/" + name);
  }
  if (names.empty()) {
    return import_error("not_one", folder + " holds neither MEMORY.md nor memory/*.md");
  }
  for (const auto& name : names) CLAWMARK_TRY(read_memory_file(folder, name, take));
  return Ok{};
}

}  // namespace

std::string derived_uuid(std::string_view text) {
  std::string hex = to_hex(sha256(text)).substr(0, 32);
  hex[12] = '8';  // RFC 9562: made by a rule of one's own
  hex[16] = 'a';
  for (const std::size_t at : {8, 13, 18, 23}) hex.insert(at, "-");
  return hex;
}

Result<ForeignMemory> read_foreign_memory(std::string_view kind, const std::string& path,
                                          const Clock& clock, const TakeEntries& take) {
  ForeignMemory out;
  if (!stat_file(path)) return import_error("absent", "there is nothing at " + path);
  if (kind == "clawmark") {
    CLAWMARK_TRY(with_old_db(path, [&](Database& db) { return read_clawmark(db, path, out); }));
  } else if (kind == "recursive-claw") {
    CLAWMARK_TRY(with_old_db(path, [&](Database& db) { return read_recursive(db, path, take); }));
  } else if (kind == "lcm" || kind == "worldclaw") {
    CLAWMARK_TRY(read_lcm(path, clock, take));
    CLAWMARK_TRY(name_further_tables(path, out));
  } else if (kind == "memory-files") {
    CLAWMARK_TRY(read_files(path, take));
  } else {
    return import_error("unknown_kind",
                        "--from takes clawmark, recursive-claw, worldclaw, lcm or "
                        "memory-files, not " +
                            std::string(kind));
  }
  return out;
}

}  // namespace clawmark
