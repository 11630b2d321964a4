#pragma once
// What the store keeps beside its log and its projections: texts in the vault, the places where
// carriers hold the others, chunks and vectors. Whether it is whole, and what makes it so again.
// Reads every text of the vault, and of those that have no copy and ought to have one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "log/body_store.h"
#include "log/store.h"

namespace clawmark {

struct StoredState {
  std::int64_t bodies = 0;      // texts in the vault
  std::vector<Hash256> rotten;  // of them: not what their hash says
  // Messages without a sound copy, of those that are shown to anybody:
  std::vector<Seq> uncopied;        // the retention keeps their text, and a carrier still gives it
  std::vector<Seq> lost;            // their text was kept, and nothing gives it any more
  std::vector<Seq> placeless;       // nobody knows where their text is
  std::int64_t away = 0;            // what holds their text cannot be read now
  std::int64_t astray = 0;          // chunks and places of messages that are not in the log
  std::int64_t vectors = 0;         // of all models
  std::int64_t vectors_rotten = 0;  // of another length than their model, or without a scale
  std::int64_t unembedded = 0;      // messages that embed has passed and that have no vectors
};

// `bodies` says what is kept and where else to look. No transaction is open on `db`. A vector of
// the right length that says something else cannot be told.
Result<StoredState> check_stored(Database& db, BodyStore& bodies);
// For people, with remedies; empty: whole. Of the vault (and the places), of the vectors.
std::vector<std::string> vault_problems(const StoredState& state);
std::vector<std::string> vector_problems(const StoredState& state);

// On the writer. `running`: workers may be at work, so what they stand on is not moved under them.
// What was done and what is left to do, for people.
Result<std::vector<std::string>> mend_stored(Store& store, BodyStore& bodies,
                                             const StoredState& state, bool running, TimeMs now);
// Cursors beyond the log: a worker's goes to the start (what was done is recognised), one of a
// projection that is served stays for its rebuild, any other is taken away. Names of the served
// projections are added to `to_rebuild`.
Result<std::vector<std::string>> mend_cursors(Store& store, std::vector<std::string>& to_rebuild);

}  // namespace clawmark
