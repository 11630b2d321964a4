#include "log/copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/files.h"
#include "log/store.h"

namespace clawmark {
namespace {

Error backup_error(ErrorKind kind, const char* reason, std::string message) {
  return make_error(kind, "backup", reason, std::move(message));
}

Error target_error(const std::string& path) {
  const bool exists = errno == EEXIST;
  return backup_error(ErrorKind::kInvalid, exists ? "exists" : "target",
                      exists ? path + " is there already, and nothing is overwritten"
                             : "cannot write " + path + ": " + std::strerror(errno));
}

Status sync_path(const std::string& path, int flags) {
  const Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return target_error(path);
  return Ok{};
}

Result<StoreCopy> check_copy(const std::string& path) {
  CLAWMARK_ASSIGN(auto db, Database::open(path, OpenMode::kImmutable));
  CLAWMARK_ASSIGN(auto pages, db.prepare("PRAGMA integrity_check(1000000)"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, pages.step());
    if (!row) break;
    if (pages.text(0) == "ok") continue;
    return backup_error(ErrorKind::kFatal, "damaged", "the copy's pages are damaged");
  }
  CLAWMARK_ASSIGN(const LogCheck log, EventLog::verify(db));
  if (!log.dense || !log.chain_valid) {
    return backup_error(ErrorKind::kFatal, "damaged",
                        "the log does not hold from event " +
                            std::to_string(log.first_bad.value_or(Seq{}).value) +
                            " on: see clawmark verify; no copy was kept");
  }
  StoreCopy out;
  out.events = log.events;
  if (const auto file = stat_file(path)) out.bytes = static_cast<std::int64_t>(file->size);
  return out;
}

Result<StoreCopy> make_copy(Database& db, const std::string& path) {
  {
    // SQLite would take the mode from the umask; an empty file is what it may write to.
    const Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid()) return target_error(path);
  }
  CLAWMARK_TRY(db.run("VACUUM INTO ?", path));
  CLAWMARK_TRY(sync_path(path, O_RDWR));
  return check_copy(path);
}

}  // namespace

Result<StoreCopy> copy_store(const std::string& from, const std::string& to) {
  if (::access(to.c_str(), F_OK) == 0) {
    errno = EEXIST;
    return target_error(to);
  }
  CLAWMARK_ASSIGN(auto db, Store::open_read_only(from));
  // Forbids even VACUUM INTO another file. The connection itself cannot write to the store.
  CLAWMARK_TRY(db.exec("PRAGMA query_only = OFF"));
  const std::string temporary = to + ".part" + std::to_string(::getpid());
  auto copied = make_copy(db, temporary);
  if (copied.ok() &&
      ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    copied = target_error(to);
  }
  if (!copied.ok()) {
    ::unlink(temporary.c_str());
    return copied;
  }
  CLAWMARK_TRY(sync_path(dir_name(to), O_RDONLY | O_DIRECTORY));
  return copied;
}

}  // namespace clawmark
