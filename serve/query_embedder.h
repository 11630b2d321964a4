#pragma once
// The vector of a query, within a deadline: built-in models answer at once, an endpoint is asked
// and may be late.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "models/model.h"
#include "models/transport.h"

namespace clawmark {

struct QueryVector {
  Vector vector;         // empty: none
  std::string degraded;  // why not: "embedding_timeout", "embedding_<reason>"
};

class QueryEmbedder {
 public:
  // `transport` may be null when the embedder is local. Both must outlive it and answers under way.
  QueryEmbedder(Embedder& embedder, Transport* transport);

  // Safe from several threads. An answer that comes too late is kept for the next asking of the
  // same text.
  QueryVector embed(const std::string& text, std::int64_t wait_ms);
  // Of a built-in model only; empty for an endpoint's.
  std::vector<Vector> embed_local(const std::vector<std::string>& texts);
  ModelId model() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace clawmark
