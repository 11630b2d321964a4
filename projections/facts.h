#pragma once
// Facts as they stand now, computed from all observations of a key in the order in which they were
// said (not in which they were read): any order of ingestion gives the same state.
//
// View facts: agent, holder, subject, key, value, confidence, source ('user'|'extracted'),
// created_at, updated_at (ISO, when it was said), is_deleted, last_observed_ms, observations,
// message, origin. View memory_events: id, event_type
// (create|update|reinforce|conflict_skip|reject|injection_blocked|delete|
// extract_error|source_fallback), memory_key, old_value, new_value, source, created_at, seq, agent,
// holder. View fact_history: key, value, source, valid_from, valid_to, message, quote.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

struct Fact {
  std::string agent, holder, subject, key, value, source;
  double confidence = 0;            // as stored
  double effective_confidence = 0;  // as of the time asked
  TimeMs created, updated, last_observed;
  std::optional<TimeMs> due;
  std::int64_t observations = 0;
  std::int64_t message = 0;  // newest evidence, 0 for stated ones
};

// user: 1 for ever. extracted: as is for 90 days since last_observed, then × exp(-0.01 × days
// over). Ages clamp at 0.
double effective_confidence(const Fact& fact, TimeMs as_of);

// Keys `^[a-z][a-z0-9_.]*[a-z0-9]$`, ≤ 100, no "..", under pref. project. user. lesson. Case and
// Unicode are never folded together: a key outside the rule is refused, with the rule in the
// message. Values 1..2,000 characters.
Status check_fact_key(std::string_view key);
Status check_fact_value(std::string_view value);
// Looks for text that gives orders to the model. Empty: fine; else the rule that it met.
std::string screen_for_injection(std::string_view value);

// Live facts of these holders, user-stated first, then by key: the order of the block.
Result<std::vector<Fact>> read_facts(Database& db, std::string_view agent,
                                     const std::vector<std::string>& holders, TimeMs as_of);
Result<std::optional<Fact>> find_fact(Database& db, std::string_view agent, std::string_view holder,
                                      std::string_view subject, std::string_view key, TimeMs as_of);
// Extracted live facts not observed for so many days, oldest first.
Result<std::vector<Fact>> stale_facts(Database& db, std::string_view agent,
                                      const std::vector<std::string>& holders, int days,
                                      TimeMs as_of);

// Of these messages, those that are evidence for values that hold no longer and for nothing that
// does: a newer value of the key stands, or the value was given up for that of another key.
// Ascending.
Result<std::vector<Seq>> outdated_evidence(Database& db, const std::vector<Seq>& messages);

}  // namespace clawmark
