#include "projections/standing.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>

#include "log/event_log.h"

namespace clawmark {

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::kActive:
      return "active";
    case Standing::kRewound:
      return "rewound";
    case Standing::kDeleted:
      return "deleted";
    case Standing::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view StandingLedger::ddl() {
  return R"sql(
CREATE TABLE IF NOT EXISTS @_sightings__g#(
  message INTEGER NOT NULL, session_id TEXT NOT NULL, agent TEXT NOT NULL, session_key TEXT NOT NULL,
  PRIMARY KEY(message, session_id)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS @_sightings__g#_session ON @_sightings__g#(agent, session_id, message);
CREATE TABLE IF NOT EXISTS @_deleted__g#(
  agent TEXT NOT NULL, session_id TEXT NOT NULL,
  PRIMARY KEY(agent, session_id)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS @_branches__g#(
  agent TEXT NOT NULL, session_id TEXT NOT NULL, rank INTEGER NOT NULL, carrier TEXT NOT NULL,
  revision INTEGER NOT NULL, PRIMARY KEY(agent, session_id, rank, carrier)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS @_inactive__g#(
  agent TEXT NOT NULL, session_id TEXT NOT NULL, carrier TEXT NOT NULL, message INTEGER NOT NULL,
  PRIMARY KEY(agent, session_id, carrier, message)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS @_forgotten__g#(
  message INTEGER PRIMARY KEY, keep_facts INTEGER NOT NULL) STRICT;
-- What stays forgotten when it comes again: kind is 'message' (name: its dedupe key), 'session' or
-- 'person'; the latter two up to a time of saying.
CREATE TABLE IF NOT EXISTS @_tombs__g#(
  agent TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, until_ms INTEGER NOT NULL,
  keep_facts INTEGER NOT NULL, PRIMARY KEY(agent, kind, name)) STRICT, WITHOUT ROWID;
)sql";
}

std::string_view StandingLedger::drop() {
  return "DROP TABLE IF EXISTS @_sightings__g#; DROP TABLE IF EXISTS @_deleted__g#;"
         "DROP TABLE IF EXISTS @_branches__g#; DROP TABLE IF EXISTS @_inactive__g#;"
         "DROP TABLE IF EXISTS @_forgotten__g#; DROP TABLE IF EXISTS @_tombs__g#;";
}

Status StandingLedger::sight(Seq message, std::string_view agent, std::string_view session_id,
                             std::string_view session_key) {
  // A session's key may become known only with a later sighting.
  return tables_.run(
      "INSERT INTO @_sightings__g#(message, agent, session_id, session_key) VALUES(?1, ?2, ?3, ?4) "
      "ON CONFLICT DO UPDATE SET session_key = excluded.session_key "
      "WHERE session_key = '' AND excluded.session_key <> ''",
      message.value, agent, session_id, session_key);
}

Result<std::vector<Seq>> StandingLedger::inactive(std::string_view agent,
                                                  std::string_view session_id) {
  std::vector<Seq> out;
  CLAWMARK_TRY(tables_.each(
      "SELECT message FROM @_inactive__g# WHERE agent = ?1 AND session_id = ?2 AND carrier = "
      "(SELECT carrier FROM @_branches__g# WHERE agent = ?1 AND session_id = ?2 "
      " ORDER BY rank, carrier LIMIT 1) ORDER BY message",
      [&](Statement& row) { out.push_back({row.integer(0)}); }, agent, session_id));
  return out;
}

Result<std::vector<Seq>> StandingLedger::branch(const Event& event) {
  const std::string session_id = get_string(event.payload, "session_id");
  const std::string carrier = get_string(event.payload, "carrier");
  const std::string& agent = event.scope.agent;
  const std::int64_t revision = get_int(event.payload, "revision");
  const int rank = carrier == "agent-db" ? 0 : carrier == "transcripts" ? 1 : 2;
  CLAWMARK_ASSIGN(
      const auto known,
      tables_.query_int("SELECT revision FROM @_branches__g# WHERE agent = ?1 AND session_id = ?2 "
                        "AND rank = ?3 AND carrier = ?4",
                        agent, session_id, rank, carrier));
  if (known && *known > revision) return std::vector<Seq>{};
  CLAWMARK_ASSIGN(const auto before, inactive(agent, session_id));
  CLAWMARK_TRY(tables_.run(
      "INSERT INTO @_branches__g#(agent, session_id, rank, carrier, revision) "
      "VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET revision = excluded.revision",
      agent, session_id, rank, carrier, revision));
  CLAWMARK_TRY(tables_.run(
      "DELETE FROM @_inactive__g# WHERE agent = ?1 AND session_id = ?2 AND carrier = ?3", agent,
      session_id, carrier));
  if (const auto* list = find_array(event.payload, "inactive")) {
    for (const auto& item : *list) {
      if (!item.is_int64()) continue;
      CLAWMARK_TRY(
          tables_.run("INSERT OR IGNORE INTO @_inactive__g#(agent, session_id, carrier, "
                      "message) VALUES(?1, ?2, ?3, ?4)",
                      agent, session_id, carrier, item.get_int64()));
    }
  }
  CLAWMARK_ASSIGN(const auto after, inactive(agent, session_id));
  std::vector<Seq> changed;
  std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                std::back_inserter(changed));
  return changed;
}

Result<std::vector<Seq>> StandingLedger::session_messages(std::string_view agent,
                                                          std::string_view session_id) {
  std::vector<Seq> out;
  CLAWMARK_TRY(tables_.each(
      "SELECT message FROM @_sightings__g# WHERE agent = ?1 AND session_id = ?2 ORDER BY message",
      [&](Statement& row) { out.push_back({row.integer(0)}); }, agent, session_id));
  return out;
}

Result<std::vector<Seq>> StandingLedger::remove_session(std::string_view agent,
                                                        std::string_view session_id) {
  CLAWMARK_TRY(
      tables_.run("INSERT OR IGNORE INTO @_deleted__g#(agent, session_id) "
                  "VALUES(?1, ?2)",
                  agent, session_id));
  return session_messages(agent, session_id);
}

Status StandingLedger::take_away(Seq message, bool keep_facts) {
  return tables_.run(
      "INSERT INTO @_forgotten__g#(message, keep_facts) VALUES(?1, ?2) "
      "ON CONFLICT DO UPDATE SET keep_facts = min(keep_facts, excluded.keep_facts)",
      message.value, keep_facts);
}

Result<std::vector<Seq>> StandingLedger::forget(const Event& event) {
  const bool one = event.type == event_type::kMessageForgotten;
  const bool session = event.type == event_type::kSessionForgotten;
  const bool keep_facts = one && get_bool(event.payload, "keep_facts");
  const std::string name = get_string(event.payload, one       ? "key"
                                                     : session ? "session_id"
                                                               : "person");
  const std::int64_t until = one ? std::numeric_limits<std::int64_t>::max()
                                 : get_int(event.payload, "until_ms", event.occurred.value);
  std::vector<Seq> out;
  if (name.empty()) return out;
  CLAWMARK_TRY(tables_.run(
      "INSERT INTO @_tombs__g#(agent, kind, name, until_ms, keep_facts) VALUES(?1, ?2, ?3, ?4, ?5) "
      "ON CONFLICT DO UPDATE SET until_ms = max(until_ms, excluded.until_ms), "
      "keep_facts = min(keep_facts, excluded.keep_facts)",
      event.scope.agent,
      one       ? "message"
      : session ? "session"
                : "person",
      name, until, keep_facts));
  if (one) {
    CLAWMARK_ASSIGN(const auto seq, EventLog::find(tables_.db(), name));
    if (seq) out.push_back(*seq);
  } else if (session) {
    CLAWMARK_TRY(tables_.each(
        "SELECT s.message FROM @_sightings__g# s JOIN events e ON e.seq = s.message WHERE "
        "s.agent = ?1 AND s.session_id = ?2 AND e.occurred_ms <= ?3 ORDER BY s.message",
        [&](Statement& row) { out.push_back({row.integer(0)}); }, event.scope.agent, name, until));
  } else {
    CLAWMARK_TRY(tables_.each(
        "SELECT DISTINCT s.message FROM @_sightings__g# s JOIN events e ON e.seq = s.message WHERE "
        "s.agent = ?1 AND e.sender = ?2 AND e.occurred_ms <= ?3 ORDER BY s.message",
        [&](Statement& row) { out.push_back({row.integer(0)}); }, event.scope.agent, name, until));
  }
  for (const Seq message : out) CLAWMARK_TRY(take_away(message, keep_facts));
  return out;
}

Result<std::optional<bool>> StandingLedger::forgotten_ahead(const Event& event) {
  std::optional<bool> found;
  const auto note = [&](Statement& row) {
    const bool keep = row.integer(0) != 0;
    found = found ? *found && keep : keep;
  };
  CLAWMARK_TRY(tables_.each(
      "SELECT keep_facts FROM @_tombs__g# WHERE agent = ?1 AND ((kind = 'message' AND name = ?2) "
      "OR (kind = 'session' AND name = ?3 AND until_ms >= ?5) "
      "OR (kind = 'person' AND name = ?4 AND name <> '' AND until_ms >= ?5))",
      note, event.scope.agent, event.dedupe_key, get_string(event.payload, "session_id"),
      event.scope.sender, event.occurred));
  if (!found && get_string(event.payload, "role") != "user") {
    CLAWMARK_TRY(tables_.each("SELECT keep_facts FROM @_forgotten__g# WHERE message = ?1", note,
                              get_int(event.payload, "parent")));
  }
  return found;
}

Status StandingLedger::observe(const Event& event) {
  CLAWMARK_ASSIGN(const auto found, forgotten_ahead(event));
  return found ? take_away(event.seq, *found) : Status(Ok{});
}

Result<bool> StandingLedger::is_source_only(Seq message) {
  CLAWMARK_ASSIGN(const auto kept,
                  tables_.query_int("SELECT keep_facts FROM @_forgotten__g# WHERE message = ?1",
                                    message.value));
  return kept && *kept != 0;
}

Result<Standing> StandingLedger::standing(Seq message) {
  CLAWMARK_ASSIGN(const auto forgotten,
                  tables_.query_int("SELECT keep_facts FROM @_forgotten__g# WHERE message = ?1",
                                    message.value));
  if (forgotten && (*forgotten == 0 || !sources_stand_)) return Standing::kDeleted;
  // One conversation is all sessions of a key; one without a key stands for itself.
  std::map<std::string, Standing> conversations;
  CLAWMARK_TRY(tables_.each(
      "SELECT EXISTS(SELECT 1 FROM @_deleted__g# d WHERE d.agent = s.agent AND d.session_id = "
      "s.session_id), coalesce((SELECT EXISTS(SELECT 1 FROM @_inactive__g# i WHERE i.agent = "
      "b.agent AND i.session_id = b.session_id AND i.carrier = b.carrier AND i.message = "
      "s.message) "
      "FROM @_branches__g# b WHERE b.agent = s.agent AND b.session_id = s.session_id "
      "ORDER BY b.rank, b.carrier LIMIT 1), 0), iif(s.session_key <> '', s.session_key, "
      "s.session_id) FROM @_sightings__g# s WHERE s.message = ?1",
      [&](Statement& row) {
        const bool deleted = row.integer(0) != 0;
        const bool rewound = row.integer(1) != 0;
        const Standing here = deleted   ? Standing::kDeleted
                              : rewound ? Standing::kRewound
                                        : Standing::kActive;
        const auto [known, fresh] = conversations.emplace(row.string(2), here);
        // A living session says more than a deleted one; among those, "taken back" is the later
        // word.
        if (fresh || here == Standing::kDeleted) return;
        if (known->second == Standing::kDeleted || here == Standing::kRewound) known->second = here;
      },
      message.value));
  Standing best = Standing::kUnknown;
  for (const auto& [key, standing] : conversations) {
    if (best == Standing::kUnknown || standing < best) best = standing;
  }
  return best;
}

}  // namespace clawmark
