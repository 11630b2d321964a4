#include "base/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <unordered_map>

#include "base/sqlite_uri.h"

namespace clawmark {
namespace {

std::pair<ErrorKind, const char*> classify(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
      return {ErrorKind::kRetriable, "busy"};
    case SQLITE_LOCKED:
      return {ErrorKind::kRetriable, "locked"};
    case SQLITE_IOERR:
      return {ErrorKind::kRetriable, "ioerr"};
    case SQLITE_FULL:
      return {ErrorKind::kRetriable, "full"};
    case SQLITE_CANTOPEN:
      return {ErrorKind::kRetriable, "cantopen"};
    case SQLITE_INTERRUPT:
      return {ErrorKind::kRetriable, "interrupt"};
    case SQLITE_NOMEM:
      return {ErrorKind::kRetriable, "nomem"};
    case SQLITE_CORRUPT:
      return {ErrorKind::kFatal, "corrupt"};
    case SQLITE_NOTADB:
      return {ErrorKind::kFatal, "notadb"};
    case SQLITE_READONLY:
      return {ErrorKind::kFatal, "readonly"};
    case SQLITE_PERM:
      return {ErrorKind::kFatal, "perm"};
    case SQLITE_AUTH:
      return {ErrorKind::kFatal, "auth"};
    case SQLITE_CONSTRAINT:
      return {ErrorKind::kConflict, "constraint"};
    case SQLITE_TOOBIG:
      return {ErrorKind::kInvalid, "toobig"};
    case SQLITE_MISUSE:
      return {ErrorKind::kFatal, "misuse"};
    default:
      return {ErrorKind::kFatal, "error"};
  }
}

int open_flags(OpenMode mode) {
  const int base = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (mode == OpenMode::kReadWriteCreate) {
    return base | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return base | SQLITE_OPEN_READONLY;
}

const char* pragmas(OpenMode mode) {
  switch (mode) {
    case OpenMode::kReadWriteCreate:
      return "PRAGMA busy_timeout=5000; PRAGMA journal_mode=WAL; PRAGMA foreign_keys=ON;"
             "PRAGMA secure_delete=ON; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32768;"
             "PRAGMA trusted_schema=OFF; PRAGMA recursive_triggers=ON; PRAGMA temp_store=MEMORY;"
             // Random keys dirty the same index pages in every batch: a rarer checkpoint writes
             // them back once for many batches.
             "PRAGMA wal_autocheckpoint=12000; PRAGMA journal_size_limit=67108864;";
    case OpenMode::kReadOnly:
      return "PRAGMA query_only=ON; PRAGMA busy_timeout=5000; PRAGMA trusted_schema=OFF;"
             "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-32768;";
    case OpenMode::kImmutable:
      return "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF;";
    case OpenMode::kForeignReadOnly:
      return "PRAGMA busy_timeout=250; PRAGMA query_only=ON; PRAGMA mmap_size=0;"
             "PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON;";
  }
  return "";
}

const char* uri_query(OpenMode mode) {
  if (mode == OpenMode::kReadWriteCreate) return "";
  return mode == OpenMode::kImmutable ? "?mode=ro&immutable=1" : "?mode=ro";
}

// Whether the file or its disk failed, whatever the statement was: then people are told the file.
bool is_of_the_file(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_PROTOCOL:
      return true;
    default:
      return false;
  }
}

// Without counts of memory, which nobody asks for, allocations need no lock that all connections
// share. Refused, to no harm, once the library has begun.
void count_no_memory() {
  [[maybe_unused]] static const int configured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

}  // namespace

std::string file_uri(const std::string& path, std::string_view query) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += '%';
      uri += kHex[static_cast<unsigned char>(c) >> 4];
      uri += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      uri += c;
    }
  }
  return uri.append(query);
}

Error sqlite_error(int code, std::string_view doing, std::string_view detail) {
  const auto [kind, reason] = classify(code);
  std::string message(doing);
  message.append(": ").append(detail);
  return make_error(kind, "sqlite", reason, std::move(message));
}

// --- Statement ---------------------------------------------------------------------------------

Statement::Statement(Statement&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

void Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(handle_, index, value);
}
void Statement::bind(int index, double value) {
  sqlite3_bind_double(handle_, index, value);
}
void Statement::bind(int index, std::nullptr_t) {
  sqlite3_bind_null(handle_, index);
}

void Statement::bind(int index, std::string_view text) {
  // An empty view may hold a null pointer, which SQLite would take for NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(handle_, index, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind(int index, std::span<const std::uint8_t> blob) {
  if (blob.empty()) {
    sqlite3_bind_zeroblob(handle_, index, 0);
    return;
  }
  sqlite3_bind_blob64(handle_, index, blob.data(), blob.size(), SQLITE_TRANSIENT);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(handle_);
  const char* file = sqlite3_db_filename(db, "main");
  const bool named = file != nullptr && *file != '\0' && is_of_the_file(code);
  auto error = sqlite_error(code, named ? file : sqlite3_sql(handle_), sqlite3_errmsg(db));
  sqlite3_reset(handle_);
  return error;
}

Status Statement::run() {
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, step());
    if (!row) break;
  }
  reset();
  return Ok{};
}

void Statement::reset() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

bool Statement::is_null(int c) const {
  return sqlite3_column_type(handle_, c) == SQLITE_NULL;
}
bool Statement::is_text(int c) const {
  return sqlite3_column_type(handle_, c) == SQLITE_TEXT;
}
bool Statement::is_integer(int c) const {
  return sqlite3_column_type(handle_, c) == SQLITE_INTEGER;
}
std::int64_t Statement::integer(int c) const {
  return sqlite3_column_int64(handle_, c);
}
double Statement::real(int c) const {
  return sqlite3_column_double(handle_, c);
}

std::string_view Statement::text(int c) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, c));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, c))};
}

std::span<const std::uint8_t> Statement::blob(int c) const {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(handle_, c));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, c))};
}

Hash256 Statement::hash(int c) const {
  Hash256 out;
  const auto bytes = blob(c);
  if (bytes.size() == out.bytes.size()) std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
  return out;
}

// --- Database ----------------------------------------------------------------------------------

struct Database::State {
  sqlite3* handle = nullptr;
  std::string path;
  std::function<bool()> stop;
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, Statement, TextHash, std::equal_to<>> statements;
  ~State() {
    statements.clear();
    sqlite3_close_v2(handle);
  }
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& path, OpenMode mode) {
  count_no_memory();
  if (mode == OpenMode::kReadWriteCreate) {
    // SQLite would create the file by umask; side files take the mode of the main file.
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) ::close(fd);
  }
  auto state = std::make_unique<State>();
  state->path = path;
  const std::string uri = file_uri(path, uri_query(mode));
  const int code = sqlite3_open_v2(uri.c_str(), &state->handle, open_flags(mode), nullptr);
  if (code != SQLITE_OK) {
    return sqlite_error(code, "open " + path,
                        state->handle ? sqlite3_errmsg(state->handle) : sqlite3_errstr(code));
  }
  Database db(std::move(state));
  CLAWMARK_TRY(db.exec(pragmas(mode)));
  if (mode == OpenMode::kReadWriteCreate) {
    CLAWMARK_ASSIGN(const auto journal, db.query_text("PRAGMA journal_mode"));
    if (journal != "wal") {
      return sqlite_error(SQLITE_CANTOPEN, "open " + path, "no write-ahead log can be made there");
    }
  }
  return db;
}

Result<Database> Database::open_memory() {
  count_no_memory();
  auto state = std::make_unique<State>();
  state->path = ":memory:";
  // Names of files that are attached may be URIs, as everywhere.
  const int code = sqlite3_open_v2(":memory:", &state->handle,
                                   SQLITE_OPEN_URI | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                       SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                   nullptr);
  if (code != SQLITE_OK) return sqlite_error(code, "open memory", sqlite3_errstr(code));
  Database db(std::move(state));
  CLAWMARK_TRY(db.exec("PRAGMA foreign_keys=ON; PRAGMA recursive_triggers=ON;"));
  return db;
}

Error Database::error(std::string_view doing) const {
  return sqlite_error(sqlite3_extended_errcode(handle()), doing, sqlite3_errmsg(handle()));
}

Status Database::exec(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return error(std::string_view(sql).substr(0, 120));
  }
  return Ok{};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle_out = nullptr;
  const int code = sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle_out, nullptr);
  if (code != SQLITE_OK) return error(sql.substr(0, 120));
  return Statement(handle_out);
}

Result<Statement*> Database::cached(std::string_view sql) {
  const auto found = state_->statements.find(sql);
  if (found != state_->statements.end()) {
    found->second.reset();
    return &found->second;
  }
  CLAWMARK_ASSIGN(auto statement, prepare(sql));
  return &state_->statements.emplace(std::string(sql), std::move(statement)).first->second;
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle());
}
std::int64_t Database::last_insert_rowid() const {
  return sqlite3_last_insert_rowid(handle());
}
bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle()) == 0;
}
sqlite3* Database::handle() const {
  return state_->handle;
}
const std::string& Database::path() const {
  return state_->path;
}

void Database::set_progress(std::function<bool()> stop) {
  state_->stop = std::move(stop);
  if (!state_->stop) {
    sqlite3_progress_handler(handle(), 0, nullptr, nullptr);
    return;
  }
  sqlite3_progress_handler(
      handle(), 4000, [](void* s) { return static_cast<State*>(s)->stop() ? 1 : 0; }, state_.get());
}

// --- Transaction -------------------------------------------------------------------------------

Result<Transaction> Transaction::begin(Database& db, Durability durability) {
  CLAWMARK_TRY(db.run(durability == Durability::kFull ? "PRAGMA synchronous=FULL"
                                                      : "PRAGMA synchronous=NORMAL"));
  CLAWMARK_TRY(db.run("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Transaction::Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}

Transaction::~Transaction() {
  if (db_ != nullptr && db_->in_transaction()) (void)db_->run("ROLLBACK");
}

Status Transaction::commit() {
  CLAWMARK_TRY(db_->run("COMMIT"));
  db_ = nullptr;
  return Ok{};
}

}  // namespace clawmark
