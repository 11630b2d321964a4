#pragma once
// Making bytes go: what was forgotten leaves the database's pages, its write-ahead log and the
// copies that we made of it. And the proof: looking for the texts in every file of the store.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/store.h"

namespace clawmark {

struct PurgedTexts {
  std::int64_t bodies = 0, vectors = 0, parked = 0;
};
// Texts of messages that nobody may see any more: `hashes` (of raw texts that no other message
// shares) leave the vault, the messages' chunks and the vectors that only they had leave the
// embedding cache, what was set aside of them leaves table parked. What tells the messages again
// when a carrier shows them once more (identity, place) stays. `frames`, unless null, gets the
// bytes under which the vault kept those texts, to look for them afterwards.
Result<PurgedTexts> drop_texts(Transaction& txn, std::span<const Seq> messages,
                               std::span<const Hash256> hashes,
                               std::vector<std::string>* frames = nullptr);

// Rewrites the database without its free pages and empties the write-ahead log. Error: retriable
// while a reader holds an old state for longer than the connection's busy timeout.
Status scrub_files(Database& db);

// Copies of the store that we made before an upgrade (`<store>.v<N>.bak`, half-made ones too).
std::vector<std::string> list_backups(const std::string& store_path);
// Removes them and returns their names. They hold what was forgotten, under an older schema.
Result<std::vector<std::string>> remove_backups(const std::string& store_path);

// Files of the store's folder that belong to the store and hold one of the texts; texts shorter
// than 8 bytes are not looked for. At most `limit` texts, the longest.
Result<std::vector<std::string>> files_holding(const std::string& store_path,
                                               std::vector<std::string> texts,
                                               std::size_t limit = 256);

}  // namespace clawmark
