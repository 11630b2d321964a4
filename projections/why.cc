#include "projections/why.h"

#include "base/clock.h"
#include "projections/graph_rows.h"
#include "projections/text_list.h"

namespace clawmark {

Result<std::vector<FactTrailRow>> fact_trail(Database& db, const Fact& fact, std::size_t limit) {
  std::vector<FactTrailRow> out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT DISTINCT kind, state, value, quote, seq, message FROM fact_observations WHERE agent "
      "= "
      "?1 AND holder = ?2 AND subject = ?3 AND key = ?4 ORDER BY seq DESC, ordinal, message LIMIT "
      "?5",
      [&](Statement& row) {
        out.push_back({row.string(0), row.string(1), row.string(2), row.string(3), row.integer(4),
                       row.integer(5)});
      },
      fact.agent, fact.holder, fact.subject, fact.key, limit));
  return out;
}

Result<std::vector<Fact>> ended_facts(Database& db, std::string_view agent,
                                      const std::vector<std::string>& holders,
                                      std::string_view key) {
  std::vector<Fact> out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT o.holder, o.subject, o.value, o.source, o.said_at, max(o.seq) FROM fact_observations "
      "o WHERE o.agent = ?1 AND o.key = ?2 AND o.state = 'active' AND o.kind IN ('stated', "
      "'extracted') AND o.holder IN (SELECT value FROM json_each(?3)) AND NOT EXISTS (SELECT 1 "
      "FROM facts f WHERE f.agent = o.agent AND f.holder = o.holder AND f.subject = o.subject AND "
      "f.key = o.key) AND NOT EXISTS (SELECT 1 FROM fact_observations t WHERE t.agent = o.agent "
      "AND t.holder = o.holder AND t.subject = o.subject AND t.key = o.key AND t.kind = "
      "'forgotten' AND t.seq > o.seq) GROUP BY o.holder, o.subject ORDER BY o.holder, o.subject",
      [&](Statement& row) {
        Fact fact;
        fact.agent = std::string(agent);
        fact.key = std::string(key);
        fact.holder = row.string(0);
        fact.subject = row.string(1);
        fact.value = row.string(2);
        fact.source = row.string(3);
        fact.last_observed = parse_iso(row.string(4)).value_or(TimeMs{});
        out.push_back(std::move(fact));
      },
      agent, key, text_list(holders)));
  return out;
}

Result<std::vector<UnderstoodRow>> understood_of(Database& db, std::string_view agent, Seq message,
                                                 std::size_t limit) {
  std::vector<UnderstoodRow> out;
  const auto take = [&](Statement& row) {
    out.push_back({row.string(0), row.string(1), row.string(2), row.string(3), row.string(4)});
  };
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT DISTINCT holder, 'fact', key, value, state FROM fact_observations WHERE message = ?1 "
      "AND agent = ?2 ORDER BY key, value LIMIT ?3",
      take, message.value, agent, limit));
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT DISTINCT c.holder, c.type, coalesce(c.body ->> '$.name', c.body ->> '$.title', ''), "
      "'', c.state FROM graph_evidence e JOIN graph_claims c ON c.id = e.claim WHERE e.message = "
      "?1 AND c.agent = ?2 AND c.kind IN ('node', 'episode') ORDER BY 2, 3 LIMIT ?3",
      take, message.value, agent, limit));
  return out;
}

Result<std::optional<Seq>> message_by_entry(Database& db, std::string_view agent,
                                            std::string_view beginning) {
  std::optional<Seq> out;
  if (beginning.size() < 8) return out;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT message FROM graph_messages WHERE agent = ?1 AND entry_id >= ?2 AND entry_id < ?3 "
      "ORDER BY message LIMIT 1",
      [&](Statement& row) { out = Seq{row.integer(0)}; }, agent, beginning,
      std::string(beginning) + "~"));
  return out;
}

}  // namespace clawmark
