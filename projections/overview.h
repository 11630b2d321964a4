#pragma once
// Counts and lists for status, metrics and the operator's commands. Read only.

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

struct Overview {
  Seq head;
  std::int64_t messages = 0;    // in the log
  std::int64_t recallable = 0;  // of them, may be recalled and their text can be had
  std::int64_t texts_gone = 0;  // might be recalled, but no carrier and no vault has the text
  std::int64_t unplaced = 0;    // recallable for the operator alone: no index names their session
  std::int64_t sessions = 0;
  std::int64_t facts = 0;       // live
  std::int64_t facts_user = 0;  // of them, stated by people
  std::int64_t parked = 0;
  std::int64_t vault_bodies = 0;
  std::int64_t skipped_lines = 0;  // the rest of a stream counts as one
  TimeMs newest_message;
  std::vector<std::pair<std::string, std::int64_t>> vectors;  // by model
};
Result<Overview> read_overview(Database& db);

Result<std::int64_t> count_texts_gone(Database& db);

// Messages that might be recalled if it were known whose conversation they are from.
Result<std::int64_t> count_unplaced(Database& db);

struct SourceStateRow {
  std::string carrier, path, state, reason, message, counters;  // counters: JSON text
  std::int64_t changes = 0;
  TimeMs changed, newest;
  std::int64_t streams = 0;
};
Result<std::vector<SourceStateRow>> read_source_states(Database& db);

// What was left out of recall and of the facts, and why: "noise:heartbeat", "class:toolResult",
// "lane:cron", "state:rewound"; of facts the rule's code: "CONFIDENCE", "INJECTION". Each message
// counts once.
using ReasonCounts = std::vector<std::pair<std::string, std::int64_t>>;
struct Filtered {
  ReasonCounts messages, facts;
};
Result<Filtered> read_filtered(Database& db);

// Lines and rows of carriers that could not be read; the newest first. Before them the streams that
// cannot be read on: a damaged archive, a file that is not ours to read.
struct SkippedRow {
  std::string carrier, file, reason;
  std::int64_t line = 0, byte = -1;  // byte -1: a row of a database; line -1: all that follows
  TimeMs seen;
};
Result<std::vector<SkippedRow>> read_skipped(Database& db, std::size_t limit);
// Only streams that cannot be read on.
Result<std::vector<SkippedRow>> read_stopped(Database& db, std::size_t limit);

struct ParkedRow {
  Seq event;
  std::string worker, reason, detail;
  int generation = 0, attempts = 0;
  Seq message;
  TimeMs parked;
  bool retry = false;  // asked to be tried again
};
Result<std::vector<ParkedRow>> read_parked(Database& db, std::size_t limit);

struct SpendRow {
  std::string day, worker, model;
  std::int64_t calls = 0, input_tokens = 0, output_tokens = 0, micro_usd = 0;
};
Result<std::vector<SpendRow>> read_spend(Database& db, std::string_view since_day);

// Messages of the log, and those of them after a place in it.
struct Waiting {
  std::int64_t all = 0, after = 0;
};
Result<Waiting> read_waiting(Database& db, Seq place);

// What ought to fit together inside the store.
struct StoreFit {
  std::int64_t recallable = 0;        // messages
  std::int64_t chunks_astray = 0;     // of messages that are not there
  std::int64_t chunks_forgotten = 0;  // of messages that were forgotten
  std::int64_t unblanked = 0;         // forgotten before `before`, and their text still in the log
  std::int64_t facts_unblanked = 0;   // events that still say a fact which was
  // What is still somewhere in the store though it was forgotten.
  std::int64_t waiting() const { return unblanked + facts_unblanked + chunks_forgotten; }
};
Result<StoreFit> read_store_fit(Database& db, TimeMs before);

// Agents that the log knows, ascending.
Result<std::vector<std::string>> list_agents(Database& db);
// Keys of the sessions of one agent that are not deleted, ascending.
Result<std::vector<std::string>> list_session_keys(Database& db, std::string_view agent);

// Holders of live facts, and audiences of messages, of one agent; for the operator, who may see
// all.
Result<std::vector<std::string>> list_holders(Database& db, std::string_view agent);
Result<std::vector<std::string>> list_audiences(Database& db, std::string_view agent);
// Whether somebody who is no owner has spoken under this session key.
Result<bool> has_strangers(Database& db, std::string_view agent, std::string_view session_key);

// Whether this person has ever said something to this agent.
Result<bool> is_known_person(Database& db, std::string_view agent, std::string_view person);

}  // namespace clawmark
