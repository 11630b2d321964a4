#include "workers/model_machine.h"

#include <algorithm>

#include "base/limits.h"

namespace clawmark {
namespace {

// So many failures without a good answer between them: what was proven of the server is out of
// date.
constexpr int kAliveFailuresMax = 8;
// So many unusable answers in a row, and the server is asked something harmless before more is
// spent on looking for the item to blame. A single one among 32 shows in 6.
constexpr int kBlameFailuresMax = 6;
// Sooner of a server that has not given a single good answer yet.
constexpr int kBlameFailuresMaxUnproven = 2;
constexpr char kNothing[] = "no_answer";  // ours, of an answer without anything that was asked for
constexpr std::int64_t kAloneWaitMaxMs = kBackoffFirstMs * (1LL << kIsolatedTries);

bool is_auth(const Error& error) {
  return error.reason == "http_401" || error.reason == "http_403";
}

// Says something about what was asked: an extraction, or a vector for each text.
bool is_usable(const SpanAnswer& answer) {
  return answer.extraction || answer.graph || answer.summary ||
         (!answer.vectors.empty() && std::all_of(answer.vectors.begin(), answer.vectors.end(),
                                                 [](const auto& v) { return v.has_value(); }));
}

// Not even a part of what was asked for.
bool is_nothing(const SpanAnswer& answer) {
  return !answer.extraction && !answer.graph && !answer.summary && !answer.cut &&
         std::none_of(answer.vectors.begin(), answer.vectors.end(),
                      [](const auto& v) { return v.has_value(); });
}

// Failures that one text can cause as well as a server in trouble.
bool may_be_content(const Error& error) {
  return error.reason == "timeout" || error.reason == "http_500";
}

bool is_rate_limit(const Error& error) {
  return error.reason == "http_429" || error.retry_after_ms.has_value();
}

}  // namespace

ModelMachine::ModelMachine(std::shared_ptr<ModelWork> work, MachineOptions options)
    : work_(std::move(work)), options_(std::move(options)), backoff_(options_.seed) {
  if (options_.poll_ms <= 0) options_.poll_ms = kPollMs;
}

Action ModelMachine::resume(const Input& input, TimeMs now) {
  if (condition_.state == "stopped") return Sleep{{now.value + options_.poll_ms}, true};
  return std::visit(overloaded{
                        [&](const Started&) -> Action { return load(now); },
                        [&](const Loaded& l) -> Action { return on_loaded(l, now); },
                        [&](const Answered& a) -> Action {
                          const bool http_ok = a.response.ok() && a.response->status == 200;
                          const auto items = items_of(current_);
                          return on_answer(work_->interpret(a.response, items), http_ok, now);
                        },
                        [&](const Unpaid& u) -> Action { return on_unpaid(u.why, now); },
                        [&](const Computed& c) -> Action { return on_answer(c.answer, true, now); },
                        [&](const Committed& c) -> Action { return on_committed(c.status, now); },
                        [&](const Parked& p) -> Action {
                          if (!p.status.ok()) return on_committed(p.status, now);
                          return next(now);
                        },
                        [&](const Woke&) -> Action { return on_woke(now); },
                    },
                    input);
}

std::size_t ModelMachine::items_per_load() const {
  const std::size_t most = work_->items_per_load();
  return window_max_ == 0 ? most : std::min(most, window_max_);
}

Action ModelMachine::load(TimeMs now) {
  if (work_->needs_probe() && !probed_) return ask(Asking::kProbe, now);
  idle_ = false;
  queue_.clear();
  tries_.clear();
  batch_.reset();
  pending_commit_.reset();
  canary_due_ = blames_content_ = false;
  return Load{items_per_load(), work_->text_bytes_max(), first_load_};
}

Action ModelMachine::on_loaded(const Loaded& loaded, TimeMs now) {
  if (!loaded.batch.ok()) {
    const Error& error = loaded.batch.error();
    if (error.kind != ErrorKind::kRetriable) return stop(error, now);
    note_failure(error, now);
    idle_ = true;
    return wait(backoff_.failure(now, std::nullopt), now);
  }
  first_load_ = false;
  batch_ = *loaded.batch;
  condition_.pending = batch_->pending + static_cast<std::int64_t>(batch_->items.size());
  if (batch_->items.empty()) {
    if (batch_->passed > 0) {
      pending_commit_ = Commit{{}, {}, true};
      return *pending_commit_;
    }
    if (!is_auth(last_error_)) be_well(now);
    idle_ = true;
    std::int64_t until = now.value + options_.poll_ms;
    if (batch_->ready_at) until = std::clamp(batch_->ready_at->value, now.value + 1, until);
    wake_at_ = {until};
    return Sleep{wake_at_, true};
  }
  if (batch_->budget_until) return wait_for_budget(*batch_->budget_until, false, now);
  const std::size_t size = std::max<std::size_t>(1, work_->items_per_request());
  for (std::size_t at = 0; at < batch_->items.size(); at += size) {
    Span span;
    for (std::size_t i = at; i < std::min(at + size, batch_->items.size()); ++i) {
      span.items.push_back(i);
    }
    queue_.push_back(std::move(span));
  }
  return next(now);
}

std::vector<WorkItem> ModelMachine::items_of(const Span& span) const {
  if (asking_ != Asking::kSpan) return work_->canary();
  std::vector<WorkItem> items;
  items.reserve(span.items.size());
  for (const std::size_t i : span.items) items.push_back(batch_->items[i]);
  return items;
}

Action ModelMachine::next(TimeMs now) {
  if (queue_.empty()) {
    pending_commit_ = Commit{{}, {}, true};
    return *pending_commit_;
  }
  if (const auto until = silent_until(now)) return wait(*until, now);
  // A wait longer than any that we set comes of a clock that was set back.
  const auto is_ready = [&](const Span& s) {
    return s.not_before <= now || s.not_before.value - now.value > kAloneWaitMaxMs;
  };
  const auto ready = std::find_if(queue_.begin(), queue_.end(), is_ready);
  if (ready == queue_.end()) {
    TimeMs soonest = queue_.front().not_before;
    for (const Span& s : queue_) soonest = std::min(soonest, s.not_before);
    return wait(soonest, now);
  }
  current_ = std::move(*ready);
  queue_.erase(ready);
  return ask(Asking::kSpan, now);
}

Action ModelMachine::ask(Asking what, TimeMs now) {
  asking_ = what;
  if (const auto until = silent_until(now); until && what != Asking::kSpan) {
    canary_due_ = what == Asking::kCanary;
    asking_ = Asking::kSpan;
    return wait(*until, now);
  }
  auto items = items_of(current_);
  if (work_->is_local()) {
    return RunLocal{[work = work_, items = std::move(items)] { return work->run_local(items); }};
  }
  CallModel call{work_->plan(items), 0};
  call.input_tokens = static_cast<std::int64_t>(call.request.body.size() / 4);
  return call;
}

Action ModelMachine::on_answer(Result<SpanAnswer> answer, bool http_ok, TimeMs now) {
  const Asking asked = asking_;
  asking_ = Asking::kSpan;
  if (asked == Asking::kProbe) return after_probe(answer, http_ok, now);
  if (asked == Asking::kCanary) return after_canary(answer, http_ok, now);
  if (!answer.ok()) return bad(answer.error(), http_ok, now);
  return good(std::move(answer).value(), now);
}

Action ModelMachine::good(SpanAnswer answer, TimeMs now) {
  if (is_nothing(answer)) {
    condition_.mismatches += static_cast<std::int64_t>(current_.items.size());
    return content_failure(make_error(ErrorKind::kPoison, "model", kNothing,
                                      "the model gave nothing for what it was asked"),
                           now);
  }
  ++good_calls_;
  failures_in_a_row_ = 0;
  backoff_.success();
  be_well(now);
  if (answer.cut && current_.items.size() > 1) {
    window_max_ = std::max<std::size_t>(1, current_.items.size() / 2);
    windows_since_cut_ = 0;
    split(std::move(current_));
    return next(now);
  }
  if (window_max_ != 0 && ++windows_since_cut_ % 10 == 0) window_max_ *= 2;
  if (window_max_ >= work_->items_per_load()) window_max_ = 0;
  Commit commit;
  if (answer.extraction || answer.graph || answer.summary) {
    commit.items = current_.items;
    commit.answer = std::move(answer);
  } else {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < current_.items.size(); ++i) {
      if (i < answer.vectors.size() && answer.vectors[i]) {
        commit.items.push_back(current_.items[i]);
        commit.answer.vectors.push_back(std::move(answer.vectors[i]));
      } else {
        missing.push_back(current_.items[i]);
      }
    }
    commit.answer.usage = answer.usage;
    condition_.mismatches += static_cast<std::int64_t>(missing.size());
    for (auto i = missing.rbegin(); i != missing.rend(); ++i) {
      queue_.push_front(Span{{*i}, 0, 0, false, {}});
    }
  }
  commit.last = queue_.empty();
  pending_commit_ = std::move(commit);
  return *pending_commit_;
}

Action ModelMachine::bad(const Error& error, bool http_ok, TimeMs now) {
  if (error.kind == ErrorKind::kFatal) return stop(error, now);
  if (error.reason == "too_long") {
    const std::size_t limit = work_->text_bytes_max();
    const bool resplit =
        std::any_of(current_.items.begin(), current_.items.end(),
                    [&](std::size_t i) { return batch_->items[i].text.size() > limit; });
    if (resplit) return load(now);  // the port cuts smaller now; never the same text again
    return content_failure(error, now);
  }
  // An answer that came whole but says nothing usable is about what was asked, not about the
  // server.
  const bool content = http_ok || error.kind != ErrorKind::kRetriable;
  return content ? content_failure(error, now) : retriable_failure(error, now);
}

void ModelMachine::split(Span span) {
  const auto middle = span.items.begin() + static_cast<std::ptrdiff_t>(span.items.size() / 2);
  Span left{{span.items.begin(), middle}, 0, 0, false, {}};
  Span right{{middle, span.items.end()}, 0, 0, false, {}};
  queue_.push_front(std::move(right));
  queue_.push_front(std::move(left));
}

Action ModelMachine::content_failure(const Error& error, TimeMs now) {
  last_error_ = error;
  const int failures_max = good_calls_ == 0 ? kBlameFailuresMaxUnproven : kBlameFailuresMax;
  // What a server says of one text tells more than that it gave nothing for many.
  const bool says_why = error.reason != kNothing || current_.items.size() == 1;
  if (++failures_in_a_row_ > failures_max && says_why) return blame(now);
  if (current_.items.size() > 1) {
    if (error.reason != "rejected") {
      window_max_ = std::max<std::size_t>(1, current_.items.size() / 2);
      windows_since_cut_ = 0;
    }
    split(std::move(current_));
    return next(now);
  }
  return failed_alone(error, now);
}

Action ModelMachine::retriable_failure(const Error& error, TimeMs now) {
  ++failures_in_a_row_;
  // While all goes well otherwise, a request that is not answered in time, or fails inside the
  // server, is as likely about what was asked: the canary tells at once, and others need not wait.
  const bool maybe_content = may_be_content(error) && backoff_.failures() == 0;
  if (!maybe_content) backoff_.failure(now, error.retry_after_ms);
  note_failure(error, now);
  if (is_rate_limit(error)) note_quiet(now);
  if (is_auth(error) || is_rate_limit(error)) {
    queue_.push_front(std::move(current_));
    return next(now);
  }
  if (failures_in_a_row_ > kAliveFailuresMax) current_.server_alive = false;
  if (++current_.failures == 1) {
    current_.good_calls_then = good_calls_;
  } else if (current_.server_alive || good_calls_ > current_.good_calls_then) {
    return sticking(error, now);
  } else {
    return ask(Asking::kCanary, now);  // is it the server, or this span?
  }
  if (maybe_content) return ask(Asking::kCanary, now);
  queue_.push_back(std::move(current_));
  return next(now);
}

// The span fails again although the server answers others.
Action ModelMachine::sticking(const Error& error, TimeMs now) {
  if (current_.items.size() > 1) {
    split(std::move(current_));
    queue_[0].server_alive = queue_[1].server_alive = true;
    queue_[0].failures = queue_[1].failures = 1;
    return next(now);
  }
  return failed_alone(error, now);
}

// One more failure of one item by itself: it waits, the others do not.
Action ModelMachine::failed_alone(const Error& error, TimeMs now) {
  last_error_ = error;
  const int tries = ++tries_[current_.items.front()];
  if (tries >= kIsolatedTries) return blame(now);
  condition_.attempts = tries;
  current_.not_before = {now.value + kBackoffFirstMs * (1LL << tries)};
  queue_.push_back(std::move(current_));
  return next(now);
}

Action ModelMachine::after_canary(const Result<SpanAnswer>& answer, bool http_ok, TimeMs now) {
  if (std::exchange(blames_content_, false)) return after_blame(answer, http_ok, now);
  if (answer.ok() || http_ok) {
    ++good_calls_;
    failures_in_a_row_ = 0;
    backoff_.success();
    current_.server_alive = true;
    return sticking(last_error_, now);
  }
  backoff_.failure(now, answer.error().retry_after_ms);
  note_failure(answer.error(), now);
  if (is_rate_limit(answer.error())) note_quiet(now);
  current_.failures = 0;  // it was the server
  queue_.push_front(std::move(current_));
  return next(now);
}

// Looks whether the server answers anything well at this moment: else no item is to blame. Where it
// may not be asked now, the failure is out of date by the time it may: the item is tried again
// then.
Action ModelMachine::blame(TimeMs now) {
  if (const auto until = silent_until(now)) {
    tries_.erase(current_.items.front());
    queue_.push_front(std::move(current_));
    return wait(*until, now);
  }
  blames_content_ = true;
  return ask(Asking::kCanary, now);
}

// Was it the item that gets no usable answer, or does nothing get one (a login page, a wrong
// model)?
Action ModelMachine::after_blame(const Result<SpanAnswer>& answer, bool http_ok, TimeMs now) {
  const bool usable = answer.ok() && is_usable(*answer);
  if (usable || (http_ok && !answer.ok() && answer.error().reason != last_error_.reason)) {
    ++good_calls_;
    failures_in_a_row_ = 0;
    backoff_.success();
    const bool alone = current_.items.size() == 1;
    if (alone && tries_[current_.items.front()] >= kIsolatedTries) return park(last_error_);
    return content_failure(last_error_, now);
  }
  if (!answer.ok() && answer.error().kind == ErrorKind::kFatal) return stop(answer.error(), now);
  Error error = answer.ok() ? last_error_ : answer.error();
  backoff_.failure(now, error.retry_after_ms);
  note_failure(error, now);
  if (is_rate_limit(error)) note_quiet(now);
  idle_ = true;  // what came meanwhile is loaded, too: an answer to it tells more
  return wait(backoff_.retry_at(), now);
}

Action ModelMachine::after_probe(const Result<SpanAnswer>& answer, bool, TimeMs now) {
  if (answer.ok() && !work_->needs_probe()) {
    probed_ = true;
    backoff_.success();
    be_well(now);
    return load(now);
  }
  const Error error = answer.ok() ? make_error(ErrorKind::kRetriable, "model", "probe",
                                               "the probe's answer holds nothing usable")
                                  : answer.error();
  if (error.kind == ErrorKind::kFatal) return stop(error, now);
  backoff_.failure(now, error.retry_after_ms);
  note_failure(error, now);
  if (is_rate_limit(error)) note_quiet(now);
  return wait(backoff_.retry_at(), now);
}

Action ModelMachine::park(const Error& error) {
  const std::size_t item = current_.items.front();
  const int tries = tries_[item];
  tries_.erase(item);
  return Park{item, error.reason, error.message, tries};
}

Action ModelMachine::on_committed(const Status& status, TimeMs now) {
  if (!status.ok()) {
    const Error& error = status.error();
    if (error.kind != ErrorKind::kRetriable) return stop(error, now);
    note_failure(error,
                 now);  // nothing was written: load again, what was cached is not asked again
    idle_ = true;
    return wait(backoff_.failure(now, std::nullopt), now);
  }
  const bool last = !pending_commit_ || pending_commit_->last;
  pending_commit_.reset();
  return last ? load(now) : next(now);
}

Action ModelMachine::on_woke(TimeMs now) {
  if (canary_due_) {
    canary_due_ = false;
    return ask(Asking::kCanary, now);
  }
  if (batch_ && !idle_ && !queue_.empty()) return next(now);
  if (!backoff_.may_try(now)) return wait(backoff_.retry_at(), now);
  return load(now);
}

void ModelMachine::note_failure(const Error& error, TimeMs now) {
  last_error_ = error;
  condition_.attempts = backoff_.failures();
  const std::string state = is_auth(error) ? "blocked" : "waiting";
  if (condition_.state != state || condition_.since.value == 0) condition_.since = now;
  condition_.state = state;
  if (is_auth(error)) condition_.failure = blocked_text(error.reason, condition_.since);
}

}  // namespace clawmark
