#pragma once
// What was said before that bears on a query: lexical and vector candidates, a weighted sum of
// their scaled scores, what the request already holds taken out, near-duplicates and neighbours put
// together, sessions mixed, and a calibrated measure of whether a hit is worth showing at all
// (reference: eval.md, section 6).

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "projections/as_of.h"
#include "serve/beside.h"
#include "serve/block.h"
#include "serve/body_reader.h"
#include "serve/caller.h"
#include "serve/index_keeper.h"
#include "serve/query_embedder.h"
#include "serve/query_reranker.h"
#include "serve/terms.h"

namespace clawmark {

// What the request already holds.
struct RequestWindow {
  bool known = false;  // false: everything of the caller's session counts as held
  std::int64_t count = 0;
  TimeMs oldest;  // zero: not said
};

struct RecallQuery {
  std::string text;  // as the host gave it
  std::string session_id;
  std::optional<RequestWindow> window;  // nullopt: a search, which leaves nothing out
  std::size_t limit = 6;
  double threshold = 0;  // calibrated score from which a hit is shown
  std::int64_t deadline_steady_ms = 0;
  bool withhold_orders = true;  // leave out texts that give orders to the model
  std::size_t ranked_max = 0;   // messages wanted in RecallAnswer::ranked
  std::optional<AsOf> at;       // only what had been said by then
  std::string zone = "UTC";     // IANA, of the days that the text names
};

struct RecallAnswer {
  std::string query;  // as understood: without envelopes and memory blocks
  std::vector<RecallItem> items;
  std::vector<Seq> ranked;  // best first, before neighbours are put together and sessions mixed
  std::vector<std::string>
      degraded;  // "lexical", "lexical_cut", "vectors", "embedding_timeout", "bodies", …
  std::size_t withheld = 0;    // texts that read like orders
  std::size_t unreadable = 0;  // hits whose text neither vault nor source can give
};

struct VectorFound;

// Token sets of messages, for comparing with what a request holds. Hashes only, no text.
class TokenMemory {
 public:
  std::optional<TokenSet> find(Seq message);
  void keep(Seq message, TokenSet tokens);

 private:
  std::mutex mutex_;
  std::unordered_map<std::int64_t, TokenSet> sets_;
};

class Retrieval {
 public:
  // All must outlive it; `embedder` and `index` may be null (then recall is lexical), and
  // `reranker`.
  Retrieval(const Clock& clock, BodyReader& bodies, QueryEmbedder* embedder, IndexKeeper* index,
            const QueryReranker* reranker = nullptr);

  RecallAnswer recall(Database& db, const Sight& sight, const RecallQuery& query);

 private:
  struct Pool;
  struct Cluster;
  bool find_candidates(Database& db, const Sight& sight, Pool& pool);
  void lexical_leg(Database& db, const Sight& sight, Pool& pool);
  VectorFound vector_leg(const Sight& sight, const Pool& pool) const;
  void look_up_nearness(Pool& pool);
  Status read_rows(Database& db, const Sight& sight, Pool& pool);
  void look_around(Pool& pool);
  static Status mark_outdated(Database& db, Pool& pool);
  void rank(Pool& pool);
  void read_texts(Database& db, Pool& pool, std::size_t clusters);
  static void calibrate_all(const Cluster& cluster, Pool& pool);
  void rerank(Pool& pool);
  void choose(Pool& pool);
  std::int64_t left_ms(const RecallQuery& query) const;

  const Clock& clock_;
  BodyReader& bodies_;
  QueryEmbedder* embedder_;
  IndexKeeper* index_;
  const QueryReranker* reranker_;
  TokenMemory memory_;
  Beside beside_;
};

}  // namespace clawmark
