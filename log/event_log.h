#pragma once
// The one append-only table. Dense: max(seq) = count(*). chain = SHA-256 over the previous chain
// and every column by the rule in docs/log-format.md, 32 zero bytes before the first event; it
// covers the payload's hash, so a redaction does not break it.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

struct Appended {
  std::size_t fresh = 0;  // newly written
  std::size_t known = 0;  // dropped: their dedupe_key was there
  Seq head;               // after the append
};

struct LogCheck {
  std::int64_t events = 0;
  bool dense = true;
  bool chain_valid = true;
  std::optional<Seq> first_bad;  // where density, chain or payload hash first differ
};

// Keeps no state between calls (a rolled-back append leaves nothing behind); one writer at a time.
class EventLog {
 public:
  // `origin` names this node (from table meta). The clock stamps recorded_ms.
  EventLog(const Clock& clock, std::string origin);

  // Appends in order within the caller's transaction. Ill-formed UTF-8 in a payload becomes U+FFFD,
  // as what was appended must be readable. Error: invalid for a payload over
  // kPayloadBytesMax, a batch over kEventBatchMax or an empty type, key or agent; then nothing of
  // the batch is written.
  Result<Appended> append(Transaction& txn, std::span<const NewEvent> events);
  Result<Appended> append(Transaction& txn, const NewEvent& event);

  // Events with seq > after, ascending, at most `limit`; only those of `types` unless it is empty.
  // Never skips an event that a later call with the last seq as `after` would have to return.
  static Result<std::vector<Event>> read(Database& db, Seq after, std::size_t limit,
                                         std::span<const std::string_view> types = {});
  static Result<std::optional<Event>> get(Database& db, Seq seq);
  static Result<std::optional<Seq>> find(Database& db, std::string_view dedupe_key);
  static Result<Seq> head(Database& db);

  // Blanks a payload in place (hash and chain stay) and appends event.redacted {seq, reason}.
  // Idempotent. Error: not_found.
  Status redact(Transaction& txn, Seq seq, std::string_view reason);

  // Recomputes density, chain and payload hashes over the whole log; a blanked payload needs its
  // event.redacted.
  static Result<LogCheck> verify(Database& db);
  // max(seq) = count(*) = the counter kept by trigger. Error: fatal, stage "log", reason
  // "not_dense" or "cut_off" (rows are missing at the end).
  static Status check_dense(Database& db);

 private:
  const Clock* clock_;
  std::string origin_;
};

}  // namespace clawmark
