#include "projections/summaries.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/limits_world.h"
#include "projections/graph_rows.h"

namespace clawmark {
namespace {

SummaryRow read_summary(Statement& row) {
  SummaryRow out;
  out.event = row.integer(0);
  out.agent = row.string(1);
  out.holder = row.string(2);
  const json::object body = parse_object(row.text(3));
  out.text = get_string(body, "text");
  out.session_id = get_string(body, "session_id");
  out.method = get_string(body, "method");
  out.depth = static_cast<int>(get_int(body, "depth"));
  out.sources = integers_of(body, "sources");
  out.said = row.time(4);
  return out;
}

std::size_t fanout(int depth) {
  return depth == 0 ? kCondenseLeaves : kCondenseDeeper;
}

}  // namespace

Result<std::vector<SummaryRow>> read_summaries(Database& db, std::string_view agent,
                                               std::string_view holder) {
  std::vector<SummaryRow> out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT seq, agent, holder, body, said_ms FROM graph_claims WHERE agent = ?1 AND holder = ?2 "
      "AND kind = 'prose' AND state = 'live' ORDER BY said_ms, seq",
      [&](Statement& row) { out.push_back(read_summary(row)); }, agent, holder));
  return out;
}

std::vector<SummaryRow> top_summaries(const std::vector<SummaryRow>& all) {
  std::set<std::int64_t> covered;
  for (const auto& row : all) covered.insert(row.sources.begin(), row.sources.end());
  std::vector<SummaryRow> out;
  for (const auto& row : all) {
    if (!covered.contains(row.event)) out.push_back(row);
  }
  return out;
}

Result<std::vector<ConversationSummary>> conversation_summaries(Database& db,
                                                                const ConversationPart& part) {
  std::vector<ConversationSummary> all;
  std::set<std::int64_t> covered;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT c.seq, c.body, min(m.occurred_ms), max(m.occurred_ms), count(*), "
      "sum(m.session_id IN (SELECT value FROM json_each(?3))) FROM graph_claims c "
      "JOIN graph_evidence e ON e.claim = c.id JOIN messages m ON m.seq = e.message "
      "WHERE c.agent = ?1 AND c.holder IN (SELECT value FROM json_each(?2)) AND c.kind = 'prose' "
      "AND c.state = 'live' AND c.said_ms >= ?4 GROUP BY c.id ORDER BY 3, c.seq",
      [&](Statement& row) {
        const bool within = row.integer(4) == row.integer(5) && row.time(2) >= part.from &&
                            row.time(2) < part.before;
        if (!within) return;
        const json::object body = parse_object(row.text(1));
        for (const std::int64_t source : integers_of(body, "sources")) covered.insert(source);
        all.push_back({row.integer(0), static_cast<int>(get_int(body, "depth")),
                       get_string(body, "text"), row.time(2), row.time(3), row.integer(4)});
      },
      part.agent, to_text(json::array(part.holders.begin(), part.holders.end())),
      to_text(json::array(part.sessions.begin(), part.sessions.end())), part.from.value));
  std::erase_if(all, [&](const ConversationSummary& row) { return covered.contains(row.event); });
  return all;
}

Result<std::vector<SummaryRow>> due_to_condense(Database& db) {
  std::vector<std::pair<std::string, std::string>> holders;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT agent, holder FROM graph_claims WHERE kind IN ('prose', 'state') AND state = 'live' "
      "GROUP BY agent, holder HAVING count(*) >= ?1",
      [&](Statement& row) { holders.emplace_back(row.string(0), row.string(1)); },
      std::min(kCondenseLeaves, kCondenseDeeper)));
  std::set<std::int64_t> freed;
  CLAWMARK_TRY(
      for_rows(db, "SELECT body FROM graph_claims WHERE kind = 'prose' AND state = 'dissolved'",
               [&](Statement& row) {
                 const json::object body = parse_object(row.text(0));
                 if (const auto* list = find_array(body, "sources")) {
                   for (const auto& one : *list) {
                     if (one.is_int64()) freed.insert(one.get_int64());
                   }
                 }
               }));
  for (const auto& [agent, holder] : holders) {
    CLAWMARK_ASSIGN(const auto all, read_summaries(db, agent, holder));
    std::map<int, std::vector<SummaryRow>> by_depth;
    for (auto& row : top_summaries(all)) {
      if (!freed.contains(row.event) && row.depth < kSummaryDepthMax) {
        by_depth[row.depth].push_back(row);
      }
    }
    for (auto& [depth, rows] : by_depth) {
      if (rows.size() < fanout(depth)) continue;
      rows.resize(fanout(depth));
      return std::move(rows);
    }
  }
  return std::vector<SummaryRow>{};
}

}  // namespace clawmark
