#pragma once
// All of history as a reader may page through it, and the signatures by which a regular expression
// finds its few candidates among a million messages.
//
// In history: messages of people, the agent and its tools in direct and group conversations, on the
// active path, not deleted or forgotten; heartbeats, boot texts and our own calls are not.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"
#include "projections/projection.h"

namespace clawmark {

// Through whose eyes, and where.
struct HistoryScope {
  std::string agent;
  std::vector<std::string> audiences;  // none: nothing
  // Only these sessions, as one conversation; nullopt: all.
  std::optional<std::vector<std::string>> sessions;
};

struct HistoryEntry {
  Seq message;
  TimeMs at;
  std::int64_t chars = 0;
  std::string role;  // "user", "assistant", "tool", …
};

// In order of time; an entry's index is its place.
Result<std::vector<HistoryEntry>> history_entries(Database& db, const HistoryScope& scope);

// How many there are in these sessions. Counted one by one up to kHistoryCountMax; of more, what
// the host has told of them, a few too many. Zero when none is in sight.
Result<std::int64_t> history_count(Database& db, const HistoryScope& scope);
// How many messages of a session the log holds as the host counts what it shows a model: also those
// that are no history, such as calls of tools without a word. Beyond kHistoryCountMax what the host
// has told of it.
Result<std::int64_t> session_held(Database& db, std::string_view agent,
                                  std::string_view session_id);

// Ids of the sessions under a session key, or of the session with this id; whether the caller may
// see anything in them is for the scope to say.
Result<std::vector<std::string>> sessions_named(Database& db, std::string_view agent,
                                                std::string_view key_or_id);

struct HistoryRow {
  Seq message;
  TimeMs at;
  std::string role, speaker, session_id, session_key;
};
// nullopt: not in history, or not for these eyes.
Result<std::optional<HistoryRow>> history_row(Database& db, const HistoryScope& scope, Seq message);

// Whether a signature (empty: none) may belong to a text that is looked for.
using GramTest = std::function<bool(std::span<const std::uint8_t>)>;

struct GramCandidate {
  Seq message;
  TimeMs at;
};
struct GramScan {
  std::vector<GramCandidate> candidates;  // newest first; walls are not looked at here
  std::int64_t looked_at = 0;
  std::int64_t left = 0;  // messages the deadline left out, about
  // Where it ended. By the messages' numbers it goes on `below` that one, by time before it.
  GramCandidate reached{};
  bool by_number = false;
};
struct GramQuery {
  GramTest test;               // null: every message
  TimeMs since, before;        // [since, before); zero: open
  std::function<bool()> stop;  // asked now and then
  Seq below{};                 // go on where a scan by numbers ended; zero: from the newest
};
// Of the whole log, also of what is not folded yet. With a test and no range of time, rows are
// looked at by their numbers, which is faster; one that was stopped leaves its candidates in that
// order. Error: invalid "bad_cursor" when `below` is given for a scan by time.
Result<GramScan> scan_grams(Database& db, const GramQuery& query);
// Of these messages: those that pass, in the same order.
Result<std::vector<HistoryEntry>> filter_by_grams(Database& db, std::vector<HistoryEntry> entries,
                                                  const GramTest& test);

// Keeps the signatures. Needs bodies: excluded from digests of rebuild.
std::unique_ptr<Projection> make_history_projection(BodyStore& bodies, Presentable presentable);

}  // namespace clawmark
