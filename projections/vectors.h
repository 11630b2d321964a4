#pragma once
// Reading the embedding cache for an index: which vectors stand for which recallable messages.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

struct EmbeddingModelRow {
  std::int64_t id = 0;
  std::string name;
  int dims = 0;
};

struct StoredVector {
  Seq message;
  std::string agent, audience;
  float scale = 0;
  std::vector<std::int8_t> codes;
};

Result<std::optional<EmbeddingModelRow>> find_embedding_model(Database& db, std::string_view name);
// Of recallable messages with seq > after, ascending, whole messages: about `limit` rows, then to
// the end of the message at hand. Empty: no more.
Result<std::vector<StoredVector>> read_vectors(Database& db, std::int64_t model, Seq after,
                                               std::size_t limit);
// Of these messages only; what is not recallable or has no vector is left out.
Result<std::vector<StoredVector>> read_vectors_of(Database& db, std::int64_t model,
                                                  std::span<const Seq> messages);
// All recallable messages that have a vector of this model, ascending.
Result<std::vector<Seq>> vector_messages(Database& db, std::int64_t model);
// Seq of the newest event that can take a message out of recall (branch, deletion, redaction); 0:
// none.
Result<Seq> newest_removal(Database& db);

}  // namespace clawmark
