#pragma once
// Keeps the vector index equal to the store's vectors, in the background: nothing is built on the
// request path. A snapshot beside the store (<store>.vectors) spares the next start the reading; it
// is a cache: damaged, of another model or older than the store, it is put aside or caught up with.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/sqlite.h"
#include "log/event.h"
#include "models/model.h"
#include "serve/readers.h"
#include "serve/vector_index.h"

namespace clawmark {

struct IndexState {
  ModelId model;
  std::size_t vectors = 0;
  bool loaded = false;  // the first load is complete
  std::string failure;  // of the last look; empty: well
};

class IndexKeeper {
 public:
  // `model` is asked at each look: another model (or length) starts another index.
  IndexKeeper(Readers& readers, const Clock& clock, std::function<ModelId()> model);
  ~IndexKeeper();
  IndexKeeper(const IndexKeeper&) = delete;
  IndexKeeper& operator=(const IndexKeeper&) = delete;

  void start();  // a thread that looks every second, or when poked
  void poke();
  // One look: new vectors in, removed messages out. For tests and for the thread; not for requests.
  Status refresh();

  // Null until the first look that found the model in the store.
  std::shared_ptr<const VectorIndex> index() const;
  IndexState state() const;

 private:
  // The index of this model as the store has it, from the snapshot where there is one that fits.
  std::shared_ptr<VectorIndex> begin(Database& db, const ModelId& model);
  void improve();
  Status load_new(Database& db);
  Status compare_all(Database& db);
  void run();

  Readers& readers_;
  const Clock& clock_;
  const std::function<ModelId()> wanted_;
  std::mutex refresh_mutex_;
  // Of the last look, under refresh_mutex_.
  std::int64_t model_row_ = 0;
  int generation_ = 0;
  Seq loaded_to_, removal_seen_, head_seen_;
  std::int64_t compared_at_ = 0;  // steady
  std::string snapshot_;          // beside the store
  bool keeps_snapshot_ = false;   // only the thread writes it
  std::int64_t saved_at_ = 0;     // steady

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<VectorIndex> index_;
  IndexState state_;
  bool stop_ = false, poked_ = false;
  std::thread thread_;
};

}  // namespace clawmark
