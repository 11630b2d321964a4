// What the machine of the model workers does when a call cannot be paid for today, and how little
// it asks a server that gives nothing for its money.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "tests/workers/machine_support.h"

namespace clawmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const TimeMs kTomorrow{kStart.value + 5 * kHourMs};

TEST(ModelMachine, C164_a_call_that_is_not_paid_waits_for_the_next_day_and_loads_anew) {
  auto work = good_work();
  ModelMachine machine(work, {});
  machine.resume(Started{}, kStart);
  ASSERT_TRUE(std::holds_alternative<CallModel>(machine.resume(Loaded{batch_of(3)}, kStart)));
  const Action action = machine.resume(Unpaid{Allowance{kTomorrow, false}}, kStart);
  ASSERT_TRUE(std::holds_alternative<Sleep>(action));
  EXPECT_EQ(std::get<Sleep>(action).until, kTomorrow);
  EXPECT_THAT(machine.condition().failure, HasSubstr("blocked: daily budget spent, until "));
  EXPECT_TRUE(std::holds_alternative<Load>(machine.resume(Woke{}, kTomorrow)));
  ASSERT_TRUE(std::holds_alternative<CallModel>(machine.resume(Loaded{batch_of(3)}, kTomorrow)));
  EXPECT_TRUE(std::holds_alternative<Commit>(machine.resume(Answered{http(200)}, kTomorrow)));
  EXPECT_EQ(machine.condition().state, "running");
}

TEST(ModelMachine, C164_what_no_day_holds_is_asked_in_halves_down_to_one) {
  auto work = good_work();
  ModelMachine machine(work, {});
  machine.resume(Started{}, kStart);
  machine.resume(Loaded{batch_of(4)}, kStart);
  for (const std::size_t size : {std::size_t{2}, std::size_t{1}}) {
    const Action action = machine.resume(Unpaid{Allowance{kTomorrow, true}}, kStart);
    ASSERT_TRUE(std::holds_alternative<CallModel>(action));
    EXPECT_EQ(work->asked.size(), size);
  }
  EXPECT_THAT(work->asked, ElementsAre(1));
  const Action action = machine.resume(Unpaid{Allowance{kTomorrow, true}}, kStart);
  ASSERT_TRUE(std::holds_alternative<Sleep>(action));
  EXPECT_THAT(machine.condition().failure, HasSubstr("more than a whole day's"));
}

TEST(ModelMachine, C164_an_unpaid_probe_is_asked_the_next_day) {
  auto work = good_work();
  work->probe_needed = true;
  ModelMachine machine(work, {});
  ASSERT_TRUE(std::holds_alternative<CallModel>(machine.resume(Started{}, kStart)));
  const Action action = machine.resume(Unpaid{Allowance{kTomorrow, false}}, kStart);
  ASSERT_TRUE(std::holds_alternative<Sleep>(action));
  EXPECT_EQ(machine.condition().state, "blocked");
  EXPECT_TRUE(std::holds_alternative<CallModel>(machine.resume(Woke{}, kTomorrow)));
  EXPECT_THAT(work->asked, ElementsAre(-1));
}

TEST(ModelMachine, C164_an_unpaid_canary_parks_nothing) {
  auto work = good_work();
  work->answer = [](std::span<const WorkItem>) -> Result<SpanAnswer> {
    return make_error(ErrorKind::kPoison, "embed", "rejected", "no");
  };
  ModelMachine machine(work, {});
  TimeMs now = kStart;
  Action action = machine.resume(Started{}, now);
  int canaries = 0;
  for (int i = 0; i < 200; ++i) {
    if (std::holds_alternative<Load>(action)) {
      action = machine.resume(Loaded{batch_of(1)}, now);
    } else if (std::holds_alternative<CallModel>(action) && work->asked.front() == -1) {
      ++canaries;
      action = machine.resume(Unpaid{Allowance{TimeMs{now.value + kHourMs}, false}}, now);
    } else if (std::holds_alternative<CallModel>(action)) {
      action = machine.resume(Answered{http(400)}, now);
    } else {
      ASSERT_TRUE(std::holds_alternative<Sleep>(action)) << action.index();
      now = std::max(now, std::get<Sleep>(action).until);
      action = machine.resume(Woke{}, now);
    }
  }
  EXPECT_GT(canaries, 1);
}

struct Asked {
  int in_12_s = 0, in_an_hour = 0;
};

Asked ask_in_vain(std::size_t items, std::size_t per_request,
                  const std::function<Result<SpanAnswer>(std::span<const WorkItem>)>& answer) {
  auto work = good_work();
  work->answer = answer;
  work->per_request = per_request;
  Play play(work);
  play.reload = [items](const Load& load) { return batch_of(std::min(items, load.items_max)); };
  play.until_time = TimeMs{kStart.value + kHourMs};
  play.run(batch_of(items), [](const auto&) { return http(200); }, 100'000);
  EXPECT_TRUE(play.parked.empty());
  EXPECT_TRUE(play.done.empty());
  Asked out;
  for (const TimeMs at : play.call_times) {
    out.in_12_s += at.value - kStart.value <= 12'000;
    ++out.in_an_hour;
  }
  return out;
}

TEST(ModelMachine, C054_a_model_that_always_answers_empty_is_asked_seldom) {
  for (const std::size_t items : {std::size_t{1}, std::size_t{30}, std::size_t{100}}) {
    const Asked asked = ask_in_vain(items, 100, [](std::span<const WorkItem>) {
      return Result<SpanAnswer>(
          make_error(ErrorKind::kRetriable, "extract", "empty_answer", "only thinking"));
    });
    EXPECT_LE(asked.in_12_s, 12) << items;
    EXPECT_LE(asked.in_an_hour, 60) << items;
  }
}

TEST(ModelMachine, C054_an_embedder_that_gives_no_vector_for_anything_is_asked_seldom) {
  for (const std::size_t items : {std::size_t{1}, std::size_t{16}, std::size_t{64}}) {
    const Asked asked = ask_in_vain(items, 16, [](std::span<const WorkItem> texts) {
      SpanAnswer out;
      out.vectors.resize(texts.size());
      return Result<SpanAnswer>(std::move(out));
    });
    EXPECT_LE(asked.in_12_s, 16) << items;
    EXPECT_LE(asked.in_an_hour, 60) << items;
  }
}

}  // namespace
}  // namespace clawmark
