// Tables of resume() calls: what each machine does about each kind of failure. No store, no
// threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "tests/workers/machine_support.h"
#include "workers/backoff.h"
#include "workers/model_machine.h"

namespace clawmark {
namespace {

Error poison() {
  return make_error(ErrorKind::kPoison, "embed", "rejected", "HTTP 500: NaN");
}
Error timeout() {
  return make_error(ErrorKind::kRetriable, "transport", "timeout", "15 s");
}

TEST(ModelMachine, commits_each_answer_and_moves_the_cursor_with_the_last) {
  Play play(good_work());
  play.run(batch_of(40), [](const auto&) { return http(200); });
  EXPECT_EQ(play.calls, 3);
  EXPECT_EQ(play.done.size(), 40u);
  EXPECT_TRUE(play.committed_last);
}

TEST(ModelMachine, C042_one_poison_text_of_sixteen_is_bisected_and_parked) {
  auto work = good_work();
  work->answer = [](std::span<const WorkItem> items) -> Result<SpanAnswer> {
    if (holds(items, 7)) return poison();
    return vectors(items.size());
  };
  Play play(work);
  play.run(batch_of(16), [](const auto&) { return http(500); });
  EXPECT_EQ(play.done.size(), 15u);
  ASSERT_EQ(play.parked.size(), 1u);
  EXPECT_EQ(play.parked[0].message, 7);
  EXPECT_EQ(play.parked[0].reason, "rejected");
  EXPECT_EQ(play.parked[0].attempts, kIsolatedTries);
  EXPECT_LE(play.calls, 12);
  EXPECT_TRUE(play.committed_last);
}

TEST(ModelMachine, C031_http_401_blocks_and_goes_on_by_itself) {
  auto work = good_work();
  bool key_fixed = false;
  work->answer = [&](std::span<const WorkItem> items) -> Result<SpanAnswer> {
    if (!key_fixed) return make_error(ErrorKind::kRetriable, "extract", "http_401", "unauthorized");
    return vectors(items.size());
  };
  Play play(work);
  int refused = 0;
  play.run(batch_of(10), [&](const auto&) {
    if (refused == 6) key_fixed = true;
    ++refused;
    if (!key_fixed) {
      EXPECT_TRUE(play.done.empty());
      if (refused > 1) {
        EXPECT_EQ(play.machine.condition().state, "blocked");
        EXPECT_EQ(play.machine.condition().failure, blocked_text("http_401", kStart));
      }
    }
    return http(key_fixed ? 200 : 401);
  });
  EXPECT_EQ(play.done.size(), 10u);
  EXPECT_TRUE(play.parked.empty());
  EXPECT_EQ(play.machine.condition().state, "running");
}

TEST(ModelMachine, C034_an_endpoint_that_is_down_is_never_skipped_over) {
  auto work = good_work();
  Play play(work);
  int down = 40;
  play.run(batch_of(5), [&](const auto&) -> Result<HttpResponse> {
    if (down-- > 0) return make_error(ErrorKind::kRetriable, "transport", "connect", "refused");
    return http(200);
  });
  EXPECT_TRUE(play.parked.empty()) << "the server answered nothing, so no item is to blame";
  EXPECT_EQ(play.done.size(), 5u);
}

TEST(ModelMachine, C050_no_request_before_retry_after_has_passed_by_any_machine) {
  auto quiet = std::make_shared<QuietBoard>();
  MachineOptions options;
  options.origin = "https://api.example";
  options.quiet = quiet;
  auto work = good_work();
  bool limited = true;
  work->answer = [&](std::span<const WorkItem> items) -> Result<SpanAnswer> {
    if (!limited) return vectors(items.size());
    limited = false;
    Error error = make_error(ErrorKind::kRetriable, "embed", "http_429", "slow down");
    error.retry_after_ms = 60'000;
    return error;
  };
  Play play(work, options);
  play.run(batch_of(3), [&](const auto&) { return http(limited ? 429 : 200); });
  ASSERT_EQ(play.call_times.size(), 2u);
  EXPECT_GE(play.call_times[1].value - play.call_times[0].value, 60'000);
  // Another machine on the same origin keeps silent too.
  Play other(good_work(), options);
  other.run(batch_of(1), [](const auto&) { return http(200); });
  EXPECT_GE(other.call_times.at(0).value - kStart.value, 60'000);
}

TEST(ModelMachine, C052_a_stuck_text_is_parked_while_others_flow) {
  Play play(good_work());
  play.run(batch_of(8), [&](const std::vector<std::int64_t>& asked) -> Result<HttpResponse> {
    if (holds(asked, 4)) return timeout();
    return http(200);
  });
  EXPECT_EQ(play.done.size(), 7u);
  ASSERT_EQ(play.parked.size(), 1u);
  EXPECT_EQ(play.parked[0].message, 4);
  EXPECT_EQ(play.parked[0].reason, "timeout");
  EXPECT_LE(play.calls, 20);
}

TEST(ModelMachine, C052_a_stuck_text_alone_is_told_from_a_dead_server_by_a_canary) {
  Play play(good_work());
  play.run(batch_of(1), [&](const std::vector<std::int64_t>& asked) -> Result<HttpResponse> {
    if (holds(asked, 1)) return timeout();
    return http(200);  // the canary
  });
  ASSERT_EQ(play.parked.size(), 1u);
}

TEST(ModelMachine, C052_others_do_not_wait_for_a_stuck_text) {
  Play play(good_work());
  std::vector<TimeMs> done_at;
  play.run(batch_of(64), [&](const std::vector<std::int64_t>& asked) -> Result<HttpResponse> {
    if (holds(asked, 4)) return timeout();
    done_at.push_back(play.now);
    return http(200);
  });
  EXPECT_EQ(play.done.size(), 63u);
  EXPECT_EQ(play.parked.size(), 1u);
  EXPECT_LT(done_at.back().value - kStart.value, 30'000) << "no back-off for all because of one";
}

TEST(ModelMachine, C054_a_login_page_in_place_of_every_answer_parks_nothing) {
  auto work = good_work();
  bool proxy = true;
  work->answer = [&](std::span<const WorkItem> items) -> Result<SpanAnswer> {
    if (proxy) return make_error(ErrorKind::kRetriable, "embed", "html", "is there a proxy?");
    return vectors(items.size());
  };
  Play play(work);
  play.reload = [](const Load&) { return batch_of(64); };
  int calls = 0;
  play.run(batch_of(64), [&](const auto&) {
    proxy = play.now.value - kStart.value < kHourMs;
    calls += proxy;
    return http(200);
  });
  EXPECT_TRUE(play.parked.empty());
  EXPECT_EQ(play.done.size(), 64u);
  EXPECT_LT(calls, 150) << "about one round of eight for each wait of up to five minutes";
}

TEST(ModelMachine, C106_a_clock_set_back_does_not_hold_an_item_for_hours) {
  auto work = good_work();
  int rejections = 1;
  work->answer = [&](std::span<const WorkItem> items) -> Result<SpanAnswer> {
    if (rejections-- > 0) return make_error(ErrorKind::kPoison, "embed", "rejected", "no");
    return vectors(items.size());
  };
  ModelMachine machine(work, {});
  TimeMs now = kStart;
  machine.resume(Started{}, now);
  machine.resume(Loaded{batch_of(1)}, now);
  ASSERT_TRUE(std::holds_alternative<Sleep>(machine.resume(Answered{http(200)}, now)));
  now = {now.value - 2 * kHourMs};
  EXPECT_TRUE(std::holds_alternative<CallModel>(machine.resume(Woke{}, now)));
}

TEST(ModelMachine, C050_a_shorter_wish_for_silence_does_not_end_a_longer_one) {
  auto quiet = std::make_shared<QuietBoard>();
  MachineOptions options;
  options.origin = "https://api.example";
  options.quiet = quiet;
  std::int64_t wish_ms = 300'000;
  const auto limited = [&] {
    auto work = good_work();
    work->answer = [&](std::span<const WorkItem>) -> Result<SpanAnswer> {
      Error error = make_error(ErrorKind::kRetriable, "embed", "http_429", "slow down");
      error.retry_after_ms = wish_ms;
      return error;
    };
    return work;
  };
  ModelMachine first(limited(), options), second(limited(), options);
  for (ModelMachine* machine : {&first, &second}) {  // both ask before either is answered
    machine->resume(Started{}, kStart);
    machine->resume(Loaded{batch_of(1)}, kStart);
  }
  first.resume(Answered{http(429)}, kStart);
  wish_ms = 5000;
  second.resume(Answered{http(429)}, kStart);
  const Action later = second.resume(Woke{}, {kStart.value + 60'000});
  ASSERT_TRUE(std::holds_alternative<Sleep>(later));
  EXPECT_GE(std::get<Sleep>(later).until.value - kStart.value, 300'000);
}

TEST(ModelMachine, C040_a_missing_vector_is_asked_again_alone) {
  auto work = good_work();
  work->answer = [](std::span<const WorkItem> items) {
    SpanAnswer out = vectors(items.size());
    if (items.size() > 1) out.vectors[2].reset();
    return out;
  };
  Play play(work);
  play.run(batch_of(4), [](const auto&) { return http(200); });
  EXPECT_THAT(play.done, testing::UnorderedElementsAre(1, 2, 3, 4));
  EXPECT_EQ(play.calls, 2);
  EXPECT_EQ(play.machine.condition().mismatches, 1);
}

TEST(ModelMachine, C047_a_learnt_length_cuts_smaller_and_never_sends_the_same_again) {
  auto work = good_work();
  std::vector<std::size_t> sent;
  work->answer = [&](std::span<const WorkItem> items) -> Result<SpanAnswer> {
    for (const auto& item : items) sent.push_back(item.text.size());
    for (const auto& item : items) {
      if (item.text.size() <= 800) continue;
      work->text_max = 800;
      return make_error(ErrorKind::kRetriable, "embed", "too_long", "limit 512 tokens");
    }
    return vectors(items.size());
  };
  Play play(work);
  play.reload = [](const Load& load) {
    EXPECT_EQ(load.text_bytes_max, 800u);
    return batch_of(8, 800);
  };
  play.run(batch_of(8, 1500), [](const auto&) { return http(200); });
  EXPECT_EQ(play.done.size(), 8u);
  EXPECT_TRUE(play.parked.empty());
  EXPECT_EQ(std::count_if(sent.begin(), sent.end(), [](auto n) { return n > 800; }), 8);
}

TEST(ModelMachine, C068_an_empty_answer_is_a_failure_that_ends_in_parking) {
  auto work = good_work();
  work->answer = [](std::span<const WorkItem> items) -> Result<SpanAnswer> {
    if (items.size() == 1 && items[0].message == -1) return vectors(1);
    return make_error(ErrorKind::kRetriable, "extract", "empty_answer", "finish_reason length");
  };
  Play play(work);
  play.run(batch_of(2), [](const auto&) { return http(200); });
  EXPECT_TRUE(play.done.empty());
  ASSERT_EQ(play.parked.size(), 2u);
  EXPECT_EQ(play.parked[0].reason, "empty_answer");
  EXPECT_EQ(play.parked[0].attempts, kIsolatedTries);
}

TEST(ModelMachine, a_cut_answer_makes_the_next_window_smaller) {
  auto work = good_work();
  work->per_request = 32;
  work->answer = [](std::span<const WorkItem> items) {
    SpanAnswer out = vectors(items.size());
    out.cut = items.size() > 8;
    return out;
  };
  Play play(work);
  play.run(batch_of(32), [](const auto&) { return http(200); });
  EXPECT_EQ(play.done.size(), 32u);
  const Action action = play.machine.resume(Woke{}, play.now);
  ASSERT_TRUE(std::holds_alternative<Load>(action));
  EXPECT_LE(std::get<Load>(action).items_max, 8u);
}

TEST(ModelMachine, C049_an_outage_costs_few_requests) {
  auto work = good_work();
  Play play(work);
  TimeMs down_until{0};
  int served = 0, wasted = 0;
  play.run(
      batch_of(500),
      [&](const auto&) -> Result<HttpResponse> {
        if (play.now < down_until) {
          ++wasted;
          return make_error(ErrorKind::kRetriable, "transport", "closed", "reset");
        }
        if (++served % 3 == 0) {
          down_until = {play.now.value + 20'000};
          return make_error(ErrorKind::kRetriable, "transport", "closed", "reset");
        }
        return http(200);
      },
      400);
  EXPECT_EQ(play.done.size(), 500u);
  EXPECT_TRUE(play.parked.empty());
  // 500 texts in 32 requests, of which the server itself drops each third; what we add on top is
  // small.
  EXPECT_LT(wasted, served * 0.3);
}

TEST(ModelMachine, C085_a_spent_budget_waits_for_the_next_day) {
  auto batch = std::make_shared<Batch>(*batch_of(3));
  batch->budget_until = TimeMs{kStart.value + 5 * kHourMs};
  ModelMachine machine(good_work(), {});
  machine.resume(Started{}, kStart);
  const Action action = machine.resume(Loaded{std::shared_ptr<const Batch>(batch)}, kStart);
  ASSERT_TRUE(std::holds_alternative<Sleep>(action));
  EXPECT_EQ(std::get<Sleep>(action).until, *batch->budget_until);
  EXPECT_EQ(machine.condition().state, "blocked");
  EXPECT_THAT(machine.condition().failure, testing::HasSubstr("daily budget spent"));
  EXPECT_TRUE(std::holds_alternative<Load>(machine.resume(Woke{}, *batch->budget_until)));
}

TEST(ModelMachine, a_lost_race_stops_the_worker) {
  ModelMachine machine(good_work(), {});
  machine.resume(Started{}, kStart);
  machine.resume(Loaded{batch_of(1)}, kStart);
  machine.resume(Answered{http(200)}, kStart);
  const Action action = machine.resume(
      Committed{make_error(ErrorKind::kConflict, "cursor", "lost_race", "another writer")}, kStart);
  EXPECT_TRUE(std::holds_alternative<Stop>(action));
  EXPECT_EQ(machine.condition().state, "stopped");
  EXPECT_TRUE(std::holds_alternative<Sleep>(machine.resume(Woke{}, kStart)));
}

TEST(ModelMachine, probes_an_unknown_endpoint_before_the_first_load) {
  auto work = good_work();
  work->probe_needed = true;
  ModelMachine machine(work, {});
  EXPECT_TRUE(std::holds_alternative<CallModel>(machine.resume(Started{}, kStart)));
  EXPECT_THAT(work->asked, testing::ElementsAre(-1));
  const Action waits = machine.resume(Answered{timeout()}, kStart);
  ASSERT_TRUE(std::holds_alternative<Sleep>(waits));
  EXPECT_TRUE(
      std::holds_alternative<CallModel>(machine.resume(Woke{}, std::get<Sleep>(waits).until)));
  work->probe_needed = false;  // what interpret() does with a good answer
  EXPECT_TRUE(std::holds_alternative<Load>(machine.resume(Answered{http(200)}, kStart)));
}

}  // namespace
}  // namespace clawmark
