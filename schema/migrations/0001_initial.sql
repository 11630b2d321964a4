CREATE TABLE schema_version(
  version INTEGER PRIMARY KEY,
  applied_at TEXT NOT NULL
) STRICT;

CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events(
  seq INTEGER PRIMARY KEY,
  origin TEXT NOT NULL,
  origin_seq INTEGER NOT NULL,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  agent TEXT NOT NULL,
  session_key TEXT NOT NULL,
  lane TEXT NOT NULL,
  sender TEXT NOT NULL,
  dedupe_key TEXT NOT NULL UNIQUE,
  occurred_ms INTEGER NOT NULL,
  recorded_ms INTEGER NOT NULL,
  payload TEXT NOT NULL,
  payload_hash BLOB NOT NULL,
  chain BLOB NOT NULL,
  redacted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX events_type ON events(type, seq);

CREATE TRIGGER events_dense BEFORE INSERT ON events
  WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)
  BEGIN SELECT RAISE(ABORT, 'events: seq must be dense'); END;
CREATE TRIGGER events_no_replace BEFORE INSERT ON events
  WHEN EXISTS (SELECT 1 FROM events WHERE dedupe_key = NEW.dedupe_key)
  BEGIN SELECT RAISE(ABORT, 'events: append-only (replace)'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
  BEGIN SELECT RAISE(ABORT, 'events: append-only (delete)'); END;
-- How many rows were ever inserted: a tail that was cut off shows, though what is left is dense.
CREATE TABLE log_counter(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  events INTEGER NOT NULL
) STRICT;
INSERT INTO log_counter(id, events) VALUES (1, 0);
CREATE TRIGGER events_count AFTER INSERT ON events
  BEGIN UPDATE log_counter SET events = events + 1 WHERE id = 1; END;
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
  WHEN NOT (NEW.payload = '{"redacted":true}' AND NEW.redacted = 1 AND NEW.seq = OLD.seq
    AND NEW.origin = OLD.origin AND NEW.origin_seq = OLD.origin_seq AND NEW.type = OLD.type
    AND NEW.version = OLD.version AND NEW.agent = OLD.agent AND NEW.session_key = OLD.session_key
    AND NEW.lane = OLD.lane AND NEW.sender = OLD.sender AND NEW.dedupe_key = OLD.dedupe_key
    AND NEW.occurred_ms = OLD.occurred_ms AND NEW.recorded_ms = OLD.recorded_ms
    AND NEW.payload_hash = OLD.payload_hash AND NEW.chain = OLD.chain)
  BEGIN SELECT RAISE(ABORT, 'events: append-only (update)'); END;

CREATE TABLE cursors(
  worker TEXT NOT NULL,
  generation INTEGER NOT NULL,
  pos INTEGER NOT NULL CHECK (pos >= 0),
  state TEXT NOT NULL DEFAULT 'running',
  failure TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  retry_ms INTEGER NOT NULL DEFAULT 0,
  advanced_ms INTEGER NOT NULL DEFAULT 0,
  beat_ms INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(worker, generation)
) STRICT, WITHOUT ROWID;

-- How far each stream of each source has been read. position and anchor are the source's own notation.
CREATE TABLE source_positions(
  carrier TEXT NOT NULL,
  stream TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  position TEXT NOT NULL,
  anchor TEXT NOT NULL DEFAULT '',
  newest_ms INTEGER NOT NULL DEFAULT 0,
  seen_ms INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  note TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(carrier, stream)
) STRICT, WITHOUT ROWID;

-- State of each carrier (one per database or sessions folder), for status and source.fallback.
CREATE TABLE source_states(
  carrier TEXT NOT NULL,
  path TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL DEFAULT '',
  changes INTEGER NOT NULL DEFAULT 0,
  changed_ms INTEGER NOT NULL DEFAULT 0,
  newest_ms INTEGER NOT NULL DEFAULT 0,
  counters TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY(carrier, path)
) STRICT, WITHOUT ROWID;

-- Where a carrier holds a message: a cache, made again by reading the source again.
CREATE TABLE locators(
  message INTEGER NOT NULL,
  carrier TEXT NOT NULL,
  stream TEXT NOT NULL,
  place TEXT NOT NULL,
  PRIMARY KEY(message, carrier, stream)
) STRICT, WITHOUT ROWID;

-- Content identity: finds a message that came under another entry id. Derived from message.observed.
CREATE TABLE message_contents(
  agent TEXT NOT NULL,
  content BLOB NOT NULL,
  message INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  occurred_ms INTEGER NOT NULL,
  PRIMARY KEY(agent, content, message)
) STRICT, WITHOUT ROWID;

-- The vault: texts by hash, zstd.
CREATE TABLE bodies(
  hash BLOB PRIMARY KEY,
  bytes INTEGER NOT NULL,
  frame BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Embedding cache: slow but deterministic, kept over rebuilds.
CREATE TABLE embedding_models(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  dims INTEGER NOT NULL,
  first_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE vectors(
  model INTEGER NOT NULL REFERENCES embedding_models(id),
  hash BLOB NOT NULL,
  scale REAL NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY(model, hash)
) STRICT, WITHOUT ROWID;
-- Which texts (chunks) stand for a message: hash is SHA-256 of the chunk's cleaned, redacted text.
CREATE TABLE chunks(
  message INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  hash BLOB NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY(message, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX chunks_hash ON chunks(hash);

-- Items that a worker set aside; the events are the history, this is the present.
CREATE TABLE parked(
  event INTEGER PRIMARY KEY,
  worker TEXT NOT NULL,
  generation INTEGER NOT NULL,
  message INTEGER NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  parked_ms INTEGER NOT NULL,
  retry INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Model use per day (UTC), for the budget.
CREATE TABLE spend(
  day TEXT NOT NULL,
  worker TEXT NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  micro_usd INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY(day, worker, model)
) STRICT, WITHOUT ROWID;

-- Which generation of each projection is live; views facts, memory_events, … read it.
CREATE TABLE projections(
  name TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  fold_version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
