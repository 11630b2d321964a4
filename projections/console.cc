#include "projections/console.h"

#include <unordered_set>

#include "base/json.h"
#include "projections/graph_rows.h"
#include "projections/text_list.h"

namespace clawmark {
namespace {

TimeMs time_of(std::string_view iso) {
  return parse_iso(iso).value_or(TimeMs{});
}

}  // namespace

Result<std::vector<ConversationRow>> list_conversations(Database& db, std::string_view agent,
                                                        const std::vector<std::string>& audiences,
                                                        std::size_t limit) {
  std::vector<ConversationRow> out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT s.session_id, s.session_key, s.lane, s.messages, s.first_ms, s.last_ms, "
      "(SELECT json_group_array(speaker) FROM (SELECT DISTINCT m.speaker FROM messages m WHERE "
      "m.agent = s.agent AND m.session_id = s.session_id AND m.speaker <> '' AND m.role = 'user' "
      "ORDER BY m.speaker LIMIT 5)) FROM sessions s WHERE s.agent = ?1 AND s.deleted = 0 AND "
      "EXISTS(SELECT 1 FROM messages m WHERE m.agent = s.agent AND m.session_id = s.session_id AND "
      "m.audience IN (SELECT value FROM json_each(?2))) ORDER BY s.last_ms DESC, s.session_id "
      "LIMIT ?3",
      [&](Statement& row) {
        ConversationRow one{row.string(0),
                            row.string(1),
                            row.string(2),
                            row.integer(3),
                            row.time(4),
                            row.time(5),
                            {}};
        one.speakers = strings_of(parse_object("{\"all\":" + row.string(6) + "}"), "all");
        out.push_back(std::move(one));
      },
      agent, text_list(audiences), limit));
  return out;
}

Result<std::vector<FactValueRow>> fact_values(Database& db, std::string_view agent,
                                              const std::vector<std::string>& holders,
                                              std::string_view key) {
  std::vector<FactValueRow> out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT holder, subject, value, source, quote, valid_from_ms, valid_to_ms, message FROM "
      "fact_history WHERE agent = ?1 AND key = ?2 AND holder IN (SELECT value FROM json_each(?3)) "
      "ORDER BY valid_from_ms, holder, subject, ordinal",
      [&](Statement& row) {
        FactValueRow one{row.string(0), row.string(1), row.string(2), row.string(3),
                         row.string(4), row.time(5),   std::nullopt,  row.integer(7)};
        if (!row.is_null(6)) one.to = row.time(6);
        out.push_back(std::move(one));
      },
      agent, key, text_list(holders)));
  return out;
}

Result<std::vector<ChangeRow>> list_changes(Database& db, std::string_view agent,
                                            const std::vector<std::string>& holders, bool all,
                                            const ChangeQuery& query) {
  std::vector<ChangeRow> out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT id, seq, event_type, memory_key, coalesce(old_value, ''), coalesce(new_value, ''), "
      "source, holder, created_at, coalesce(recorded_at, '') FROM memory_events WHERE agent = ?1 "
      "AND (holder IN (SELECT value FROM json_each(?2)) OR ?3 AND holder = '') AND (?4 = '' OR "
      "memory_key = ?4) AND (?5 = '' OR event_type = ?5) AND (?6 = 0 OR id < ?6) ORDER BY id DESC "
      "LIMIT ?7",
      [&](Statement& row) {
        out.push_back({row.integer(0), row.integer(1), row.string(2), row.string(3), row.string(4),
                       row.string(5), row.string(6), row.string(7), time_of(row.text(8)),
                       time_of(row.text(9))});
      },
      agent, text_list(holders), all, query.key, query.type, query.before, query.limit));
  return out;
}

Result<std::vector<GraphEdgeRow>> list_edges(Database& db, const GraphScope& scope,
                                             std::size_t limit) {
  std::vector<GraphEdgeRow> out;
  std::unordered_set<std::string> seen;  // several may know the same relation
  CLAWMARK_TRY(for_rows(
      db,
      std::string("SELECT ") + kEdgeColumns +
          " FROM graph_edges WHERE agent = ?1 AND holder IN (SELECT value FROM "
          "json_each(?2)) AND until_ms IS NULL ORDER BY from_ms DESC, type, from_type, from_key, "
          "to_type, to_key, holder LIMIT ?3",
      [&](Statement& row) {
        GraphEdgeRow edge = read_edge(row);
        const std::string name = edge.type + '\x1f' + edge.from_type + '\x1f' + edge.from + '\x1f' +
                                 edge.to_type + '\x1f' + edge.to;
        if (seen.insert(name).second) out.push_back(std::move(edge));
      },
      scope.agent, text_list(scope.holders), limit));
  return out;
}

}  // namespace clawmark
