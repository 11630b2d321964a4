#include "workers/backoff.h"

#include <algorithm>

#include "base/limits.h"

namespace clawmark {
namespace {

constexpr int kForgetAfter = 20;  // good calls in a row before a remembered wait is halved

}  // namespace

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::int64_t Random::below(std::int64_t bound) {
  return bound <= 0 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
}

TimeMs Backoff::failure(TimeMs now, std::optional<std::int64_t> retry_after_ms) {
  ++failures_;
  successes_ = 0;
  const std::int64_t doubled = delay_ms_ == 0 ? kBackoffFirstMs : delay_ms_ * 2;
  delay_ms_ = std::clamp(std::max(doubled, remembered_ms_), kBackoffFirstMs, kBackoffMaxMs);
  std::int64_t wait = delay_ms_ + random_.below(delay_ms_ / 4);
  if (retry_after_ms) {
    const std::int64_t wish = std::clamp<std::int64_t>(*retry_after_ms, 0, kRetryAfterMaxMs);
    wait = std::max(wish + random_.below(kBackoffFirstMs), kBackoffFirstMs);
  }
  retry_at_ = {now.value + wait};
  return retry_at_;
}

void Backoff::success() {
  if (failures_ > 0) remembered_ms_ = std::max(remembered_ms_, delay_ms_);
  failures_ = 0;
  delay_ms_ = 0;
  retry_at_ = {};
  if (++successes_ % kForgetAfter == 0) {
    remembered_ms_ = remembered_ms_ > 2 * kBackoffFirstMs ? remembered_ms_ / 2 : 0;
  }
}

bool Backoff::may_try(TimeMs now) const {
  // A clock set back must not make us wait for years.
  return now >= retry_at_ || retry_at_.value - now.value > kRetryAfterMaxMs + kBackoffMaxMs;
}

bool Backoff::circuit_open() const {
  return failures_ >= kCircuitFailures;
}

}  // namespace clawmark
