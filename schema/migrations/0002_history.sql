-- What scripts of rc_repl keep, by conversation and caller. JSON.
CREATE TABLE repl_values(
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  updated_ms INTEGER NOT NULL,
  PRIMARY KEY(owner, name)
) STRICT, WITHOUT ROWID;

-- What questions to a model cost in the turn at hand: reserved before, settled after.
CREATE TABLE query_turns(
  owner TEXT PRIMARY KEY,
  turn_ms INTEGER NOT NULL,
  reserved_micro_usd INTEGER NOT NULL,
  spent_micro_usd INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
