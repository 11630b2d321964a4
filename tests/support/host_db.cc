#include "tests/support/host_db.h"

#include <stdexcept>

namespace clawmark::support {
namespace {

[[noreturn]] void fail(sqlite3* db, std::string_view doing) {
  throw std::runtime_error(std::string(doing) + ": " + sqlite3_errmsg(db));
}

// The host's SQLite (3.43 and later) has it; its CHECK clauses use it.
void octet_length(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  sqlite3_result_int64(context, sqlite3_value_bytes(values[0]));
}

Value column(sqlite3_stmt* statement, int index) {
  const auto bytes = [&](const void* data) {
    const int size = sqlite3_column_bytes(statement, index);
    return data == nullptr ? std::string()
                           : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
  };
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, index);
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_BLOB:
      return Blob{bytes(sqlite3_column_blob(statement, index))};
    default:
      return bytes(sqlite3_column_text(statement, index));
  }
}

void bind(sqlite3_stmt* statement, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int index = static_cast<int>(i) + 1;
    if (const auto* number = std::get_if<std::int64_t>(&values[i])) {
      sqlite3_bind_int64(statement, index, *number);
    } else if (const auto* text = std::get_if<std::string>(&values[i])) {
      sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    } else if (const auto* blob = std::get_if<Blob>(&values[i])) {
      sqlite3_bind_blob64(statement, index, blob->bytes.data(), blob->bytes.size(),
                          SQLITE_TRANSIENT);
    } else {
      sqlite3_bind_null(statement, index);
    }
  }
}

}  // namespace

HostDb::HostDb(const std::string& path) {
  if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) {
    throw std::runtime_error("cannot open " + path);
  }
  sqlite3_busy_timeout(db_, 5000);
  sqlite3_create_function(db_, "octet_length", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                          octet_length, nullptr, nullptr);
}

HostDb::~HostDb() {
  sqlite3_close(db_);
}

void HostDb::exec(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(db_, sql.substr(0, 80));
  }
}

std::vector<std::vector<Value>> HostDb::rows(std::string_view sql,
                                             const std::vector<Value>& values) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    fail(db_, sql);
  }
  bind(statement, values);
  std::vector<std::vector<Value>> out;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    std::vector<Value> row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(column(statement, i));
    out.push_back(std::move(row));
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) fail(db_, sql);
  return out;
}

void HostDb::run(std::string_view sql, const std::vector<Value>& values) {
  rows(sql, values);
}

std::int64_t HostDb::integer(std::string_view sql, const std::vector<Value>& values) {
  const auto found = rows(sql, values);
  if (found.empty()) return -1;
  const auto* number = std::get_if<std::int64_t>(&found.front().front());
  return number == nullptr ? -1 : *number;
}

}  // namespace clawmark::support
