// The machine without a model, and the back-off of both: tables of calls.

#include <gtest/gtest.h>

#include "base/limits.h"
#include "workers/backoff.h"
#include "workers/poll_machine.h"

namespace clawmark {
namespace {

constexpr TimeMs kStart{1'795'000'000'000};

TEST(Backoff, grows_with_jitter_and_opens_the_circuit_after_five) {
  Backoff backoff(7);
  TimeMs now = kStart;
  std::vector<std::int64_t> waits;
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(backoff.circuit_open(), false);
    const TimeMs until = backoff.failure(now, std::nullopt);
    EXPECT_FALSE(backoff.may_try({until.value - 1}));
    EXPECT_TRUE(backoff.may_try(until));
    waits.push_back(until.value - now.value);
    now = until;
  }
  EXPECT_TRUE(backoff.circuit_open());
  for (std::size_t i = 1; i < waits.size(); ++i) EXPECT_GT(waits[i], waits[i - 1]);
  Backoff other(8);
  EXPECT_NE(other.failure(kStart, std::nullopt).value,
            Backoff(7).failure(kStart, std::nullopt).value)
      << "jitter comes from the seed";
}

TEST(Backoff, C050_retry_after_is_kept_and_capped) {
  Backoff backoff(1);
  EXPECT_GE(backoff.failure(kStart, 60'000).value, kStart.value + 60'000);
  EXPECT_LT(backoff.retry_at().value, kStart.value + 62'000);
  EXPECT_LE(backoff.failure(kStart, 86'400'000).value, kStart.value + kRetryAfterMaxMs + 1000);
}

TEST(Backoff, C106_a_clock_set_back_does_not_wait_for_years) {
  Backoff backoff(1);
  backoff.failure({kStart.value + 10 * 365 * kDayMs}, std::nullopt);
  EXPECT_TRUE(backoff.may_try(kStart));
}

TEST(PollMachine, loads_commits_and_sleeps_when_nothing_is_left) {
  PollMachine machine(1, 2000);
  EXPECT_TRUE(std::holds_alternative<Load>(machine.resume(Started{}, kStart)));
  auto some = std::make_shared<Batch>();
  some->passed = 3;
  EXPECT_TRUE(std::holds_alternative<Commit>(
      machine.resume(Loaded{std::shared_ptr<const Batch>(some)}, kStart)));
  EXPECT_TRUE(std::holds_alternative<Load>(machine.resume(Committed{Ok{}}, kStart)));
  const Action sleep =
      machine.resume(Loaded{std::shared_ptr<const Batch>(std::make_shared<Batch>())}, kStart);
  ASSERT_TRUE(std::holds_alternative<Sleep>(sleep));
  EXPECT_TRUE(std::get<Sleep>(sleep).idle);
  EXPECT_EQ(std::get<Sleep>(sleep).until.value, kStart.value + 2000);
}

TEST(PollMachine, backs_off_on_retriable_and_stops_on_fatal) {
  PollMachine machine(1, 2000);
  machine.resume(Started{}, kStart);
  const Action busy =
      machine.resume(Loaded{make_error(ErrorKind::kRetriable, "sqlite", "busy", "locked")}, kStart);
  ASSERT_TRUE(std::holds_alternative<Sleep>(busy));
  EXPECT_FALSE(std::get<Sleep>(busy).idle);
  EXPECT_EQ(machine.condition().state, "waiting");
  machine.resume(Woke{}, std::get<Sleep>(busy).until);
  EXPECT_TRUE(std::holds_alternative<Stop>(machine.resume(
      Loaded{make_error(ErrorKind::kFatal, "sqlite", "corrupt", "bad page")}, kStart)));
}

}  // namespace
}  // namespace clawmark
