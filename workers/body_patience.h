#pragma once
// Telling a carrier that is busy from texts that are gone: where none of a batch's texts can be
// had, it is asked again twice before they count as gone.

#include <algorithm>
#include <span>

#include "base/clock.h"
#include "base/result.h"
#include "log/body_store.h"

namespace clawmark {

class BodyPatience {
 public:
  // Error: retriable, stage "bodies", reason "unavailable".
  Status check(std::span<const Body> bodies, TimeMs now) {
    const bool none =
        !bodies.empty() && std::all_of(bodies.begin(), bodies.end(),
                                       [](const Body& b) { return b.state == BodyState::kGone; });
    if (!none) {
      tries_ = 0;
      return Ok{};
    }
    if (now < exhausted_until_) return Ok{};
    if (++tries_ <= kTries) {
      return make_error(ErrorKind::kRetriable, "bodies", "unavailable",
                        "no carrier gives any text of this batch now");
    }
    tries_ = 0;
    exhausted_until_ = {now.value + 10 * kMinuteMs};
    return Ok{};
  }

 private:
  static constexpr int kTries = 2;
  int tries_ = 0;
  TimeMs exhausted_until_;
};

}  // namespace clawmark
