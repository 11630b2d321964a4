#pragma once
// condense: summaries that have become many → one of them (summary.completed). Escalates from a
// plain question to a shorter one to the beginnings of the summaries themselves, so it always comes
// to an end; only an endpoint's summaries are joined, the rules write none.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/limits_world.h"
#include "log/store.h"
#include "models/summary.h"
#include "projections/summaries.h"
#include "workers/model_machine.h"
#include "workers/paid_port.h"

namespace clawmark {

// What both halves know of the question at hand.
struct CondenseJob {
  std::vector<SummaryRow> sources;
  std::set<std::int64_t> again;  // first source of groups whose last answer was no good
  int depth() const { return sources.empty() ? 1 : sources.front().depth + 1; }
  bool shorter() const { return !sources.empty() && again.contains(sources.front().event); }
};

class CondenseWork final : public ModelWork {
 public:
  CondenseWork(std::shared_ptr<Summarizer> summarizer, std::shared_ptr<const CondenseJob> job)
      : summarizer_(std::move(summarizer)), job_(std::move(job)) {}
  bool is_local() const override { return false; }
  bool needs_probe() const override { return false; }
  std::size_t items_per_load() const override { return 64; }
  std::size_t items_per_request() const override { return 64; }
  std::size_t text_bytes_max() const override { return 0; }
  HttpRequest plan(std::span<const WorkItem> items) const override;
  Result<SpanAnswer> interpret(const Result<HttpResponse>& response,
                               std::span<const WorkItem> items) override;
  Result<SpanAnswer> run_local(std::span<const WorkItem> items) override;
  std::vector<WorkItem> canary() const override;
  bool may_split() const override { return false; }

 private:
  std::shared_ptr<Summarizer> summarizer_;
  std::shared_ptr<const CondenseJob> job_;
};

class CondensePort final : public PaidPort {
 public:
  CondensePort(Store& store, std::shared_ptr<Summarizer> summarizer,
               std::shared_ptr<CondenseJob> job, BudgetLimits limits,
               std::size_t target_tokens = kCondensedTargetTokens)
      : PaidPort(store, limits),
        summarizer_(std::move(summarizer)),
        job_(std::move(job)),
        target_tokens_(target_tokens) {}
  WorkerId id() const override { return {"condense", 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  // What no model takes is cut instead: nothing is parked.
  Status park(const Park& park, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;

 private:
  std::string paid_model() const override { return summarizer_->model(); }
  Result<NewEvent> completed(const std::string& text, const std::string& method,
                             const Usage& usage) const;
  Result<std::vector<SummaryRow>> due();

  std::shared_ptr<Summarizer> summarizer_;
  std::shared_ptr<CondenseJob> job_;
  std::size_t target_tokens_;
  bool settled_ = false;    // the group at hand has its summary, or is asked about again
  std::int64_t seen_ = -1;  // position of the graph at which nothing was due
};

}  // namespace clawmark
