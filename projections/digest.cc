#include "projections/digest.h"

namespace clawmark {

Status hash_rows(Database& db, const std::string& sql, int columns, Sha256& into) {
  CLAWMARK_ASSIGN(auto statement, db.prepare(sql));
  std::string row;
  for (;;) {
    CLAWMARK_ASSIGN(const bool more, statement.step());
    if (!more) break;
    row.clear();
    for (int column = 0; column < columns; ++column) {
      if (statement.is_null(column)) {
        row += "-;";
        continue;
      }
      const std::string_view text = statement.text(column);
      row += std::to_string(text.size());
      row += ':';
      row += text;
    }
    row += '\n';
    into.update(row);
  }
  into.update("end\n");
  return Ok{};
}

}  // namespace clawmark
