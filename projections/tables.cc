#include "projections/tables.h"

namespace clawmark {

std::string generation_sql(std::string_view sql, std::string_view prefix, int generation) {
  std::string out;
  out.reserve(sql.size() + 64);
  for (const char c : sql) {
    if (c == '#') {
      out += std::to_string(generation);
    } else if (c == '@') {
      out += prefix;
    } else {
      out += c;
    }
  }
  return out;
}

Result<Statement*> Tables::get(const char* sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) {
    found->second->reset();
    return found->second;
  }
  CLAWMARK_ASSIGN(Statement * statement, db_->cached(generation_sql(sql, prefix_, generation_)));
  statements_.emplace(sql, statement);
  return statement;
}

}  // namespace clawmark
