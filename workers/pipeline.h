#pragma once
// The whole of the workers behind one handle, for cmd/: ingest, projections, embed, extract, decay
// over one store.
//
//   auto pipeline = Pipeline::make(store, clock, models, options);
//   (*pipeline)->start(transport_options);  … (*pipeline)->stop();     // the daemon
//   (*pipeline)->run_until_idle(once);                                   // --once, tests: no
//   threads
//
// Commands of users go through append_now(): committed at FULL, folded into facts, then
// acknowledged.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits_world.h"
#include "base/result.h"
#include "log/bell.h"
#include "log/body_store.h"
#include "log/store.h"
#include "models/graph.h"
#include "models/model.h"
#include "models/summary.h"
#include "models/transport.h"
#include "projections/projection.h"
#include "sources/source.h"
#include "workers/budget.h"
#include "workers/estimate.h"
#include "workers/loop.h"
#include "workers/prices.h"

namespace clawmark {

struct WorkerStatus;

struct PipelineModels {
  std::shared_ptr<Embedder> embedder;               // null: no embedding
  std::shared_ptr<Extractor> extractor;             // null: no extraction
  std::string embed_origin, extract_origin;         // URL origins, for Retry-After; empty: built in
  std::shared_ptr<GraphExtractor> graph = nullptr;  // null: no world model; origin: extract_origin
  std::shared_ptr<Summarizer> summarizer = nullptr;  // null: summaries are not joined; likewise
};

struct PipelineOptions {
  SourceOptions sources;
  std::function<std::vector<OpenSource>()> discover;  // empty: discover_sources(sources)
  bool order_as_found = false;                        // tests: carriers in the order of discover
  Retention retention = Retention::kReference;
  std::string zone = "UTC";
  double idle_hours = 3;
  std::size_t window_messages = 0;  // 0: kWindowMessages
  BudgetLimits limits;
  PriceTable prices;  // instead of the list prices
  double confidence_threshold = 0.8;
  std::uint64_t seed = 1;    // of the back-off's jitter
  std::int64_t poll_ms = 0;  // 0: kPollMs
  bool search = true;        // keep the lexical index
  std::size_t large_file_tokens = kLargeFileTokens, leaf_chunk_tokens = kLeafChunkTokens;
  std::size_t leaf_target_tokens = kLeafTargetTokens;
  std::size_t condensed_target_tokens = kCondensedTargetTokens;
  std::string graph_origin;  // of the world model's endpoint; empty: extract_origin
};

class Pipeline {
 public:
  // Makes projections where missing and rebuilds outdated ones. The store must outlive it.
  static Result<std::unique_ptr<Pipeline>> make(Store& store, const Clock& clock,
                                                PipelineModels models, PipelineOptions options);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // --- without threads
  Result<DrainReport> run_until_idle(const OnceOptions& once = {});

  // --- with threads
  void start(const TransportOptions& transport);
  void stop();
  bool running() const;
  void notify();  // any thread: look now
  // Any thread but the writer's. Waits at most timeout_ms, then says what remains; the work goes
  // on. unripe: also windows that are neither full nor old.
  Result<DrainReport> drain(std::int64_t timeout_ms, bool unripe = true);
  // Runs on the writer between two slices (at once when not started), and waits for the result.
  Status run_on_writer(const std::function<Status(Store&)>& work);
  // Appends what a user stated or forgot, commits at FULL, and folds it into facts and the message
  // index before returning.
  Status append_now(std::span<const NewEvent> events);
  // Whether the host builds its requests from what we keep (retention auto then keeps every text,
  // also of messages seen earlier). Returns whether every text is kept from now on.
  Result<bool> serve_context(bool ours);
  // Of one worker when not empty; of one batch.parked event when not zero. How many there are.
  Result<std::size_t> retry_parked(std::string_view worker = {}, Seq event = {});

  std::vector<WorkerStatus> status() const;
  std::int64_t beat_age_ms() const;  // of the writer's thread; 0 when not started
  Result<BacklogEstimate> estimate();
  std::span<Projection* const> projections() const;
  // Names of those that were folded again from the log when this was made.
  const std::vector<std::string>& folded_again() const;
  BodyStore& bodies();
  Bell& bell();

 private:
  struct State;
  explicit Pipeline(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace clawmark
