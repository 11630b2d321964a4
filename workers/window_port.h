#pragma once
// Hands of the workers that read conversations in windows (extract, graph): windows of one session
// by size or age (idle hours, reset, end of the session, start). A built-in model does not wait for
// windows to fill. What becomes of an answer is the derived port's.
//
// The cursor stands before the oldest message that waits in any session; which of those behind it
// are done is read again from the log (the completed event, batch.parked) at each start. So a
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
#include "workers/paid_port.h"

namespace clawmark {

struct WindowOptions {
  std::string worker;          // "extract"
  std::string completed_type;  // of the event that says that a window is done
  std::string model;           // for the budget
  bool local = true;           // the model is built in
  double idle_hours = 3;
  std::size_t window_messages = 30;
  std::size_t window_chars = 24'000;  // of one window, cleaned
  std::int64_t full_chars = 0;        // a session with so many waiting is ready; 0: by messages
  BudgetLimits limits;
};

class WindowPort : public PaidPort {
 public:
  WindowPort(Store& store, BodyStore& bodies, WindowOptions options);
  WorkerId id() const override { return {options_.worker, 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Status park(const Park& park, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;
  void drain(bool on) override { drain_ = on; }

 protected:
  // The event of an answer about these items, if it deserves one: what rules find nothing in, they
  // will find nothing in again; a paid answer always is one.
  virtual std::optional<NewEvent> completed(const std::vector<const WorkItem*>& items,
                                            const SpanAnswer& answer) const = 0;
  virtual bool is_answer(const SpanAnswer& answer) const = 0;
  // The answer is not good enough: these items are to be asked about once more.
  virtual bool again(const std::vector<const WorkItem*>&, const SpanAnswer&) { return false; }

  // What both events have in common: session, range, model, prompt version. `prefix` of the key.
  NewEvent window_event(const std::vector<const WorkItem*>& items, std::string_view prefix,
                        std::string_view prompt_version) const;
  const MessageRow* row_of(std::int64_t message) const;  // null: not of this window
  // Of the newest message of a person among the evidence; null when there is none.
  const MessageRow* vouching(std::span<const Evidence> evidence) const;
  const WindowOptions& options() const { return options_; }

 private:
  struct Waiting {
    std::int64_t seq = 0, said = 0, chars = 0;
  };
  using SessionName = std::pair<std::string, std::string>;  // agent, session id
  struct Session {
    std::deque<Waiting> waiting;  // by seq
    std::int64_t newest = 0;      // said
    std::int64_t chars = 0;       // of those that wait
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
    std::vector<Seq> retried;
    std::vector<std::pair<Seq, bool>> gone;  // no text; true: not just now
  };

  std::string paid_model() const override { return options_.model; }
  Result<bool> scan(TimeMs now);  // true: there is more to scan
  Status see(const Event& event, TimeMs now);
  void forget(const SessionName& name, std::int64_t seq);
  Result<std::vector<Seq>> pick(std::size_t limit, TimeMs now, Batch& batch);
  bool is_ready(const Session& session, TimeMs now) const;
  Result<std::vector<Seq>> pick_retries(std::size_t limit);
  Status fill(std::span<const Seq> wanted, Batch& batch, TimeMs now);
  Result<std::set<std::int64_t>> deleted_since(const std::set<std::int64_t>& messages);
  Status move_cursor(Transaction& txn, const std::set<std::int64_t>& done, TimeMs now);

  BodyStore& bodies_;
  WindowOptions options_;
  std::vector<std::string_view> scanned_types_;
  std::map<SessionName, Session> sessions_;
  std::int64_t scanned_ = -1;  // -1: from the cursor
  bool flush_at_start_ = true;
  bool drain_ = false;
  Job job_;
  BodyPatience patience_;
};

}  // namespace clawmark
