#pragma once
// SQL of the facts projection's tables and views. '#' is the generation, '@' the prefix "fact".

#include <string_view>

namespace clawmark {

constexpr std::string_view kFactsPrefix = "fact";

constexpr std::string_view kFactsDdl = R"sql(
CREATE TABLE IF NOT EXISTS facts__g#(
  agent TEXT NOT NULL, holder TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL,
  value TEXT NOT NULL, confidence REAL NOT NULL, source TEXT NOT NULL, created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL, last_observed_ms INTEGER NOT NULL, due_ms INTEGER,
  observations INTEGER NOT NULL, message INTEGER NOT NULL, origin TEXT NOT NULL,
  is_deleted INTEGER NOT NULL, PRIMARY KEY(agent, holder, subject, key)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fact_history__g#(
  agent TEXT NOT NULL, holder TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL,
  ordinal INTEGER NOT NULL, value TEXT NOT NULL, source TEXT NOT NULL,
  valid_from_ms INTEGER NOT NULL, valid_to_ms INTEGER, message INTEGER NOT NULL, quote TEXT NOT NULL,
  PRIMARY KEY(agent, holder, subject, key, ordinal)) STRICT, WITHOUT ROWID;
-- Everything ever said about a key: kind is stated, extracted, forgotten or expired; reason says why it does not
-- count (CONFIDENCE, INJECTION, …); blank: its text was taken away; replaces: the value, of whatever key, that was
-- given up for it, case folded.
CREATE TABLE IF NOT EXISTS fact_observations__g#(
  seq INTEGER NOT NULL, ordinal INTEGER NOT NULL, agent TEXT NOT NULL, holder TEXT NOT NULL,
  subject TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, kind TEXT NOT NULL,
  confidence REAL NOT NULL, said_ms INTEGER NOT NULL, recorded_ms INTEGER NOT NULL, due_ms INTEGER,
  reason TEXT NOT NULL, state TEXT NOT NULL, blank INTEGER NOT NULL, replaces TEXT NOT NULL,
  PRIMARY KEY(seq, ordinal)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS fact_observations__g#_key
  ON fact_observations__g#(agent, holder, subject, key);
CREATE INDEX IF NOT EXISTS fact_observations__g#_replaces
  ON fact_observations__g#(agent, holder) WHERE replaces <> '';
CREATE TABLE IF NOT EXISTS fact_evidence__g#(
  seq INTEGER NOT NULL, ordinal INTEGER NOT NULL, message INTEGER NOT NULL, quote TEXT NOT NULL,
  PRIMARY KEY(seq, ordinal, message)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS fact_evidence__g#_message ON fact_evidence__g#(message);
-- What people said themselves: the only evidence there is.
CREATE TABLE IF NOT EXISTS fact_messages__g#(
  message INTEGER PRIMARY KEY, entry_id TEXT NOT NULL, occurred_ms INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS memory_events__g#(
  id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, event_type TEXT NOT NULL, agent TEXT NOT NULL,
  holder TEXT NOT NULL, subject TEXT NOT NULL, memory_key TEXT NOT NULL, old_value TEXT,
  new_value TEXT, source TEXT NOT NULL, at_ms INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS memory_events__g#_key
  ON memory_events__g#(agent, holder, subject, memory_key);
CREATE INDEX IF NOT EXISTS memory_events__g#_seq ON memory_events__g#(seq);
)sql";

constexpr std::string_view kFactsViews = R"sql(
DROP VIEW IF EXISTS facts;
CREATE VIEW facts AS SELECT agent, holder, subject, key, value, confidence, source,
  strftime('%Y-%m-%dT%H:%M:%fZ', created_ms / 1000.0, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', updated_ms / 1000.0, 'unixepoch') AS updated_at,
  is_deleted, last_observed_ms, observations, message, origin, created_ms, updated_ms, due_ms
  FROM facts__g#;
DROP VIEW IF EXISTS fact_history;
CREATE VIEW fact_history AS SELECT agent, holder, subject, key, value, source,
  strftime('%Y-%m-%dT%H:%M:%fZ', valid_from_ms / 1000.0, 'unixepoch') AS valid_from,
  strftime('%Y-%m-%dT%H:%M:%fZ', valid_to_ms / 1000.0, 'unixepoch') AS valid_to,
  message, quote, valid_from_ms, valid_to_ms, ordinal FROM fact_history__g#;
DROP VIEW IF EXISTS fact_observations;
CREATE VIEW fact_observations AS SELECT o.agent, o.holder, o.subject, o.key, o.value, o.kind,
  CASE o.kind WHEN 'extracted' THEN 'extracted' WHEN 'expired' THEN 'decay' ELSE 'user' END AS source,
  o.confidence, strftime('%Y-%m-%dT%H:%M:%fZ', o.said_ms / 1000.0, 'unixepoch') AS said_at,
  o.said_ms, o.reason, o.state, o.seq, o.ordinal, e.message, e.quote,
  (SELECT group_concat(s.session_id, ' ') FROM fact_sightings__g# s WHERE s.message = e.message)
    AS sessions
  FROM fact_observations__g# o LEFT JOIN fact_evidence__g# e
    ON e.seq = o.seq AND e.ordinal = o.ordinal;
DROP VIEW IF EXISTS fact_replacements;
CREATE VIEW fact_replacements AS SELECT agent, holder, replaces, said_ms FROM
  fact_observations__g# WHERE replaces <> '' AND state = 'active';
DROP VIEW IF EXISTS memory_events;
CREATE VIEW memory_events AS SELECT m.id, m.event_type, m.memory_key, m.old_value, m.new_value,
  m.source, strftime('%Y-%m-%dT%H:%M:%fZ', m.at_ms / 1000.0, 'unixepoch') AS created_at,
  m.seq, m.agent, m.holder, m.subject,
  (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', v.recorded_ms / 1000.0, 'unixepoch') FROM events v
    WHERE v.seq = m.seq) AS recorded_at
  FROM memory_events__g# m;
)sql";

constexpr std::string_view kFactsDrop =
    "DROP TABLE IF EXISTS facts__g#; DROP TABLE IF EXISTS fact_history__g#;"
    "DROP TABLE IF EXISTS fact_observations__g#; DROP TABLE IF EXISTS fact_evidence__g#;"
    "DROP TABLE IF EXISTS fact_messages__g#; DROP TABLE IF EXISTS memory_events__g#;";

}  // namespace clawmark
