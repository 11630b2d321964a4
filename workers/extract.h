#pragma once
// extract: windows of one session (kWindowMessages) → extraction.completed. Evidence is verified,
// each fact gets the holder of the message that vouches for it.

#include <memory>
#include <string>
#include <vector>

#include "workers/model_machine.h"
#include "workers/window_port.h"

namespace clawmark {

class ExtractWork final : public ModelWork {
 public:
  ExtractWork(std::shared_ptr<Extractor> extractor, std::string zone, std::size_t window_messages)
      : extractor_(std::move(extractor)), zone_(std::move(zone)), window_(window_messages) {}
  bool is_local() const override { return extractor_->is_local(); }
  bool needs_probe() const override { return false; }
  std::size_t items_per_load() const override { return window_; }
  std::size_t items_per_request() const override { return window_; }
  std::size_t text_bytes_max() const override { return 0; }
  HttpRequest plan(std::span<const WorkItem> items) const override;
  Result<SpanAnswer> interpret(const Result<HttpResponse>& response,
                               std::span<const WorkItem> items) override;
  Result<SpanAnswer> run_local(std::span<const WorkItem> items) override;
  std::vector<WorkItem> canary() const override;

 private:
  std::shared_ptr<Extractor> extractor_;
  std::string zone_;
  std::size_t window_;
};

struct ExtractOptions {
  double idle_hours = 3;
  std::size_t window_messages = 0;  // 0: kWindowMessages
  BudgetLimits limits;
};

class ExtractPort final : public WindowPort {
 public:
  ExtractPort(Store& store, BodyStore& bodies, std::shared_ptr<Extractor> extractor,
              const ExtractOptions& options);

 private:
  std::optional<NewEvent> completed(const std::vector<const WorkItem*>& items,
                                    const SpanAnswer& answer) const override;
  bool is_answer(const SpanAnswer& answer) const override { return answer.extraction.has_value(); }
  json::object fact_json(ExtractedFact& fact, const MessageRow* fallback) const;

  std::shared_ptr<Extractor> extractor_;
};

// What extractors are asked about: the windows of these items.
std::vector<WindowMessage> window_of(std::span<const WorkItem> items);

}  // namespace clawmark
