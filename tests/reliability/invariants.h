#pragma once
// What must hold whatever happened, in one place for every harness of this folder: each check takes
// a store and gives what it violates, in words; nothing means sound.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/sqlite.h"
#include "log/event.h"
#include "projections/projection.h"
#include "workers/loop.h"

namespace clawmark::reliability {

using Violations = std::vector<std::string>;
void add(Violations& to, Violations more);
std::string joined(const Violations& violations);

// 1. The log is dense, its chain and payload hashes are valid, and SQLite finds the file whole.
Violations check_log(Database& db);

// 2. Cursors are never beyond the head, and never behind where they were. `before` is what they
// were at the last look (changed to what they are now); clear it after a power loss, which may take
// back what was committed at NORMAL.
using CursorMemory = std::map<std::pair<std::string, int>, std::int64_t>;
Violations check_cursors(Database& db, CursorMemory& before);

// 3. Each projection equals the fold, into an empty database, of the events up to its cursor.
Violations check_folds(Database& db, std::span<Projection* const> projections);

// 4. When idle: each entry is observed exactly once. `entries`: agent and entry id.
using EntryNames = std::vector<std::pair<std::string, std::string>>;
Violations check_observed_once(Database& db, const EntryNames& entries);

// 5. What was acknowledged to a user is in the log: dedupe keys of its events.
Violations check_acknowledged(Database& db, std::span<const std::string> dedupe_keys);

// 6. A rebuild gives the digest of the live state. Writes: folds into a new generation.
Violations check_rebuild(Database& db, std::span<Projection* const> projections, TimeMs now);

// 7. Sources are as they were: digest over names and bytes, taken before and after
// (support::tree_digest).
Violations check_sources(const std::string& before, const std::string& after);

// 8. Guarded blocks: within the budget (code points), every guard opened once and closed once, in
// that order, and nothing behind it.
Violations check_blocks(std::string_view facts_block, std::string_view recall_block,
                        std::size_t budget);

// 9. Poison delays nobody but itself: just these messages are parked by that worker, and it has
// passed all others.
Violations check_only_parked(Database& db, std::string_view worker,
                             std::span<const std::int64_t> messages);

// 10. Nobody is idle, or stopped, while there is input for them.
Violations check_nobody_idle(const DrainReport& report);

// 11. The vault holds what its names say, the embedding cache vectors of its models' length, chunks
// and parked rows only of messages that are in the log.
Violations check_caches(Database& db);

// 12. No answer counts twice: a message is in one window of each kind (extract, graph; of one model
// and prompt version), and a summary below one other at most, whose sources came before it.
Violations check_asked_once(Database& db);

// 1, 2, 3, 5, 11, 12: what holds at any moment, also in the middle of work.
Violations check_anytime(Database& db, std::span<Projection* const> projections,
                         CursorMemory& before, std::span<const std::string> acknowledged);

}  // namespace clawmark::reliability
