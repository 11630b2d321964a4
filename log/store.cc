#include "log/store.h"

#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/logging.h"
#include "log/schema_state.h"

namespace clawmark {

struct Store::State {
  FileLock lock;  // first: released last
  std::string path;
  std::string origin;
  Database db;
  EventLog log;
};

namespace {

Error store_error(const char* reason, std::string message) {
  return make_error(ErrorKind::kFatal, "store", reason, std::move(message));
}

// What SQLite says of a file, as what it means for the one who has it, with the remedy.
Error unusable(const std::string& path, const Error& error) {
  if (error.stage != "sqlite") return error;
  if (error.reason == "corrupt" || error.reason == "notadb") {
    const std::string backup = newest_backup(path);
    return store_error(error.reason.c_str(),
                       path + " is damaged, or no database: keep it, and put back " +
                           (backup.empty() ? "a backup of your own" : backup));
  }
  if (error.reason == "readonly" || error.reason == "cantopen" || error.reason == "perm") {
    return store_error(error.reason.c_str(),
                       path +
                           " cannot be opened: the file and its folder must be readable and "
                           "writable for this user (side files are made beside it)");
  }
  Error named = error;
  named.message = path + ": " + error.message;
  return named;
}

// A folder or lock file that this user may not make, with the remedy.
Error out_of_reach(const std::string& path, const Error& error) {
  if (error.stage != "file" || error.reason == "full") return error;
  return store_error("forbidden", error.message + ": give this user the right to write in " +
                                      dir_name(path) + ", or choose another db_path");
}

template <class T>
Result<T> usable(const std::string& path, Result<T> result) {
  if (!result.ok()) return unusable(path, result.error());
  return result;
}

int latest(std::span<const Migration> schema) {
  return schema.empty() ? 0 : schema.back().number;
}

// Random (version 4) UUID: which node a log began on. The one place with real randomness.
Result<std::string> random_uuid() {
  std::array<std::uint8_t, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return store_error("random", "the system gives no random numbers");
  }
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  std::string out = to_hex(bytes);
  for (const std::size_t at : {20u, 16u, 12u, 8u}) out.insert(at, 1, '-');
  return out;
}

// The folder is ours when we make it or when it is the default one; another's is left as it is.
Status prepare_folder(const std::string& folder) {
  CLAWMARK_TRY(make_private_dir(folder));
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & 077) == 0) return Ok{};
  if (folder == data_dir() && ::chmod(folder.c_str(), 0700) == 0) return Ok{};
  log_warning("store", "folder " + folder + " is open to other users; the files in it are not");
  return Ok{};
}

// Links followed, so that one file has one lock whatever name it is opened by.
Result<std::string> real_path(const std::string& path) {
  char buffer[PATH_MAX];
  if (::realpath(path.c_str(), buffer) != nullptr) return std::string(buffer);
  const ssize_t length = ::readlink(path.c_str(), buffer, sizeof buffer);
  std::string target = path;
  if (length > 0) {
    target = join_path(dir_name(path), {buffer, static_cast<std::size_t>(length)});
    CLAWMARK_TRY(prepare_folder(dir_name(target)));
  }
  if (::realpath(dir_name(target).c_str(), buffer) == nullptr) {
    return store_error("path", "no such folder: " + dir_name(target));
  }
  return join_path(buffer, base_name(target));
}

// A second name of the same file (a hard link) would have a lock and a write-ahead log of its own.
Status refuse_second_name(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || info.st_nlink < 2) return Ok{};
  return store_error("linked", path + " has " + std::to_string(info.st_nlink) +
                                   " names (hard links), and what is written through one damages "
                                   "what is written through the other: find them with `find " +
                                   dir_name(path) + " -xdev -samefile " + path +
                                   "` (or from a folder above), remove all but this, and copy "
                                   "with `clawmark backup`");
}

void make_files_private(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat info{};
    const std::string file = path + suffix;
    if (::stat(file.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
      ::chmod(file.c_str(), 0600);
    }
  }
}

Status bring_up_to_date(Database& db, const std::string& path, const StoreOptions& options,
                        const Clock& clock) {
  const int known = latest(options.schema);
  CLAWMARK_ASSIGN(const int version, schema_version(db));
  if (version > known) return newer_schema_error(path, version, known);
  if (version > 0 && version < known) CLAWMARK_TRY(back_up(db, path, version));
  CLAWMARK_TRY(migrate(db, options.schema, clock));
  CLAWMARK_TRY(check_shape(db, options.schema));
  return EventLog::check_dense(db);
}

Result<std::string> load_origin(Database& db) {
  CLAWMARK_ASSIGN(auto origin, db.query_text("SELECT value FROM meta WHERE key = 'origin'"));
  if (origin) return *std::move(origin);
  CLAWMARK_ASSIGN(auto fresh, random_uuid());
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db, Durability::kFull));
  CLAWMARK_TRY(db.run("INSERT INTO meta(key, value) VALUES ('origin', ?)", fresh));
  CLAWMARK_TRY(txn.commit());
  return fresh;
}

// Without touching the file or making one beside it. Without its lock somebody may be making or
// changing it: then whoever opens it next says what is wrong.
Status refuse_newer(const std::string& path, int known) {
  const auto version = inspect_schema_version(path);
  if (version.ok() && *version > known) return newer_schema_error(path, *version, known);
  return Ok{};
}

}  // namespace

Result<Store> Store::open(const StoreOptions& options, const Clock& clock) {
  if (const Status made = prepare_folder(dir_name(options.path)); !made.ok()) {
    return out_of_reach(options.path, made.error());
  }
  CLAWMARK_ASSIGN(const std::string path, real_path(options.path));
  if (const auto type = options.unsafe_filesystem(dir_name(path)); !type.empty()) {
    return store_error("unsafe_filesystem",
                       path + " lies on a file system (" + type +
                           ") on which a database with a "
                           "write-ahead log can be damaged: choose a db_path on a local disk");
  }
  CLAWMARK_TRY(refuse_newer(path, latest(options.schema)));  // before a lock file is made
  CLAWMARK_TRY(refuse_second_name(path));
  auto lock = FileLock::acquire(path + ".lock", options.holder);
  if (!lock.ok()) return out_of_reach(path, lock.error());
  CLAWMARK_ASSIGN(const int version, usable(path, inspect_schema_version(path)));
  if (version > latest(options.schema)) {
    return newer_schema_error(path, version, latest(options.schema));
  }
  CLAWMARK_ASSIGN(auto db, usable(path, Database::open(path, OpenMode::kReadWriteCreate)));
  make_files_private(path);
  if (const auto ready = bring_up_to_date(db, path, options, clock); !ready.ok()) {
    return unusable(path, ready.error());
  }
  CLAWMARK_ASSIGN(auto origin, load_origin(db));
  EventLog log(clock, origin);
  return Store(std::make_unique<State>(
      State{std::move(*lock), path, std::move(origin), std::move(db), std::move(log)}));
}

Result<Database> Store::open_read_only(const std::string& path) {
  const auto file = stat_file(path);
  if (!file && ::access(path.c_str(), F_OK) != 0 && errno == EACCES) {
    return store_error("forbidden", path +
                                        " cannot be seen by this user: look as the user of the "
                                        "service, or choose another db_path");
  }
  if (!file || file->size == 0) {
    return make_error(ErrorKind::kNotFound, "store", "missing",
                      "there is no store at " + path + " yet: start clawmarkd once");
  }
  CLAWMARK_TRY(refuse_second_name(path));
  const int known = latest(migrations());
  CLAWMARK_TRY(refuse_newer(path, known));
  CLAWMARK_ASSIGN(auto db, usable(path, Database::open(path, OpenMode::kReadOnly)));
  CLAWMARK_ASSIGN(const int version, usable(path, schema_version(db)));
  if (version > known) return newer_schema_error(path, version, known);
  if (version == 0) {
    return make_error(ErrorKind::kNotFound, "store", "missing",
                      "the store at " + path + " is still being made: start clawmarkd once");
  }
  if (version < known) {
    return store_error("schema_older", path + " has schema " + std::to_string(version) +
                                           ", this program needs " + std::to_string(known) +
                                           ": start clawmarkd once, it brings it up to date");
  }
  return db;
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Database& Store::db() {
  return state_->db;
}
EventLog& Store::log() {
  return state_->log;
}
const std::string& Store::path() const {
  return state_->path;
}
const std::string& Store::origin() const {
  return state_->origin;
}

}  // namespace clawmark
