-- By which rule (docs/log-format.md) the chain is made, from which event on. Rule 1 left out scope and times.
CREATE TABLE chain_rules(
  rule INTEGER PRIMARY KEY,
  from_seq INTEGER NOT NULL
) STRICT;
INSERT INTO chain_rules(rule, from_seq) VALUES (2, (SELECT coalesce(max(seq), 0) + 1 FROM events));
CREATE TRIGGER chain_rules_no_update BEFORE UPDATE ON chain_rules
  BEGIN SELECT RAISE(ABORT, 'chain_rules: written once (update)'); END;
CREATE TRIGGER chain_rules_no_delete BEFORE DELETE ON chain_rules
  BEGIN SELECT RAISE(ABORT, 'chain_rules: written once (delete)'); END;
