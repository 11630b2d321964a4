#include "projections/graph_blocked.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "projections/graph_rows.h"

namespace clawmark {
namespace {

constexpr std::size_t kTies = 20;

bool is_over(const GraphNodeRow& row) {
  return row.status == "done" || row.status == "cancelled";
}

// Who does a task, and what is in its way, newest first; each once.
Result<std::vector<GraphEdgeRow>> open_ties(Database& db, const GraphScope& scope,
                                            std::string_view key) {
  static const std::string kSql =
      std::string("SELECT ") + kEdgeColumns +
      " FROM graph_edges WHERE agent = ?1 AND from_key = ?2 AND from_type = 'task' AND holder = ?3 "
      "AND type IN ('ASSIGNED_TO', 'BLOCKED_BY') AND until_ms IS NULL ORDER BY from_ms DESC, type, "
      "to_type, to_key LIMIT ?4";
  std::vector<GraphEdgeRow> edges;
  if (scope.is_then()) {
    CLAWMARK_ASSIGN(edges, edges_of(db, scope, "task", key, false, kTies));
    std::erase_if(edges, [&](const GraphEdgeRow& edge) {
      const bool ties_it = edge.type == "ASSIGNED_TO" || edge.type == "BLOCKED_BY";
      return !ties_it || edge.from != key || edge.from_type != "task";
    });
  } else {
    for (const auto& holder : scope.holders) {
      CLAWMARK_TRY(for_rows(
          db, kSql, [&](Statement& row) { edges.push_back(read_edge(row)); }, scope.agent, key,
          holder, kTies));
    }
  }
  std::sort(edges.begin(), edges.end(), [](const GraphEdgeRow& a, const GraphEdgeRow& b) {
    if (a.from_time != b.from_time) return a.from_time > b.from_time;
    return std::tie(a.type, a.to_type, a.to) < std::tie(b.type, b.to_type, b.to);
  });
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  std::erase_if(edges, [&](const GraphEdgeRow& edge) {
    return !seen.emplace(edge.type, edge.to_type, edge.to).second;
  });
  if (edges.size() > kTies) edges.resize(kTies);
  return edges;
}

// A look that costs little, for what is listed by the dozen: whether anything in its way may be
// over.
Result<bool> may_be_freed(Database& db, const GraphScope& scope, const std::string& key) {
  static const std::string kSql =
      "SELECT 1 FROM graph_edges e JOIN graph_nodes n ON n.agent = e.agent AND n.key = e.to_key "
      "AND "
      "n.type IN (e.to_type, 'task') AND n.status IN ('done', 'cancelled') AND n.status_ms >= "
      "e.last_ms WHERE e.agent = ?1 AND e.from_key = ?2 AND e.from_type = 'task' AND e.holder = ?3 "
      "AND e.type = 'BLOCKED_BY' AND e.until_ms IS NULL LIMIT 1";
  bool found = scope.is_then();
  for (const auto& holder : scope.holders) {
    if (found) break;
    CLAWMARK_TRY(for_rows(db, kSql, [&](Statement&) { found = true; }, scope.agent, key, holder));
  }
  return found;
}

}  // namespace

Result<std::optional<TimeMs>> lifted_at(Database& db, const GraphScope& scope,
                                        const GraphEdgeRow& edge) {
  std::optional<TimeMs> when;
  for (const std::string_view type : {std::string_view(edge.to_type), std::string_view("task")}) {
    CLAWMARK_ASSIGN(const auto said, node_as_said(db, scope, type, edge.to));
    if (said && is_over(*said) && said->status_at >= edge.last) when = said->status_at;
    if (when || type == "task") break;
  }
  return when;
}

Status free_up(Database& db, const GraphScope& scope, GraphNodeRow& row) {
  if (row.type != "task" || row.status != "blocked") return Ok{};
  CLAWMARK_ASSIGN(const bool worth_it, may_be_freed(db, scope, row.key));
  if (!worth_it) return Ok{};
  CLAWMARK_ASSIGN(const auto ties, open_ties(db, scope, row.key));
  TimeMs last;
  for (const auto& tie : ties) {
    if (tie.type != "BLOCKED_BY") continue;
    CLAWMARK_ASSIGN(const auto lifted, lifted_at(db, scope, tie));
    if (!lifted) return Ok{};
    last = std::max(last, *lifted);
  }
  if (last.value == 0 || last < row.status_at) return Ok{};  // blocked by something else since
  row.status = "active";
  row.status_at = last;
  return Ok{};
}

Result<std::vector<std::pair<std::string, std::string>>> ties_of_task(Database& db,
                                                                      const GraphScope& scope,
                                                                      const GraphNodeRow& task) {
  CLAWMARK_ASSIGN(const auto ties, open_ties(db, scope, task.key));
  std::vector<std::pair<std::string, std::string>> out;
  bool has_doer = false;
  for (const auto& tie : ties) {
    CLAWMARK_ASSIGN(const auto other, get_node(db, scope, tie.to_type, tie.to));
    if (!other) continue;
    if (tie.type == "ASSIGNED_TO") {
      // Somebody else's word may be newer than one's own.
      if (!std::exchange(has_doer, true)) out.emplace_back(tie.type, other->name);
      continue;
    }
    // "The export is unblocked", and no word of what had been in its way.
    const bool goes_on = !task.status.empty() && task.status != "blocked";
    if (goes_on && task.status_at > tie.last) continue;
    CLAWMARK_ASSIGN(const auto lifted, lifted_at(db, scope, tie));
    if (!lifted) out.emplace_back(tie.type, other->name);
  }
  return out;
}

}  // namespace clawmark
