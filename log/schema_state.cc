#include "log/schema_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "base/logging.h"

namespace clawmark {
namespace {

Error store_error(const char* reason, std::string message) {
  return make_error(ErrorKind::kFatal, "store", reason, std::move(message));
}

std::string backup_path(const std::string& path, int version) {
  return path + ".v" + std::to_string(version) + ".bak";
}

Status sync_file(const std::string& path, int flags) {
  const Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (fd.valid() && ::fsync(fd.get()) == 0) return Ok{};
  return make_error(ErrorKind::kRetriable, "store", "sync", "cannot sync " + path);
}

Status apply(Database& db, const Migration& migration, const Clock& clock) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db, Durability::kFull));
  CLAWMARK_TRY(db.exec(std::string(migration.sql)));
  CLAWMARK_TRY(db.run("INSERT INTO schema_version(version, applied_at) VALUES (?, ?)",
                      migration.number, format_iso(clock.now())));
  CLAWMARK_TRY(
      db.run("INSERT INTO meta(key, value) VALUES ('schema', ?)"
             " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
             std::to_string(migration.number)));
  return txn.commit();
}

}  // namespace

Result<int> schema_version(Database& db) {
  CLAWMARK_ASSIGN(const auto tables,
                  db.query_int("SELECT count(*) FROM sqlite_schema WHERE type = 'table'"));
  if (tables.value_or(0) == 0) return 0;
  CLAWMARK_ASSIGN(const auto ledger, db.query_int("SELECT count(*) FROM sqlite_schema WHERE"
                                                  " type = 'table' AND name = 'schema_version'"));
  if (ledger.value_or(0) == 0) {
    return store_error("not_a_store", db.path() + " is a database, but not a store of Clawmark");
  }
  CLAWMARK_ASSIGN(const auto version, db.query_int("SELECT max(version) FROM schema_version"));
  return static_cast<int>(version.value_or(0));
}

std::string newest_backup(const std::string& path) {
  const std::string prefix = base_name(path) + ".v";
  int newest = 0;
  for (const std::string& name : list_dir(dir_name(path))) {
    if (!name.starts_with(prefix) || !name.ends_with(".bak")) continue;
    int version = 0;
    const char* end = name.data() + name.size() - 4;
    const auto parsed = std::from_chars(name.data() + prefix.size(), end, version);
    if (parsed.ec == std::errc() && parsed.ptr == end) newest = std::max(newest, version);
  }
  return newest == 0 ? std::string() : backup_path(path, newest);
}

Result<int> inspect_schema_version(const std::string& path) {
  const auto file = stat_file(path);
  if (!file || file->size == 0) return 0;
  // A rollback journal is only there when the very first opening was cut short, or a restored
  // backup's: opening it for writing is what repairs it, and the version is asked again then.
  if (stat_file(path + "-journal")) return 0;
  const auto wal = stat_file(path + "-wal");
  const OpenMode mode = wal && wal->size > 0 ? OpenMode::kForeignReadOnly : OpenMode::kImmutable;
  CLAWMARK_ASSIGN(auto db, Database::open(path, mode));
  return schema_version(db);
}

Error newer_schema_error(const std::string& path, int found, int known) {
  const std::string backup = newest_backup(path);
  return store_error("schema_newer",
                     path + " has schema " + std::to_string(found) + ", this program knows " +
                         std::to_string(known) + ": use the newer program, or put back " +
                         (backup.empty() ? "a backup of your own" : "the backup " + backup));
}

Status back_up(Database& db, const std::string& path, int version) {
  const std::string target = backup_path(path, version);
  const std::string temporary = target + ".tmp";
  ::unlink(temporary.c_str());
  {
    // SQLite would take the mode from the umask; an empty file is what it may write to.
    const Fd fd(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid()) return store_error("backup", "cannot make the backup " + temporary);
  }
  CLAWMARK_TRY(db.run("VACUUM INTO ?", temporary));
  CLAWMARK_TRY(sync_file(temporary, O_RDWR));
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    return store_error("backup", "cannot put the backup in place as " + target);
  }
  return sync_file(dir_name(target), O_RDONLY | O_DIRECTORY);
}

Status migrate(Database& db, std::span<const Migration> schema, const Clock& clock) {
  CLAWMARK_ASSIGN(const int version, schema_version(db));
  for (const Migration& migration : schema) {
    if (migration.number <= version) continue;
    const auto done = apply(db, migration, clock);
    if (!done.ok()) {
      Error error = done.error();
      error.message = "migration " + std::string(migration.name) +
                      " failed and was rolled back: " + error.message;
      if (error.kind != ErrorKind::kRetriable) {
        error.kind = ErrorKind::kFatal;
        error.stage = "store";
        error.reason = "migration";
      }
      return error;
    }
  }
  return Ok{};
}

}  // namespace clawmark
