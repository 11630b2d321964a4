#pragma once
// When to try again: exponential with jitter, never before the server's Retry-After; the circuit is
// open from the 5th failure in a row on. What a recovery took is remembered, so that a server that
// needs 20 s to come back is not asked five times each time it goes away.

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace clawmark {

// SplitMix64 (Steele et al., 2014): small, seeded, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t below(std::int64_t bound);  // 0 when bound ≤ 0

 private:
  std::uint64_t state_;
};

class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : random_(seed) {}

  // A call failed. Returns when the next may be made.
  TimeMs failure(TimeMs now, std::optional<std::int64_t> retry_after_ms);
  void success();
  bool may_try(TimeMs now) const;
  TimeMs retry_at() const { return retry_at_; }
  int failures() const { return failures_; }  // in a row
  bool circuit_open() const;

 private:
  Random random_;
  int failures_ = 0;
  int successes_ = 0;               // in a row
  std::int64_t delay_ms_ = 0;       // of the last wait
  std::int64_t remembered_ms_ = 0;  // the wait that a recovery took
  TimeMs retry_at_;
};

}  // namespace clawmark
