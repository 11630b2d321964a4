#pragma once
// Health that cannot lie: every warning is registered with its code, how grave it is, what hides it
// and how long it must have held before anybody is told. A worker that has something before it and
// does not move turns health red, whatever the reason.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/writer_port.h"

namespace clawmark {

enum class Severity { kWarning, kRed };

struct WarningKind {
  std::string_view code;
  Severity severity;
  std::string_view depends_on;    // not shown while this one is shown; empty: nothing hides it
  std::int64_t visible_after_ms;  // since it first held
  std::string_view remedy;
};
std::span<const WarningKind> warning_kinds();
const WarningKind& warning_kind(std::string_view code);  // of a code that is registered

constexpr std::int64_t kNoProgressMs = 4 * kMinuteMs;  // and one more until it is seen: 5 minutes

// Something that holds now. `subject` tells two of a kind apart.
struct Sign {
  std::string code, subject, message;
};

// What holds and is to be shown.
struct Warning {
  std::string code, message, remedy;
  bool red = false;
  std::int64_t held_ms = 0;
};

// Remembers since when each sign has held and when each worker last moved. Safe from several
// threads; times are steady.
class HealthMemory {
 public:
  // What of the signs is to be shown, red first. A sign that is not among them has ended.
  std::vector<Warning> judge(const std::vector<Sign>& signs, std::int64_t steady_ms);
  // How long a worker that has something before it has not moved; 0 when it moves or is done.
  std::int64_t stuck_ms(const WorkerState& worker, std::int64_t steady_ms);

  // What `look` says of the store's file, asked anew once a minute at most; empty: well.
  std::string damage(std::int64_t steady_ms, const std::function<std::string()>& look);

 private:
  struct Progress {
    Seq position;
    std::int64_t lag = 0, since_ms = 0;
  };
  std::mutex mutex_;
  std::map<std::string, std::int64_t> since_;
  std::map<std::string, Progress> workers_;
  std::string damage_;
  std::optional<std::int64_t> looked_ms_;
};

}  // namespace clawmark
