#include "projections/overview.h"

#include "projections/forgetting.h"

namespace clawmark {
namespace {

constexpr std::size_t kUntombedMax = 5000;  // counted no further

Result<std::int64_t> count(Database& db, std::string_view sql) {
  CLAWMARK_ASSIGN(const auto value, db.query_int(sql));
  return value.value_or(0);
}

template <class... Args>
Result<std::vector<std::string>> texts(Database& db, std::string_view sql, const Args&... args) {
  CLAWMARK_ASSIGN(Statement * query, db.cached(sql));
  query->with(args...);
  std::vector<std::string> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back(query->string(0));
  }
  query->reset();
  return out;
}

Result<ReasonCounts> reasons(Database& db, std::string_view sql) {
  CLAWMARK_ASSIGN(Statement * query, db.cached(sql));
  ReasonCounts out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.emplace_back(query->string(0), query->integer(1));
  }
  query->reset();
  return out;
}

}  // namespace

Result<Overview> read_overview(Database& db) {
  Overview out;
  CLAWMARK_ASSIGN(out.head.value, count(db, "SELECT max(seq) FROM events"));
  CLAWMARK_ASSIGN(out.messages, count(db, "SELECT count(*) FROM messages"));
  CLAWMARK_ASSIGN(out.recallable, count(db, "SELECT count(*) FROM messages WHERE recallable = 1"));
  CLAWMARK_ASSIGN(out.texts_gone, count_texts_gone(db));
  out.recallable -= out.texts_gone;
  CLAWMARK_ASSIGN(out.unplaced, count_unplaced(db));
  CLAWMARK_ASSIGN(out.sessions, count(db, "SELECT count(*) FROM sessions"));
  CLAWMARK_ASSIGN(out.facts, count(db, "SELECT count(*) FROM facts WHERE is_deleted = 0"));
  CLAWMARK_ASSIGN(out.facts_user, count(db,
                                        "SELECT count(*) FROM facts WHERE is_deleted = 0"
                                        " AND source = 'user'"));
  CLAWMARK_ASSIGN(out.parked, count(db, "SELECT count(*) FROM parked"));
  CLAWMARK_ASSIGN(out.vault_bodies, count(db, "SELECT count(*) FROM bodies"));
  CLAWMARK_ASSIGN(out.skipped_lines, count(db,
                                           "SELECT (SELECT coalesce(sum(skipped), 0) FROM"
                                           " source_positions) + (SELECT count(*) FROM"
                                           " skipped_lines WHERE line < 0)"));
  CLAWMARK_ASSIGN(out.newest_message.value, count(db, "SELECT max(occurred_ms) FROM messages"));
  CLAWMARK_ASSIGN(Statement * query,
                  db.cached("SELECT m.name, (SELECT count(*) FROM vectors v WHERE v.model = m.id)"
                            " FROM embedding_models m ORDER BY m.id"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.vectors.emplace_back(query->string(0), query->integer(1));
  }
  query->reset();
  return out;
}

Result<std::int64_t> count_texts_gone(Database& db) {
  return count(db,
               "SELECT count(*) FROM texts_gone g JOIN messages m ON m.seq = g.message"
               " WHERE m.recallable = 1");
}

Result<std::int64_t> count_unplaced(Database& db) {
  return count(db, "SELECT count(*) FROM messages WHERE recallable = 1 AND lane = 'unknown'");
}

Result<std::vector<SourceStateRow>> read_source_states(Database& db) {
  CLAWMARK_ASSIGN(Statement * query,
                  db.cached("SELECT s.carrier, s.path, s.state, s.reason, s.message, s.counters,"
                            " s.changes, s.changed_ms, s.newest_ms,"
                            " (SELECT count(*) FROM source_positions p WHERE p.carrier = s.carrier)"
                            " FROM source_states s ORDER BY s.carrier, s.path"));
  std::vector<SourceStateRow> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back({query->string(0), query->string(1), query->string(2), query->string(3),
                   query->string(4), query->string(5), query->integer(6), query->time(7),
                   query->time(8), query->integer(9)});
  }
  query->reset();
  return out;
}

Result<Filtered> read_filtered(Database& db) {
  Filtered out;
  CLAWMARK_ASSIGN(
      out.messages,
      reasons(db,
              "SELECT CASE WHEN class <> 'chat' THEN 'class:' || class WHEN noise <> '' THEN"
              " 'noise:' || noise WHEN state <> 'active' THEN 'state:' || state ELSE 'lane:' ||"
              " lane END, count(*) FROM messages WHERE recallable = 0 GROUP BY 1 ORDER BY 1"));
  // Of what was blocked as an order to the model the audit trail keeps the words, not a code.
  CLAWMARK_ASSIGN(
      out.facts,
      reasons(db,
              "SELECT CASE event_type WHEN 'reject' THEN coalesce(new_value, 'OTHER') ELSE"
              " 'INJECTION' END, count(*) FROM memory_events WHERE event_type IN ('reject',"
              " 'injection_blocked') GROUP BY 1 ORDER BY 1"));
  return out;
}

namespace {

Result<std::vector<SkippedRow>> skipped_rows(Database& db, std::string_view sql,
                                             std::size_t limit) {
  CLAWMARK_ASSIGN(Statement * query, db.cached(sql));
  query->with(limit);
  std::vector<SkippedRow> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back({query->string(0), query->string(1), query->string(2), query->integer(3),
                   query->integer(4), query->time(5)});
  }
  query->reset();
  return out;
}

}  // namespace

Result<std::vector<SkippedRow>> read_skipped(Database& db, std::size_t limit) {
  return skipped_rows(db,
                      "SELECT carrier, file, reason, line, byte, seen_ms FROM skipped_lines"
                      " ORDER BY line >= 0, seen_ms DESC, file, line LIMIT ?",
                      limit);
}

Result<std::vector<SkippedRow>> read_stopped(Database& db, std::size_t limit) {
  return skipped_rows(db,
                      "SELECT carrier, file, reason, line, byte, seen_ms FROM skipped_lines"
                      " WHERE line < 0 ORDER BY seen_ms DESC, file LIMIT ?",
                      limit);
}

Result<std::vector<ParkedRow>> read_parked(Database& db, std::size_t limit) {
  CLAWMARK_ASSIGN(Statement * query,
                  db.cached("SELECT event, worker, reason, detail, generation, attempts, message,"
                            " parked_ms, retry FROM parked ORDER BY event LIMIT ?"));
  query->with(limit);
  std::vector<ParkedRow> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    ParkedRow parked;
    parked.event = {query->integer(0)};
    parked.worker = query->string(1);
    parked.reason = query->string(2);
    parked.detail = query->string(3);
    parked.generation = static_cast<int>(query->integer(4));
    parked.attempts = static_cast<int>(query->integer(5));
    parked.message = {query->integer(6)};
    parked.parked = query->time(7);
    parked.retry = query->integer(8) != 0;
    out.push_back(std::move(parked));
  }
  query->reset();
  return out;
}

Result<std::vector<SpendRow>> read_spend(Database& db, std::string_view since_day) {
  CLAWMARK_ASSIGN(Statement * query,
                  db.cached("SELECT day, worker, model, calls, input_tokens, output_tokens,"
                            " micro_usd FROM spend WHERE day >= ? ORDER BY day, worker, model"));
  query->with(since_day);
  std::vector<SpendRow> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back({query->string(0), query->string(1), query->string(2), query->integer(3),
                   query->integer(4), query->integer(5), query->integer(6)});
  }
  query->reset();
  return out;
}

Result<Waiting> read_waiting(Database& db, Seq place) {
  Waiting out;
  CLAWMARK_ASSIGN(const auto all, db.query_int("SELECT count(*) FROM events WHERE type = ?",
                                               event_type::kMessageObserved));
  CLAWMARK_ASSIGN(const auto after,
                  db.query_int("SELECT count(*) FROM events WHERE type = ? AND seq > ?",
                               event_type::kMessageObserved, place.value));
  out.all = all.value_or(0);
  out.after = after.value_or(0);
  return out;
}

Result<StoreFit> read_store_fit(Database& db, TimeMs before) {
  StoreFit out;
  CLAWMARK_ASSIGN(out.recallable, count(db, "SELECT count(*) FROM messages WHERE recallable = 1"));
  CLAWMARK_ASSIGN(out.chunks_astray, count(db,
                                           "SELECT count(DISTINCT message) FROM chunks WHERE"
                                           " message NOT IN (SELECT seq FROM messages)"));
  CLAWMARK_ASSIGN(const auto waiting,
                  db.query_int("SELECT count(*) FROM events t JOIN events e ON e.dedupe_key ="
                               " t.payload ->> '$.key' WHERE t.type = 'message.forgotten' AND"
                               " t.recorded_ms < ?1 AND e.redacted = 0 AND"
                               " coalesce(t.payload ->> '$.keep_facts', 0) = 0",
                               before));
  CLAWMARK_ASSIGN(const auto chunks,
                  db.query_int("SELECT count(DISTINCT c.message) FROM chunks c JOIN events e ON"
                               " e.seq = c.message JOIN events t ON t.dedupe_key = 'forgotten:' ||"
                               " e.dedupe_key WHERE t.recorded_ms < ?1",
                               before));
  CLAWMARK_ASSIGN(const auto deleted, untombed(db, before, kUntombedMax));
  out.unblanked = waiting.value_or(0) + static_cast<std::int64_t>(deleted.size());
  CLAWMARK_ASSIGN(
      const auto facts,
      db.query_int(
          "SELECT count(DISTINCT o.seq) FROM fact_observations o JOIN events e ON e.seq ="
          " o.seq WHERE o.state = 'forgotten' AND o.kind IN ('stated', 'extracted') AND"
          " e.redacted = 0 AND o.key IN (SELECT payload ->> '$.key' FROM events WHERE type ="
          " 'fact.forgotten' AND recorded_ms < ?1)",
          before));
  out.facts_unblanked = facts.value_or(0);
  out.chunks_forgotten = chunks.value_or(0);
  return out;
}

Result<std::vector<std::string>> list_agents(Database& db) {
  return texts(db,
               "SELECT agent FROM messages UNION SELECT agent FROM facts WHERE is_deleted = 0"
               " ORDER BY agent");
}

Result<std::vector<std::string>> list_holders(Database& db, std::string_view agent) {
  return texts(db,
               "SELECT DISTINCT holder FROM facts WHERE agent = ? AND is_deleted = 0"
               " ORDER BY holder",
               agent);
}

Result<std::vector<std::string>> list_session_keys(Database& db, std::string_view agent) {
  return texts(db,
               "SELECT DISTINCT session_key FROM sessions WHERE agent = ? AND deleted = 0 AND"
               " session_key <> '' ORDER BY session_key",
               agent);
}

Result<std::vector<std::string>> list_audiences(Database& db, std::string_view agent) {
  return texts(db,
               "SELECT DISTINCT audience FROM messages WHERE agent = ? AND recallable = 1"
               " ORDER BY audience",
               agent);
}

Result<bool> has_strangers(Database& db, std::string_view agent, std::string_view session_key) {
  CLAWMARK_ASSIGN(const auto found,
                  db.query_int("SELECT 1 FROM messages m LEFT JOIN people p ON p.agent = m.agent"
                               " AND p.person = m.sender WHERE m.agent = ?1 AND m.session_key = ?2"
                               " AND m.sender <> '' AND coalesce(p.is_owner, 0) = 0 LIMIT 1",
                               agent, session_key));
  return found.has_value();
}

Result<bool> is_known_person(Database& db, std::string_view agent, std::string_view person) {
  CLAWMARK_ASSIGN(
      const auto found,
      db.query_int("SELECT 1 FROM people WHERE agent = ?1 AND person = ?2", agent, person));
  return found.has_value();
}

}  // namespace clawmark
