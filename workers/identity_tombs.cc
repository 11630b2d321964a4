// What Identity knows of messages that a user took away.

#include "workers/identity.h"

namespace clawmark {

// A message whose event was blanked is told again by what its tombstone says of it.
Status Identity::known_by_tombstone(KnownMessage& message) {
  CLAWMARK_ASSIGN(auto* query,
                  db_.cached("SELECT t.payload ->> '$.entry_id', t.payload ->> '$.session_id',"
                             " t.payload ->> '$.role', t.payload ->> '$.noise',"
                             " t.payload ->> '$.class' FROM events e JOIN events t ON"
                             " t.dedupe_key = 'forgotten:' || e.dedupe_key WHERE e.seq = ?"));
  CLAWMARK_ASSIGN(const bool row, query->with(message.message.value).step());
  if (row) {
    message.entry_id = query->string(0);
    message.session_id = query->string(1);
    message.role = query->string(2);
    message.noise = query->string(3);
    message.entry_class = query->string(4);
  }
  query->reset();
  return Ok{};
}

Result<bool> Identity::is_forgotten(Seq message, const Met& met, std::string_view sender) {
  CLAWMARK_ASSIGN(const auto named,
                  db_.query_int("SELECT 1 FROM events e WHERE e.seq = ? AND (e.redacted = 1 OR"
                                " EXISTS (SELECT 1 FROM events t WHERE t.dedupe_key IN"
                                " ('forgotten:' || e.dedupe_key,"
                                " 'forgotten-source:' || e.dedupe_key)))",
                                message.value));
  if (named) return true;
  CLAWMARK_ASSIGN(const auto ruled,
                  db_.query_int("SELECT 1 FROM events WHERE type IN ('session.forgotten',"
                                " 'person.forgotten') AND agent = ?1 AND"
                                " payload ->> '$.until_ms' >= ?2 AND"
                                " (payload ->> '$.session_id' = ?3 OR (?4 <> '' AND"
                                " payload ->> '$.person' = ?4)) LIMIT 1",
                                met.agent, met.said, met.session_id, sender));
  return ruled.has_value();
}

}  // namespace clawmark
