#pragma once
// What all handlers share: made once by the daemon (or by a command that reads without it), and
// handed around.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "log/body_store.h"
#include "models/model.h"
#include "models/transport.h"
#include "serve/body_reader.h"
#include "serve/caller.h"
#include "serve/health.h"
#include "serve/index_keeper.h"
#include "serve/metrics.h"
#include "serve/query_embedder.h"
#include "serve/query_reranker.h"
#include "serve/readers.h"
#include "serve/retrieval.h"
#include "serve/writer_port.h"

namespace clawmark {

class QueryDesk;  // serve/query_desk.h

constexpr int kProtocol = 1;  // docs/api.md

// All pointers outlive the Serving. Writer, embedder and transport may be null: then nothing can be
// stated, recall is lexical, an endpoint's query vectors are not asked for.
struct ServingParts {
  std::shared_ptr<const Config> config;
  const Clock* clock = nullptr;
  std::string version;
  Readers::Open open_reader;
  BodyStore* bodies = nullptr;
  Embedder* embedder = nullptr;
  Transport* transport = nullptr;
  WriterPort* writer = nullptr;
  std::function<std::string()> new_id;  // a fresh UUID
  std::string repl_program;             // path of clawmark-repl; empty: no scripts
  std::shared_ptr<QueryDesk> desk;      // null: no model is asked questions
};

// What the plugin last said of itself (POST /v1/hello).
struct Handshake {
  std::string plugin_version, host_version;
  json::object placement;
  json::array blocked_hooks;
  std::string context_mode;  // "recursive" or "world" where the context-engine slot is ours
  bool keeps_all = false;    // every text is copied
  TimeMs at;                 // zero: never heard of it
};

class Serving {
 public:
  explicit Serving(ServingParts parts);

  std::shared_ptr<const Config> config() const;
  void set_config(std::shared_ptr<const Config> config);  // SIGHUP
  Handshake handshake() const;
  void set_handshake(Handshake handshake);

  const Clock& clock;
  const std::string version;
  const TimeMs started;
  WriterPort* const writer;
  const std::function<std::string()> new_id;
  const std::string repl_program;
  const std::shared_ptr<QueryDesk> desk;
  Metrics metrics;
  HealthMemory health;
  Readers readers;
  BodyReader bodies;
  std::unique_ptr<QueryEmbedder> embedder;  // null: none
  std::unique_ptr<IndexKeeper> index;       // null: none
  std::unique_ptr<QueryReranker> reranker;  // null: none
  Retrieval retrieval;

  // Counts a closed wall, in status and metrics.
  void count_refusal(Refusal refusal);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Config> config_;
  Handshake handshake_;
};

// Members that every answer has.
json::object protocol_object();

}  // namespace clawmark
