#pragma once
// Tables and views of the world model. Claims are what was said; nodes and edges are what follows.

#include <string_view>

namespace clawmark {

inline constexpr std::string_view kGraphPrefix = "graph";

inline constexpr std::string_view kGraphDdl = R"sql(
CREATE TABLE IF NOT EXISTS graph_messages__g#(
  message INTEGER PRIMARY KEY, entry_id TEXT NOT NULL, agent TEXT NOT NULL,
  session_id TEXT NOT NULL, session_key TEXT NOT NULL, speaker TEXT NOT NULL,
  person INTEGER NOT NULL, occurred_ms INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS graph_claims__g#(
  id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, kind TEXT NOT NULL, ordinal INTEGER NOT NULL,
  agent TEXT NOT NULL, holder TEXT NOT NULL, type TEXT NOT NULL, key TEXT NOT NULL,
  to_type TEXT NOT NULL,
  to_key TEXT NOT NULL, slot TEXT NOT NULL, choice TEXT NOT NULL, replaces TEXT NOT NULL,
  body TEXT NOT NULL, said_ms INTEGER NOT NULL, message INTEGER NOT NULL, quote TEXT NOT NULL,
  state TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS graph_claims__g#_key
  ON graph_claims__g#(agent, holder, kind, type, key, slot, to_key);
CREATE INDEX IF NOT EXISTS graph_claims__g#_seq ON graph_claims__g#(seq);
CREATE INDEX IF NOT EXISTS graph_claims__g#_slot
  ON graph_claims__g#(agent, holder, type, slot) WHERE kind = 'node' AND slot <> '';
CREATE INDEX IF NOT EXISTS graph_claims__g#_choice
  ON graph_claims__g#(agent, holder, type, choice) WHERE kind = 'node' AND choice <> '';
CREATE INDEX IF NOT EXISTS graph_claims__g#_replaces
  ON graph_claims__g#(agent, holder, type, replaces) WHERE kind = 'node' AND replaces <> '';
CREATE INDEX IF NOT EXISTS graph_claims__g#_text
  ON graph_claims__g#(agent, holder, kind, said_ms) WHERE kind IN ('prose', 'state');
CREATE TABLE IF NOT EXISTS graph_evidence__g#(
  claim INTEGER NOT NULL, message INTEGER NOT NULL, quote TEXT NOT NULL,
  PRIMARY KEY(claim, message, quote)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS graph_evidence__g#_message ON graph_evidence__g#(message);
CREATE TABLE IF NOT EXISTS graph_facts__g#(
  seq INTEGER NOT NULL, message INTEGER NOT NULL, holder TEXT NOT NULL, subject TEXT NOT NULL,
  key TEXT NOT NULL, quote TEXT NOT NULL, value TEXT NOT NULL, agent TEXT NOT NULL,
  PRIMARY KEY(seq, message, holder, subject, key, quote, value)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS graph_facts__g#_message ON graph_facts__g#(message);
CREATE INDEX IF NOT EXISTS graph_facts__g#_key ON graph_facts__g#(agent, holder, subject, key);
CREATE TABLE IF NOT EXISTS graph_let_go__g#(
  agent TEXT NOT NULL, holder TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL,
  at_ms INTEGER NOT NULL, PRIMARY KEY(agent, holder, subject, key)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS graph_merges__g#(
  agent TEXT NOT NULL, holder TEXT NOT NULL, type TEXT NOT NULL, from_key TEXT NOT NULL,
  into_key TEXT NOT NULL, at_ms INTEGER NOT NULL, undone INTEGER NOT NULL, source TEXT NOT NULL,
  PRIMARY KEY(agent, holder, type, from_key, into_key)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS graph_merges__g#_into
  ON graph_merges__g#(agent, holder, type, into_key);
CREATE TABLE IF NOT EXISTS graph_nodes__g#(
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, holder TEXT NOT NULL, type TEXT NOT NULL,
  key TEXT NOT NULL, visible INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
  status TEXT NOT NULL, status_ms INTEGER NOT NULL, reason TEXT NOT NULL, slot TEXT NOT NULL,
  choice TEXT NOT NULL, replaces TEXT NOT NULL, aliases TEXT NOT NULL, confidence REAL NOT NULL,
  source TEXT NOT NULL, due_ms INTEGER, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
  valid_from_ms INTEGER NOT NULL, valid_to_ms INTEGER, superseded_by TEXT NOT NULL,
  mentions INTEGER NOT NULL, message INTEGER NOT NULL, quote TEXT NOT NULL,
  description_message INTEGER NOT NULL, reason_message INTEGER NOT NULL,  -- where those were said
  lasts REAL NOT NULL,  -- half-lives after which it may be out of date; as good as never: stated
  UNIQUE(agent, holder, type, key)) STRICT;
CREATE INDEX IF NOT EXISTS graph_nodes__g#_last
  ON graph_nodes__g#(agent, holder, type, status, last_ms, key, visible, first_ms);
CREATE INDEX IF NOT EXISTS graph_nodes__g#_old
  ON graph_nodes__g#(agent, holder, type, last_ms, lasts, key)
  WHERE visible = 1 AND valid_to_ms IS NULL AND status NOT IN ('done', 'cancelled');
CREATE INDEX IF NOT EXISTS graph_nodes__g#_key ON graph_nodes__g#(agent, key);
CREATE TABLE IF NOT EXISTS graph_aliases__g#(
  agent TEXT NOT NULL, alias TEXT NOT NULL, holder TEXT NOT NULL, type TEXT NOT NULL,
  key TEXT NOT NULL, PRIMARY KEY(agent, alias, holder, type, key)) STRICT, WITHOUT ROWID;
-- seq, until_seq: the first events that told of it, and of its end.
CREATE TABLE IF NOT EXISTS graph_edges__g#(
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, holder TEXT NOT NULL, from_type TEXT NOT NULL,
  from_key TEXT NOT NULL, type TEXT NOT NULL, slot TEXT NOT NULL, to_type TEXT NOT NULL,
  to_key TEXT NOT NULL, from_ms INTEGER NOT NULL, until_ms INTEGER, confidence REAL NOT NULL,
  last_ms INTEGER NOT NULL, message INTEGER NOT NULL, quote TEXT NOT NULL, seq INTEGER NOT NULL,
  until_seq INTEGER) STRICT;
CREATE INDEX IF NOT EXISTS graph_edges__g#_from
  ON graph_edges__g#(agent, from_key, from_type, holder, from_ms);
CREATE INDEX IF NOT EXISTS graph_edges__g#_to ON graph_edges__g#(agent, to_key, to_type, holder, from_ms);
CREATE TABLE IF NOT EXISTS graph_episodes__g#(
  id INTEGER PRIMARY KEY, agent TEXT NOT NULL, holder TEXT NOT NULL, type TEXT NOT NULL,
  key TEXT NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL, salience REAL NOT NULL,
  occurred_ms INTEGER NOT NULL, nodes TEXT NOT NULL, message INTEGER NOT NULL,
  quote TEXT NOT NULL, seq INTEGER NOT NULL,
  UNIQUE(agent, holder, type, key, occurred_ms)) STRICT;
CREATE INDEX IF NOT EXISTS graph_episodes__g#_when
  ON graph_episodes__g#(agent, holder, occurred_ms);
CREATE TABLE IF NOT EXISTS graph_files__g#(
  seq INTEGER PRIMARY KEY, agent TEXT NOT NULL, id TEXT NOT NULL, text_hash TEXT NOT NULL,
  message INTEGER NOT NULL, entry_id TEXT NOT NULL, name TEXT NOT NULL, mime TEXT NOT NULL,
  kind TEXT NOT NULL, bytes INTEGER NOT NULL, tokens INTEGER NOT NULL, start INTEGER NOT NULL,
  whole INTEGER NOT NULL, said_ms INTEGER NOT NULL, summary TEXT NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS graph_files__g#_when ON graph_files__g#(agent, said_ms);
CREATE INDEX IF NOT EXISTS graph_files__g#_id ON graph_files__g#(agent, id);
CREATE INDEX IF NOT EXISTS graph_files__g#_text ON graph_files__g#(agent, text_hash);
CREATE INDEX IF NOT EXISTS graph_files__g#_message ON graph_files__g#(message);
CREATE TABLE IF NOT EXISTS graph_dissolved__g#(seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS graph_counters__g#(
  name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
)sql";

inline constexpr std::string_view kGraphDrop =
    "DROP TABLE IF EXISTS graph_messages__g#; DROP TABLE IF EXISTS graph_claims__g#;"
    "DROP TABLE IF EXISTS graph_evidence__g#; DROP TABLE IF EXISTS graph_facts__g#;"
    "DROP TABLE IF EXISTS graph_let_go__g#; DROP TABLE IF EXISTS graph_merges__g#;"
    "DROP TABLE IF EXISTS graph_nodes__g#; DROP TABLE IF EXISTS graph_aliases__g#;"
    "DROP TABLE IF EXISTS graph_edges__g#; DROP TABLE IF EXISTS graph_episodes__g#;"
    "DROP TABLE IF EXISTS graph_files__g#; DROP TABLE IF EXISTS graph_dissolved__g#; DROP TABLE IF "
    "EXISTS graph_counters__g#;";

inline constexpr std::string_view kGraphViews = R"sql(
DROP VIEW IF EXISTS graph_nodes;
CREATE VIEW graph_nodes AS SELECT id, agent, holder, type, key, visible, name, description,
  status, status_ms, reason, slot, choice, replaces, aliases, confidence, source, due_ms,
  first_ms, last_ms, valid_from_ms, valid_to_ms, superseded_by, mentions, message, quote, lasts,
  description_message, reason_message
  FROM graph_nodes__g#;
DROP VIEW IF EXISTS graph_edges;
CREATE VIEW graph_edges AS SELECT id, agent, holder, from_type, from_key, type, slot, to_type,
  to_key, from_ms, until_ms, confidence, last_ms, message, quote, seq, until_seq
  FROM graph_edges__g#;
DROP VIEW IF EXISTS graph_episodes;
CREATE VIEW graph_episodes AS SELECT id, agent, holder, type, key, title, description, salience,
  occurred_ms, nodes, message, quote, seq
  FROM graph_episodes__g#;
DROP VIEW IF EXISTS graph_aliases;
CREATE VIEW graph_aliases AS SELECT agent, alias, holder, type, key
  FROM graph_aliases__g#;
DROP VIEW IF EXISTS graph_claims;
CREATE VIEW graph_claims AS SELECT id, seq, kind, ordinal, agent, holder, type, key, to_type,
  to_key, slot, choice, replaces, body, said_ms, message, quote, state
  FROM graph_claims__g#;
DROP VIEW IF EXISTS graph_evidence;
CREATE VIEW graph_evidence AS SELECT claim, message, quote
  FROM graph_evidence__g#;
DROP VIEW IF EXISTS graph_messages;
CREATE VIEW graph_messages AS SELECT m.message, m.entry_id, m.agent,
  coalesce((SELECT min(s.session_id) FROM graph_sightings__g# s WHERE s.message = m.message AND NOT
    EXISTS(SELECT 1 FROM graph_deleted__g# d WHERE d.agent = s.agent AND d.session_id =
    s.session_id)), m.session_id) AS session_id,  -- whichever of its copies was read first
  m.session_key, m.speaker, m.person, m.occurred_ms
  FROM graph_messages__g# m;
DROP VIEW IF EXISTS graph_merges;
CREATE VIEW graph_merges AS SELECT agent, holder, type, from_key, into_key, at_ms, undone, source
  FROM graph_merges__g#;
DROP VIEW IF EXISTS graph_files;
CREATE VIEW graph_files AS SELECT seq, agent, id, text_hash, message, entry_id, name, mime, kind,
  bytes, tokens, start, whole, said_ms, summary
  FROM graph_files__g#;
DROP VIEW IF EXISTS graph_counters;
CREATE VIEW graph_counters AS SELECT name, value
  FROM graph_counters__g#;
)sql";

}  // namespace clawmark
