// The part of the model machine that waits: for its back-off, for a server that asked for silence,
// for ever.

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "workers/model_machine.h"

namespace clawmark {

std::string blocked_text(std::string_view reason, TimeMs since) {
  return "blocked: " + std::string(reason) + " since " + format_iso(since);
}

std::string url_origin(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  return std::string(url.substr(0, url.find('/', scheme + 3)));
}

// Before this time no request may be made: our own back-off, or the server's wish to any of us.
std::optional<TimeMs> ModelMachine::silent_until(TimeMs now) const {
  if (!backoff_.may_try(now)) return backoff_.retry_at();
  if (!options_.quiet) return std::nullopt;
  const auto quiet = options_.quiet->until.find(options_.origin);
  const bool counts = quiet != options_.quiet->until.end() && now < quiet->second &&
                      quiet->second.value - now.value <= kRetryAfterMaxMs + kBackoffFirstMs;
  if (counts) return quiet->second;
  return std::nullopt;
}

// The server wants silence of all of us; a shorter wish does not end a longer one.
void ModelMachine::note_quiet(TimeMs now) {
  if (!options_.quiet) return;
  TimeMs& until = options_.quiet->until[options_.origin];
  const bool counts = until.value - now.value <= kRetryAfterMaxMs + kBackoffFirstMs;
  until = counts ? std::max(until, backoff_.retry_at()) : backoff_.retry_at();
}

Action ModelMachine::wait(TimeMs until, TimeMs now) {
  wake_at_ = until;
  condition_.retry_at = until;
  if (condition_.state == "running") {
    condition_.state = "waiting";
    condition_.since = now;
  }
  if (condition_.state == "waiting") {
    condition_.failure = "waiting until " + format_iso(until) +
                         (last_error_.reason.empty() ? "" : ": " + last_error_.reason);
  }
  return Sleep{until, false};
}

Action ModelMachine::wait_for_budget(TimeMs until, bool too_dear, TimeMs now) {
  if (condition_.state != "blocked") condition_.since = now;
  condition_.state = "blocked";
  condition_.failure = "blocked: daily budget spent, until " + format_iso(until) +
                       (too_dear ? "; a single call takes more than a whole day's" : "");
  idle_ = true;  // what came meanwhile is loaded, too
  return wait(until, now);
}

// The call was not made. What a whole day would not hold is asked in halves; else the rest of the
// batch is loaded again when there is money: what is in doubt now is out of date by then.
Action ModelMachine::on_unpaid(const Result<Allowance>& why, TimeMs now) {
  const Asking asked = std::exchange(asking_, Asking::kSpan);
  canary_due_ = blames_content_ = false;
  if (!why.ok()) {
    if (why.error().kind != ErrorKind::kRetriable) return stop(why.error(), now);
    note_failure(why.error(), now);
    idle_ = true;
    return wait(backoff_.failure(now, std::nullopt), now);
  }
  const bool smaller = asked == Asking::kSpan && current_.items.size() > 1 && work_->may_split();
  if (why->too_dear && smaller) {
    split(std::move(current_));
    return next(now);
  }
  return wait_for_budget(why->until.value_or(now), why->too_dear, now);
}

Action ModelMachine::stop(const Error& error, TimeMs now) {
  condition_.state = "stopped";
  condition_.failure = "stopped: " + describe(error);
  condition_.since = now;
  return Stop{error};
}

void ModelMachine::be_well(TimeMs now) {
  if (condition_.state != "running") condition_.since = now;
  condition_.state = "running";
  condition_.failure.clear();
  condition_.attempts = 0;
  condition_.retry_at = {};
  last_error_ = {};
}

}  // namespace clawmark
