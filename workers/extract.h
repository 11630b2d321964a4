#pragma once
// extract: windows of one session by size (kWindowMessages) or age (idle hours, reset, end of the
// session, start) → extraction.completed. Evidence is verified, each fact gets the holder of the
// message that vouches for it. A built-in extractor does not wait for windows to fill.
//
// The cursor stands before the oldest message that waits in any session; which of those behind it
// are done is read again from the log (extraction.completed, batch.parked) at each start. So a
// window is committed once, whatever order sessions become ready in.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "log/body_store.h"
#include "log/store.h"
#include "models/model.h"
#include "projections/messages.h"
#include "workers/body_patience.h"
#include "workers/budget.h"
#include "workers/model_machine.h"
#include "workers/port.h"

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

class ExtractPort final : public Port {
 public:
  ExtractPort(Store& store, BodyStore& bodies, std::shared_ptr<Extractor> extractor,
              ExtractOptions options);
  WorkerId id() const override { return {"extract", 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Status park(const Park& park, TimeMs now) override;
  Status called(const CallModel& call, bool answered, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;
  void drain(bool on) override { drain_ = on; }

 private:
  struct Waiting {
    std::int64_t seq = 0, said = 0;
  };
  using SessionName = std::pair<std::string, std::string>;  // agent, session id
  struct Session {
    std::deque<Waiting> waiting;  // by seq
    std::int64_t newest = 0;      // said
    bool flush = false;           // reset or ended: do not wait
    std::deque<Waiting>::iterator at_or_after(std::int64_t seq) {
      return std::lower_bound(waiting.begin(), waiting.end(), seq,
                              [](const Waiting& w, std::int64_t s) { return w.seq < s; });
    }
  };
  struct Job {
    std::shared_ptr<const Batch> batch;
    SessionName session;
    std::map<std::int64_t, MessageRow> rows;
    std::vector<std::int64_t> passed;  // need no model
    std::vector<Seq> gone, retried;
  };

  Result<bool> scan(TimeMs now);  // true: there is more to scan
  Status see(const Event& event, TimeMs now);
  void forget(const SessionName& name, std::int64_t seq);
  Result<std::vector<Seq>> pick(std::size_t limit, TimeMs now, Batch& batch);
  bool is_ready(const Session& session, TimeMs now) const;
  Result<std::vector<Seq>> pick_retries(std::size_t limit);
  Status fill(std::span<const Seq> wanted, Batch& batch, TimeMs now);
  Result<Seq> folded_through();
  NewEvent completed_event(const std::vector<const WorkItem*>& items, ExtractAnswer& answer) const;
  json::object fact_json(ExtractedFact& fact, const MessageRow* fallback) const;
  Status move_cursor(Transaction& txn, const std::set<std::int64_t>& done, TimeMs now);

  Store& store_;
  BodyStore& bodies_;
  std::shared_ptr<Extractor> extractor_;
  ExtractOptions options_;
  std::map<SessionName, Session> sessions_;
  std::int64_t scanned_ = -1;  // -1: from the cursor
  bool flush_at_start_ = true;
  bool drain_ = false;
  Job job_;
  BodyPatience patience_;
  std::int64_t estimated_tokens_ = 0;
};

}  // namespace clawmark
