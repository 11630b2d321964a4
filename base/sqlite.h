#pragma once
// SQLite handles with owners. Errors are values; a destructor rolls back or finalizes.
// Error mapping: BUSY, LOCKED, IOERR, FULL, CANTOPEN → retriable; CORRUPT, NOTADB, SCHEMA misuse →
// fatal; CONSTRAINT → conflict. stage is "sqlite"; reason the code's name in lower case without
// "SQLITE_".

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace clawmark {

class Database;

// A prepared statement. Text and blobs are copied on bind. Not shared between threads.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;
  ~Statement();

  // Parameters are numbered from 1.
  void bind(int index, std::int64_t value);
  void bind(int index, int value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, std::size_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, bool value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, double value);
  void bind(int index, std::string_view text);
  void bind(int index, const char* text) { bind(index, std::string_view(text)); }
  void bind(int index, const std::string& text) { bind(index, std::string_view(text)); }
  void bind(int index, std::span<const std::uint8_t> blob);
  void bind(int index, const Hash256& hash) { bind(index, hash.span()); }
  void bind(int index, TimeMs time) { bind(index, time.value); }
  void bind(int index, std::nullptr_t);
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    value ? bind(index, *value) : bind(index, nullptr);
  }
  // Resets, then binds all parameters in order.
  template <class... Args>
  Statement& with(const Args&... args) {
    reset();
    int index = 0;
    (bind(++index, args), ...);
    return *this;
  }

  Result<bool> step();  // true: a row is there; false: done
  Status run();         // steps to the end and resets; for statements without rows
  void reset();

  // Columns are numbered from 0. Views live until the next step, reset or move.
  bool is_null(int column) const;
  bool is_text(int column) const;
  bool is_integer(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // NUL bytes kept
  std::string string(int column) const { return std::string(text(column)); }
  std::span<const std::uint8_t> blob(int column) const;
  Hash256 hash(int column) const;  // zero when the blob is not 32 bytes
  TimeMs time(int column) const { return {integer(column)}; }

 private:
  friend class Database;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  sqlite3_stmt* handle_ = nullptr;
};

enum class OpenMode {
  kReadWriteCreate,  // ours: WAL, foreign keys, secure_delete, busy_timeout 5 s, file mode 0600
  kReadOnly,         // ours, for readers beside the daemon: query_only, busy_timeout 5 s
  kImmutable,        // a file nobody has open: no side files are made; ignores a -wal
  kForeignReadOnly,  // the host's: mode=ro, query_only, mmap off, busy_timeout 250 ms, nothing else
};

// One connection. Not shared between threads.
class Database {
 public:
  static Result<Database> open(const std::string& path, OpenMode mode);
  static Result<Database> open_memory();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  Status exec(const std::string& sql);  // one or more statements, no parameters
  Result<Statement> prepare(std::string_view sql);
  // A statement kept by the connection under its text; reset before it is handed out. The pointer
  // lives as long as the connection. Never hold it across a call that may use the same text.
  Result<Statement*> cached(std::string_view sql);
  // First column of the first row; nullopt when there is no row or it is NULL.
  template <class... Args>
  Result<std::optional<std::int64_t>> query_int(std::string_view sql, const Args&... args);
  template <class... Args>
  Result<std::optional<std::string>> query_text(std::string_view sql, const Args&... args);
  template <class... Args>
  Status run(std::string_view sql, const Args&... args);

  std::int64_t changes() const;  // rows of the last statement
  std::int64_t last_insert_rowid() const;
  bool in_transaction() const;
  sqlite3* handle() const;
  const std::string& path() const;
  // Interrupts a running statement once `stop` says so; asked every few thousand VM steps.
  void set_progress(std::function<bool()> stop);

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  Error error(std::string_view doing) const;
  std::unique_ptr<State> state_;
};

Error sqlite_error(int code, std::string_view doing, std::string_view detail);

// What a commit waits for. FULL survives power loss; NORMAL survives kill -9.
enum class Durability { kNormal, kFull };

// BEGIN IMMEDIATE … COMMIT; rolls back when destroyed without commit().
class Transaction {
 public:
  static Result<Transaction> begin(Database& db, Durability durability = Durability::kNormal);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();
  Database& db() const { return *db_; }

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_;
};

template <class... Args>
Result<std::optional<std::int64_t>> Database::query_int(std::string_view sql, const Args&... args) {
  CLAWMARK_ASSIGN(Statement * statement, cached(sql));
  CLAWMARK_ASSIGN(const bool row, statement->with(args...).step());
  std::optional<std::int64_t> value;
  if (row && !statement->is_null(0)) value = statement->integer(0);
  statement->reset();
  return value;
}

template <class... Args>
Result<std::optional<std::string>> Database::query_text(std::string_view sql, const Args&... args) {
  CLAWMARK_ASSIGN(Statement * statement, cached(sql));
  CLAWMARK_ASSIGN(const bool row, statement->with(args...).step());
  std::optional<std::string> value;
  if (row && !statement->is_null(0)) value = statement->string(0);
  statement->reset();
  return value;
}

template <class... Args>
Status Database::run(std::string_view sql, const Args&... args) {
  CLAWMARK_ASSIGN(Statement * statement, cached(sql));
  return statement->with(args...).run();
}

}  // namespace clawmark
