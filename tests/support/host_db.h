#pragma once
// The host's own way to hold a database: a plain read-write connection, none of our pragmas.

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clawmark::support {

struct Blob {
  std::string bytes;
};
using Value = std::variant<std::nullptr_t, std::int64_t, std::string, Blob>;
inline Value null_if_empty(const std::string& text) {
  return text.empty() ? Value(nullptr) : Value(text);
}

// Throws std::runtime_error with SQLite's message.
class HostDb {
 public:
  explicit HostDb(const std::string& path);
  ~HostDb();
  HostDb(const HostDb&) = delete;
  HostDb& operator=(const HostDb&) = delete;

  void exec(const std::string& sql);
  void run(std::string_view sql, const std::vector<Value>& values = {});
  std::vector<std::vector<Value>> rows(std::string_view sql, const std::vector<Value>& values = {});
  std::int64_t integer(std::string_view sql, const std::vector<Value>& values = {});
  std::int64_t last_id() const { return sqlite3_last_insert_rowid(db_); }
  sqlite3* handle() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace clawmark::support
