#include "projections/graph_merges.h"

#include "projections/graph_names.h"
#include "projections/graph_rows.h"
#include "projections/text_list.h"

namespace clawmark {

Result<std::vector<GraphMergeRow>> list_merges(Database& db, const GraphScope& scope,
                                               std::string_view name, std::size_t limit) {
  const std::string key = name_key(name);
  std::vector<GraphMergeRow> out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT holder, type, from_key, into_key, source FROM graph_merges WHERE agent = ?1 AND "
      "undone = 0 AND holder IN (SELECT value FROM json_each(?2)) AND (?3 = '' OR from_key = ?3 "
      "OR into_key = ?3) ORDER BY at_ms DESC, holder, type, from_key, into_key LIMIT ?4",
      [&](Statement& row) {
        out.push_back({row.string(0), row.string(1), row.string(2), row.string(3), row.string(4)});
      },
      scope.agent, text_list(scope.holders), key, limit));
  return out;
}

}  // namespace clawmark
