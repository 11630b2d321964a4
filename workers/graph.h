#pragma once
// graph: leaf chunks of one session (kLeafChunkTokens, or idle, reset, end of the session) →
// graph.completed: prose, the state paragraph, and what was said of things, relations and events,
// each item with its evidence and the holder of the message that vouches for it.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/limits_world.h"
#include "models/graph.h"
#include "workers/model_machine.h"
#include "workers/window_port.h"

namespace clawmark {

// Chunks whose prose was no good and that are asked about once more, by their first message.
using SecondTries = std::set<std::int64_t>;

class GraphWork final : public ModelWork {
 public:
  GraphWork(std::shared_ptr<GraphExtractor> extractor, std::string zone,
            std::shared_ptr<const SecondTries> again = nullptr)
      : extractor_(std::move(extractor)), zone_(std::move(zone)), again_(std::move(again)) {}
  bool is_local() const override { return extractor_->is_local(); }
  bool needs_probe() const override { return false; }
  std::size_t items_per_load() const override;
  std::size_t items_per_request() const override { return items_per_load(); }
  std::size_t text_bytes_max() const override { return 0; }
  HttpRequest plan(std::span<const WorkItem> items) const override;
  Result<SpanAnswer> interpret(const Result<HttpResponse>& response,
                               std::span<const WorkItem> items) override;
  Result<SpanAnswer> run_local(std::span<const WorkItem> items) override;
  std::vector<WorkItem> canary() const override;

 private:
  std::shared_ptr<GraphExtractor> extractor_;
  std::string zone_;
  std::shared_ptr<const SecondTries> again_;
};

struct GraphOptions {
  double idle_hours = 3;
  BudgetLimits limits;
  std::size_t chunk_tokens = kLeafChunkTokens;
  std::size_t target_tokens = kLeafTargetTokens;  // of a chunk's summary
};

class GraphPort final : public WindowPort {
 public:
  GraphPort(Store& store, BodyStore& bodies, std::shared_ptr<GraphExtractor> extractor,
            const GraphOptions& options, std::shared_ptr<SecondTries> again = nullptr);

 private:
  bool again(const std::vector<const WorkItem*>& items, const SpanAnswer& answer) override;
  std::optional<NewEvent> completed(const std::vector<const WorkItem*>& items,
                                    const SpanAnswer& answer) const override;
  bool is_answer(const SpanAnswer& answer) const override { return answer.graph.has_value(); }
  // Evidence, holder and whether it counts; false: nothing vouches for the item.
  template <class Item>
  void add_evidence(const Item& item, json::object& out) const;
  json::object node_json(const GraphNode& node) const;
  json::object edge_json(const GraphEdge& edge) const;
  json::object episode_json(const GraphEpisode& episode) const;
  json::object merge_json(const GraphMerge& merge) const;

  std::shared_ptr<GraphExtractor> extractor_;
  std::size_t target_tokens_;
  std::shared_ptr<SecondTries> again_;
};

}  // namespace clawmark
