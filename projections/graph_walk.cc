// Relations of things, and walks along them.

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "projections/graph.h"
#include "projections/graph_rows.h"
#include "projections/graph_settle.h"
#include "projections/graph_then.h"

namespace clawmark {
namespace {

using NodeName = std::pair<std::string, std::string>;  // type, key

std::string name_of(const GraphEdgeRow& edge) {
  return edge.type + '\x1f' + edge.from_type + '\x1f' + edge.from + '\x1f' + edge.to_type + '\x1f' +
         edge.to + '\x1f' + std::to_string(edge.from_time.value);
}

// Where a relation has one end at a time: the newest of all that are in sight stands, as with
// decisions.
Status end_by_others(Database& db, const GraphScope& scope, GraphEdgeRow& edge) {
  static const std::string kSql =
      "SELECT seq, from_ms FROM graph_edges WHERE agent = ?1 AND holder = ?2 AND from_key = ?3 AND "
      "from_type = ?4 AND type = ?5 AND slot = ?6 AND (to_key <> ?7 OR to_type <> ?8) AND from_ms "
      "> ?9 AND from_ms <= ?10 AND seq <= ?11 ORDER BY from_ms LIMIT 1";
  if (!is_single_valued(edge.type, edge.from_type, edge.slot)) return Ok{};
  for (const auto& holder : scope.holders) {
    CLAWMARK_TRY(for_rows(
        db, kSql,
        [&](Statement& row) {
          if (edge.until && *edge.until <= row.time(1)) return;
          edge.until_event = row.integer(0);
          edge.until = row.time(1);
        },
        scope.agent, holder, edge.from, edge.from_type, edge.type, edge.slot, edge.to, edge.to_type,
        edge.from_time, scope.last_said(), scope.last_seq()));
  }
  return Ok{};
}

}  // namespace

Result<std::vector<GraphEdgeRow>> edges_of(Database& db, const GraphScope& scope,
                                           std::string_view type, std::string_view key, bool ended,
                                           std::size_t limit) {
  static const std::string kColumns = std::string("SELECT ") + kEdgeColumns +
                                      " FROM graph_edges WHERE agent = ?1 AND holder = ?2 AND ";
  static const std::string kEnds =
      "(?5 OR until_ms IS NULL) ORDER BY from_ms DESC, type, from_type, from_key, to_type, to_key "
      "LIMIT ?6";
  const bool several = scope.holders.size() > 1;  // may know the same relation
  std::unordered_set<std::string> seen;
  std::vector<GraphEdgeRow> edges;
  const auto take = [&](GraphEdgeRow edge) {
    if (!several || seen.insert(name_of(edge)).second) edges.push_back(std::move(edge));
  };
  for (const auto& holder : scope.holders) {
    for (const bool from_it : {true, false}) {
      if (scope.is_then()) {
        CLAWMARK_ASSIGN(auto known, edges_then(db, scope, holder, std::string(type),
                                               std::string(key), from_it, ended, limit));
        for (auto& edge : known) take(std::move(edge));
      } else {
        const char* end =
            from_it ? "from_type = ?3 AND from_key = ?4 AND " : "to_type = ?3 AND to_key = ?4 AND ";
        CLAWMARK_TRY(for_rows(
            db, kColumns + end + kEnds, [&](Statement& row) { take(read_edge(row)); }, scope.agent,
            holder, type, key, ended, limit));
      }
    }
  }
  for (auto& edge : edges) {
    if (several && !edge.until) CLAWMARK_TRY(end_by_others(db, scope, edge));
  }
  if (!ended) std::erase_if(edges, [](const GraphEdgeRow& edge) { return edge.until.has_value(); });
  std::sort(edges.begin(), edges.end(), [](const GraphEdgeRow& a, const GraphEdgeRow& b) {
    if (a.from_time != b.from_time) return a.from_time > b.from_time;
    return std::tie(a.type, a.from_type, a.from, a.to_type, a.to) <
           std::tie(b.type, b.from_type, b.from, b.to_type, b.to);
  });
  if (edges.size() > limit) edges.resize(limit);
  return edges;
}

Result<GraphWalk> walk_graph(Database& db, const GraphScope& scope, const GraphNodeRow& start,
                             int depth, std::size_t nodes_max) {
  constexpr std::size_t kEdgesPerNode = 50;
  GraphWalk walk;
  std::set<NodeName> seen{{start.type, start.key}};
  std::set<std::tuple<std::string, std::string, std::string, std::string, std::string>> drawn;
  std::vector<NodeName> border{{start.type, start.key}};
  walk.nodes.push_back({0, start});
  for (int level = 1; level <= depth && !border.empty(); ++level) {
    std::vector<NodeName> next;
    for (const auto& [type, key] : border) {
      // What is full is not looked at further: a thing that all hangs on has thousands of
      // relations.
      if (walk.nodes.size() >= nodes_max) {
        walk.cut = true;
        break;
      }
      CLAWMARK_ASSIGN(const auto edges, edges_of(db, scope, type, key, false, kEdgesPerNode));
      walk.cut = walk.cut || edges.size() == kEdgesPerNode;
      for (const auto& edge : edges) {
        const bool out = edge.from_type == type && edge.from == key;
        const NodeName other =
            out ? NodeName{edge.to_type, edge.to} : NodeName{edge.from_type, edge.from};
        if (!seen.contains(other)) {
          if (walk.nodes.size() >= nodes_max) {
            walk.cut = true;
            continue;
          }
          CLAWMARK_ASSIGN(auto row, get_node(db, scope, other.first, other.second));
          if (!row) continue;  // nobody in sight named it
          seen.insert(other);
          walk.nodes.push_back({level, std::move(*row)});
          next.push_back(other);
        }
        if (drawn.emplace(edge.type, edge.from_type, edge.from, edge.to_type, edge.to).second) {
          walk.edges.push_back(edge);
        }
      }
    }
    border = std::move(next);
  }
  std::stable_sort(walk.nodes.begin(), walk.nodes.end(), [](const auto& a, const auto& b) {
    return std::tie(a.depth, a.node.type, a.node.key) < std::tie(b.depth, b.node.type, b.node.key);
  });
  return walk;
}

}  // namespace clawmark
