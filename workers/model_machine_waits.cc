// The part of the model machine that waits: for its back-off, for a server that asked for silence,
// for ever.

#include <algorithm>

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
