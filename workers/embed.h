#pragma once
// embed: what people and agents said → vectors by (model, text hash), cached; chunk rows say which
// texts stand for a message. One cursor per model: a new model embeds again from the start while
// the old vectors stay, and switching back continues where that model was. What is said now does
// not wait behind a backlog.

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "log/body_store.h"
#include "log/store.h"
#include "models/model.h"
#include "workers/body_patience.h"
#include "workers/model_machine.h"
#include "workers/paid_port.h"

namespace clawmark {

class EmbedWork final : public ModelWork {
 public:
  explicit EmbedWork(std::shared_ptr<Embedder> embedder) : embedder_(std::move(embedder)) {}
  bool is_local() const override { return embedder_->is_local(); }
  bool needs_probe() const override { return embedder_->model().dims == 0; }
  std::size_t items_per_load() const override;
  std::size_t items_per_request() const override;
  std::size_t text_bytes_max() const override;
  HttpRequest plan(std::span<const WorkItem> items) const override;
  Result<SpanAnswer> interpret(const Result<HttpResponse>& response,
                               std::span<const WorkItem> items) override;
  Result<SpanAnswer> run_local(std::span<const WorkItem> items) override;
  std::vector<WorkItem> canary() const override;

 private:
  std::shared_ptr<Embedder> embedder_;
};

// Whether a message is embedded and extracted at all: chat, no noise, direct or group, of a person
// or the agent.
bool is_talk(const Event& observed);
// The message that an event brings to the model workers: one observed in a conversation of people,
// or one whose conversation has become known with this sighting. nullopt: none.
Result<std::optional<Seq>> talk_in(Database& db, const Event& event);

class EmbedPort final : public PaidPort {
 public:
  EmbedPort(Store& store, BodyStore& bodies, std::shared_ptr<Embedder> embedder,
            BudgetLimits limits);
  WorkerId id() const override { return {"embed", generation_}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Status park(const Park& park, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;

 private:
  struct Chunk {
    Seq message;
    int ordinal = 0;
    Hash256 hash;
    std::size_t start = 0, length = 0;
  };
  struct Job {  // what the batch at hand is about
    std::shared_ptr<const Batch> batch;
    std::vector<Chunk> chunks;
    std::vector<Seq> retried;
    std::vector<std::pair<Seq, bool>> gone;  // bodies that cannot be given; true: not just now
    std::optional<Seq> from, through;        // of the cursor
  };

  std::string paid_model() const override;
  Status choose_model(TimeMs now);
  Result<bool> pick_retries(Job& job, std::vector<Seq>& wanted);
  Result<bool> pick_fresh(Job& job, std::vector<Seq>& wanted);
  Result<std::size_t> pick_next(Job& job, std::size_t limit, std::vector<Seq>& wanted);
  Result<bool> is_done(Seq message);
  Status cut_texts(Batch& batch, std::span<const Seq> wanted, std::size_t bytes_max, TimeMs now);
  Result<bool> has_vector(const Hash256& hash);
  Status put_vector(Transaction& txn, const Hash256& hash, const Vector& vector);
  Status put_chunks(Transaction& txn);

  BodyStore& bodies_;
  std::shared_ptr<Embedder> embedder_;
  ModelId model_;
  int generation_ = 0;  // id of the model's row
  Job job_;
  BodyPatience patience_;
  std::set<std::int64_t> parked_here_;  // of the batch at hand
};

}  // namespace clawmark
