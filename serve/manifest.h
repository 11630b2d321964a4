#pragma once
// How much history a caller may see, for the note that stands for it in a short context.

#include <map>
#include <mutex>
#include <string>

#include "base/json.h"
#include "base/sqlite.h"
#include "projections/messages.h"
#include "serve/caller.h"

namespace clawmark {

// Counting takes a second at a million messages, and whoever asks rounds: large counts are up to
// kExtentMs old.
class Manifests {
 public:
  static constexpr std::int64_t kExtentMs = 10 * kMinuteMs;

  explicit Manifests(const Clock& clock) : clock_(clock) {}
  Result<HistoryExtent> extent(Database& db, const Sight& sight);

 private:
  struct Kept {
    HistoryExtent extent;
    std::int64_t at_ms = 0;  // steady
  };
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;  // by agent and audiences
};

// `oldest_day` is a date in `zone`.
json::object to_json(const HistoryExtent& extent, const std::string& zone);

}  // namespace clawmark
