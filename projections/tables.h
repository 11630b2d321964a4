#pragma once
// SQL of one generation of one projection. In its literals '#' stands for the generation and '@'
// for the projection's prefix: "SELECT value FROM facts__g# …", "… FROM @_deleted__g# …".

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

std::string generation_sql(std::string_view sql, std::string_view prefix, int generation);

// Prepared statements by the address of their literal. One object serves one batch on one thread.
class Tables {
 public:
  Tables(Database& db, std::string_view prefix, int generation)
      : db_(&db), prefix_(prefix), generation_(generation) {}

  // `sql` must be a literal. The statement is reset; the pointer lives as long as the connection.
  Result<Statement*> get(const char* sql);

  template <class... Args>
  Status run(const char* sql, const Args&... args) {
    CLAWMARK_ASSIGN(Statement * statement, get(sql));
    return statement->with(args...).run();
  }
  // First column of the first row; nullopt when there is none or it is NULL.
  template <class... Args>
  Result<std::optional<std::int64_t>> query_int(const char* sql, const Args&... args) {
    CLAWMARK_ASSIGN(Statement * statement, get(sql));
    CLAWMARK_ASSIGN(const bool row, statement->with(args...).step());
    std::optional<std::int64_t> value;
    if (row && !statement->is_null(0)) value = statement->integer(0);
    statement->reset();
    return value;
  }
  // Calls `each(statement)` for every row.
  template <class Each, class... Args>
  Status each(const char* sql, const Each& each_row, const Args&... args) {
    CLAWMARK_ASSIGN(Statement * statement, get(sql));
    statement->with(args...);
    for (;;) {
      CLAWMARK_ASSIGN(const bool row, statement->step());
      if (!row) break;
      each_row(*statement);
    }
    statement->reset();
    return Ok{};
  }

  Database& db() const { return *db_; }
  int generation() const { return generation_; }

 private:
  Database* db_;
  std::string prefix_;
  int generation_;
  std::unordered_map<const char*, Statement*> statements_;
};

}  // namespace clawmark
