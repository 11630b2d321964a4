#include "projections/forgetting.h"

#include <algorithm>
#include <set>

#include "log/event_log.h"

namespace clawmark {
namespace {

std::string seq_list(std::span<const MessageRow> messages) {
  json::array list;
  for (const MessageRow& row : messages) list.emplace_back(row.seq.value);
  return to_text(json::value(list));
}

template <class... Args>
Result<std::vector<MessageRow>> rows_of(Database& db, std::string_view sql, const Args&... args) {
  CLAWMARK_ASSIGN(Statement * query, db.cached(sql));
  query->with(args...);
  std::vector<Seq> seqs;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    seqs.push_back({query->integer(0)});
  }
  query->reset();
  return read_messages(db, seqs);
}

constexpr std::string_view kTombKeys =
    "('forgotten:' || e.dedupe_key, 'forgotten-source:' || e.dedupe_key)";

}  // namespace

Result<std::vector<MessageRow>> messages_of_session(Database& db, std::string_view agent,
                                                    std::string_view session_id) {
  return rows_of(db,
                 "SELECT m.seq FROM message_sessions s JOIN messages m ON m.seq = s.message WHERE "
                 "s.agent = ?1 AND s.session_id = ?2 AND m.class <> 'forgotten' "
                 "ORDER BY m.occurred_ms, m.seq",
                 agent, session_id);
}

Result<std::vector<MessageRow>> messages_of_person(Database& db, std::string_view agent,
                                                   std::string_view person) {
  return rows_of(db,
                 "SELECT seq FROM messages WHERE agent = ?1 AND sender = ?2 AND "
                 "class <> 'forgotten' ORDER BY occurred_ms, seq",
                 agent, person);
}

Result<std::vector<MessageRow>> answers_to(Database& db, std::span<const MessageRow> messages) {
  const std::string list = seq_list(messages);
  CLAWMARK_ASSIGN(auto below, rows_of(db,
                                      "WITH RECURSIVE d(seq) AS (SELECT value FROM json_each(?1) "
                                      "UNION SELECT m.seq FROM d CROSS JOIN messages m ON "
                                      "m.parent = d.seq AND m.role <> 'user') SELECT seq FROM d "
                                      "WHERE seq NOT IN (SELECT value FROM json_each(?1)) "
                                      "ORDER BY seq",
                                      list));
  // Where a carrier names no parents, what follows in the session answers.
  CLAWMARK_ASSIGN(
      const auto behind,
      rows_of(db,
              "SELECT DISTINCT a.seq FROM json_each(?1) j CROSS JOIN messages p ON p.seq = j.value "
              "CROSS JOIN messages a ON a.agent = p.agent AND a.session_id = p.session_id AND "
              "a.occurred_ms >= p.occurred_ms WHERE p.role = 'user' AND a.role <> 'user' AND "
              "a.parent IS NULL AND (a.occurred_ms, a.seq) > (p.occurred_ms, p.seq) AND "
              "(a.occurred_ms, a.seq) < (coalesce((SELECT n.occurred_ms FROM messages n WHERE "
              "n.agent = p.agent AND n.session_id = p.session_id AND n.role = 'user' AND "
              "n.class = 'chat' AND n.occurred_ms > p.occurred_ms ORDER BY n.occurred_ms LIMIT 1), "
              "9223372036854775807), 0) ORDER BY a.seq",
              list));
  std::set<std::int64_t> known;
  for (const MessageRow& row : messages) known.insert(row.seq.value);
  for (const MessageRow& row : below) known.insert(row.seq.value);
  for (const MessageRow& row : behind) {
    if (known.insert(row.seq.value).second) below.push_back(row);
  }
  return below;
}

Result<std::vector<MessageRow>> evidence_of(Database& db, const Fact& fact) {
  return rows_of(db,
                 "SELECT DISTINCT message FROM fact_observations WHERE agent = ?1 AND holder = ?2 "
                 "AND subject = ?3 AND key = ?4 AND message IS NOT NULL ORDER BY message",
                 fact.agent, fact.holder, fact.subject, fact.key);
}

Result<std::vector<MessageRow>> said_shortly_before(Database& db, std::string_view agent,
                                                    const std::vector<std::string>& audiences,
                                                    TimeMs at, std::int64_t ms) {
  json::array list;
  for (const auto& audience : audiences) list.emplace_back(audience);
  // The newest part of the log is where it lies: no scan over history.
  return rows_of(db,
                 "SELECT seq FROM messages WHERE agent = ?1 AND occurred_ms BETWEEN ?2 AND ?3 AND "
                 "recallable = 1 AND audience IN (SELECT value FROM json_each(?4)) "
                 "ORDER BY occurred_ms DESC LIMIT 200",
                 agent, at.value - ms, at.value + ms / 10, to_text(json::value(list)));
}

Result<std::vector<Fact>> facts_resting_on(Database& db, std::span<const MessageRow> messages,
                                           TimeMs as_of) {
  const std::string list = seq_list(messages);
  CLAWMARK_ASSIGN(
      Statement * query,
      db.cached("SELECT DISTINCT o.agent, o.holder, o.subject, o.key FROM fact_observations o "
                "WHERE o.state = 'active' AND o.kind = 'extracted' AND "
                "o.message IN (SELECT value FROM json_each(?1)) AND NOT EXISTS ("
                "SELECT 1 FROM fact_observations r WHERE r.agent = o.agent AND r.holder = o.holder "
                "AND r.subject = o.subject AND r.key = o.key AND r.state = 'active' AND "
                "(r.kind = 'stated' OR r.message NOT IN (SELECT value FROM json_each(?1))))"));
  query->with(list);
  struct Key {
    std::string agent, holder, subject, key;
  };
  std::vector<Key> keys;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    keys.push_back({query->string(0), query->string(1), query->string(2), query->string(3)});
  }
  query->reset();
  std::vector<Fact> out;
  for (const Key& key : keys) {
    CLAWMARK_ASSIGN(auto fact, find_fact(db, key.agent, key.holder, key.subject, key.key, as_of));
    if (fact) out.push_back(std::move(*fact));
  }
  return out;
}

Result<std::int64_t> copies_of(Database& db, std::span<const MessageRow> messages) {
  CLAWMARK_ASSIGN(
      const auto count,
      db.query_int("WITH gone(seq) AS (SELECT value FROM json_each(?1)) SELECT count(*) FROM "
                   "messages WHERE recallable = 1 AND seq NOT IN (SELECT seq FROM gone) AND "
                   "sha256 IN (SELECT sha256 FROM messages WHERE seq IN (SELECT seq FROM gone))",
                   seq_list(messages)));
  return count.value_or(0);
}

Result<std::vector<Hash256>> orphaned_texts(Database& db, std::span<const MessageRow> messages) {
  CLAWMARK_ASSIGN(
      Statement * query,
      db.cached("WITH gone(seq) AS (SELECT value FROM json_each(?1)) SELECT DISTINCT sha256 FROM "
                "messages WHERE seq IN (SELECT seq FROM gone) EXCEPT SELECT sha256 FROM messages "
                "WHERE state <> 'deleted' AND seq NOT IN (SELECT seq FROM gone)"));
  query->with(seq_list(messages));
  std::vector<Hash256> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back(query->hash(0));
  }
  query->reset();
  return out;
}

Result<std::vector<NewEvent>> message_tombstones(Database& db, std::span<const MessageRow> messages,
                                                 bool keep_facts, std::string_view why,
                                                 TimeMs now) {
  std::vector<NewEvent> out;
  for (const MessageRow& row : messages) {
    CLAWMARK_ASSIGN(const auto observed, EventLog::get(db, row.seq));
    if (!observed || observed->redacted) continue;
    NewEvent event;
    event.type = event_type::kMessageForgotten;
    event.scope = observed->scope;
    event.dedupe_key = (keep_facts ? "forgotten-source:" : "forgotten:") + observed->dedupe_key;
    event.occurred = now;
    const bool person =
        row.role == "user" && row.entry_class == "chat" &&
        (row.noise.empty() || row.noise == "command" || row.noise == "ack" || row.noise == "empty");
    event.payload = {
        {"message", row.seq.value}, {"key", observed->dedupe_key},
        {"entry_id", row.entry_id}, {"session_id", get_string(observed->payload, "session_id")},
        {"role", row.role},         {"class", row.entry_class},
        {"noise", row.noise},       {"person", person},
        {"keep_facts", keep_facts}, {"why", why}};
    out.push_back(std::move(event));
  }
  return out;
}

NewEvent session_tombstone(const Scope& scope, std::string_view session_id, TimeMs now) {
  NewEvent event;
  event.type = event_type::kSessionForgotten;
  event.scope = scope;
  event.dedupe_key = "forgotten-session:" + scope.agent + ":" + std::string(session_id) + ":" +
                     std::to_string(now.value);
  event.occurred = now;
  event.payload = {{"session_id", session_id}, {"until_ms", now.value}};
  return event;
}

NewEvent person_tombstone(const Scope& scope, std::string_view person, TimeMs now) {
  NewEvent event;
  event.type = event_type::kPersonForgotten;
  event.scope = scope;
  event.dedupe_key = "forgotten-person:" + scope.agent + ":" + std::string(person) + ":" +
                     std::to_string(now.value);
  event.occurred = now;
  event.payload = {{"person", person}, {"until_ms", now.value}};
  return event;
}

Result<std::vector<MessageRow>> untombed(Database& db, TimeMs before, std::size_t limit) {
  static const std::string sql =
      "SELECT m.seq FROM messages m JOIN events e ON e.seq = m.seq WHERE m.state = 'deleted' AND "
      "m.class <> 'forgotten' AND e.redacted = 0 AND NOT EXISTS (SELECT 1 FROM events t WHERE "
      "t.dedupe_key IN " +
      std::string(kTombKeys) +
      ") AND NOT EXISTS (SELECT 1 FROM message_sessions s JOIN events d ON d.dedupe_key = "
      "'deleted:' || s.agent || ':' || s.session_id WHERE s.message = m.seq AND "
      "d.recorded_ms > ?1) ORDER BY m.seq LIMIT ?2";
  return rows_of(db, sql, before, limit);
}

}  // namespace clawmark
