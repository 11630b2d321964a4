-- Messages whose text neither the vault nor any carrier gives any more: a cache beside locators.
CREATE TABLE texts_gone(
  message INTEGER PRIMARY KEY,
  since_ms INTEGER NOT NULL
) STRICT;

-- place = '': the stream was rewritten since, and has not shown the message again.
CREATE INDEX locators_stale ON locators(carrier, stream) WHERE place = '';

-- Lines and rows that could not be read, the newest of each stream; source_positions.skipped counts all.
CREATE TABLE skipped_lines(
  carrier TEXT NOT NULL,
  stream TEXT NOT NULL,
  line INTEGER NOT NULL,
  file TEXT NOT NULL,
  byte INTEGER NOT NULL,
  reason TEXT NOT NULL,
  seen_ms INTEGER NOT NULL,
  PRIMARY KEY(carrier, stream, line)
) STRICT, WITHOUT ROWID;

-- Half-built generations that a rebuild goes on with after it was cut short.
CREATE TABLE rebuilds(
  name TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  fold_version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
