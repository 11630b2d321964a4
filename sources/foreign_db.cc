#include "sources/foreign_db.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/files.h"

namespace clawmark {
namespace {

struct Signature {
  bool there = false;
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0, time_ns = 0;
  uid_t owner = 0;
  mode_t mode = 0;
  bool operator==(const Signature&) const = default;
};

Signature signature(const std::string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return {};
  return {
      true,     s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec,
      s.st_uid, s.st_mode};
}

bool is_live(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    if (signature(path + suffix).there) return true;
  }
  return false;
}

SourceHealth refuse(SourceState state, std::string reason, std::string message) {
  SourceHealth health;
  health.state = state;
  health.reason = std::move(reason);
  health.message = std::move(message);
  return health;
}

Error source_error(const SourceHealth& health) {
  const bool retriable = health.state == SourceState::kBusy ||
                         health.state == SourceState::kNotInitialised ||
                         health.state == SourceState::kAbsent;
  return make_error(retriable ? ErrorKind::kRetriable : ErrorKind::kFatal, "source", health.reason,
                    health.message);
}

// A live file needs its -shm writable or already there, else SQLite cannot take its read mark.
SourceHealth check_live(const std::string& path) {
  if (signature(path + "-shm").there) return {};
  if (signature(path + "-wal").there && ::access(dir_name(path).c_str(), W_OK) != 0) {
    return refuse(
        SourceState::kForbidden, "permission",
        path +
            " has a write-ahead log but no -shm file, and its folder is not writable for this "
            "user: run Clawmark as the gateway's user, or give it write permission there");
  }
  if (::geteuid() != 0 && signature(path).owner != ::geteuid()) {
    return refuse(
        SourceState::kForbidden, "not_owner",
        path +
            " belongs to another user, whose gateway would be locked out by our side files: run "
            "Clawmark as that user");
  }
  return {};
}

}  // namespace

SourceHealth check_foreign_file(const std::string& path) {
  const auto now = signature(path);
  if (!now.there) {
    return errno == EACCES ? refuse(SourceState::kForbidden, "permission",
                                    path + " cannot be looked at: its folder forbids it")
                           : refuse(SourceState::kAbsent, "missing", path + " does not exist");
  }
  if (!S_ISREG(now.mode)) {
    return refuse(SourceState::kBroken, "not_a_file", path + " is not a regular file");
  }
  if (now.size == 0) {
    return refuse(SourceState::kNotInitialised, "empty",
                  path + " is empty: its owner has not initialised it yet; it is tried again");
  }
  if (const auto type = unsafe_filesystem(path); !type.empty()) {
    return refuse(SourceState::kForbidden, "network_filesystem",
                  path + " lies on " + type +
                      ", where SQLite's write-ahead log is unsafe: run Clawmark on the "
                      "gateway's machine");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    return refuse(SourceState::kForbidden, "permission",
                  path + " is not readable for this user: run Clawmark as the gateway's user");
  }
  return is_live(path) ? check_live(path) : SourceHealth{};
}

Status with_foreign_db(const std::string& path, const std::function<Status(Database&)>& read) {
  const SourceHealth health = check_foreign_file(path);
  if (health.state != SourceState::kOk) return source_error(health);
  const Signature before = signature(path);
  const bool live = is_live(path);
  Status status = Ok{};
  {
    auto db = Database::open(path, live ? OpenMode::kForeignReadOnly : OpenMode::kImmutable);
    if (!db.ok()) {
      status = std::move(db).error();
    } else {
      status = db->exec("PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; BEGIN");
      if (status.ok()) status = read(*db);
      if (db->in_transaction()) (void)db->exec("ROLLBACK");
    }
  }
  if (!live && (is_live(path) || signature(path) != before)) {
    return make_error(ErrorKind::kRetriable, "source", "busy",
                      path + " was opened by its owner while it was read");
  }
  return status;
}

SourceHealth health_of_error(const Error& error, const std::string& path) {
  if (error.stage == "source") {
    auto again = check_foreign_file(path);
    if (again.state != SourceState::kOk && again.reason == error.reason) return again;
    const auto state = error.reason == "busy"              ? SourceState::kBusy
                       : error.reason == "not_initialised" ? SourceState::kNotInitialised
                       : error.reason == "corrupt"         ? SourceState::kBroken
                                                           : SourceState::kIncompatible;
    return refuse(state, error.reason, error.message);
  }
  const std::string at = path + ": ";
  if (error.reason == "notadb") {
    return refuse(SourceState::kBroken, "not_a_database", at + "not a SQLite database");
  }
  if (error.reason == "corrupt") {
    return refuse(SourceState::kBroken, "corrupt",
                  at + "damaged (SQLITE_CORRUPT). Let its owner repair or "
                       "restore it");
  }
  if (error.reason == "busy" || error.reason == "locked" || error.reason == "interrupt") {
    return refuse(SourceState::kBusy, "busy", at + "held by its owner; it is tried again");
  }
  if (error.reason == "readonly" || error.reason == "perm" || error.reason == "cantopen") {
    return refuse(
        SourceState::kForbidden, "permission",
        at + "the folder must allow this user to use the database's -shm file: run Clawmark as the "
             "gateway's user");
  }
  return refuse(SourceState::kBroken, error.reason, at + "cannot be read (" + error.reason + ")");
}

std::string foreign_change_token(const std::string& path, std::int64_t settle_ms) {
  const auto now = SystemClock().now();
  std::string token;
  for (const char* suffix : {"", "-wal"}) {
    const auto s = signature(path + suffix);
    if (suffix[0] == '\0' && !s.there) return {};
    if (s.there && now.value - s.time_ns / 1'000'000 < settle_ms) return {};
    token += std::to_string(s.device) + ":" + std::to_string(s.inode) + ":" +
             std::to_string(s.size) + ":" + std::to_string(s.time_ns) + ";";
  }
  return token;
}

Result<std::vector<std::string>> table_columns(Database& db, std::string_view table) {
  CLAWMARK_ASSIGN(const auto kind,
                  db.query_text("SELECT type FROM sqlite_master WHERE name = ?", table));
  std::vector<std::string> columns;
  if (kind != "table") return columns;
  CLAWMARK_ASSIGN(auto statement, db.prepare("SELECT name, type FROM pragma_table_info(?)"));
  statement.with(table);
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) return columns;
    columns.push_back(statement.string(0) + " " + statement.string(1));
  }
}

bool has_column(const std::vector<std::string>& columns, std::string_view name) {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return column.size() > name.size() && column.starts_with(name) && column[name.size()] == ' ';
  });
}

Result<std::string> schema_fingerprint(Database& db, std::span<const std::string_view> tables) {
  std::string text;
  for (const auto table : tables) {
    CLAWMARK_ASSIGN(auto columns, table_columns(db, table));
    std::sort(columns.begin(), columns.end());
    for (const auto& column : columns) text.append(table).append(" ").append(column).append("\n");
  }
  return to_hex(sha256(text)).substr(0, 16);
}

}  // namespace clawmark
