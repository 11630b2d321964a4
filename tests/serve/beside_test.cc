#include "serve/beside.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

namespace clawmark {
namespace {

TEST(Beside, both_halves_run_at_the_same_time) {
  Beside beside;
  for (int round = 0; round < 100; ++round) {
    std::promise<void> half_began, own_began;
    std::thread::id there;
    // Each waits for the other to have begun: one after the other would never end.
    beside.both(
        [&] {
          there = std::this_thread::get_id();
          half_began.set_value();
          own_began.get_future().wait();
        },
        [&] {
          own_began.set_value();
          half_began.get_future().wait();
        });
    EXPECT_NE(there, std::this_thread::get_id());
  }
}

TEST(Beside, who_comes_while_it_is_busy_does_both_itself) {
  Beside beside;
  std::promise<void> busy, go_on;
  auto other = std::async(std::launch::async, [&] {
    beside.both(
        [&] {
          busy.set_value();
          go_on.get_future().wait();
        },
        [] {});
  });
  busy.get_future().wait();
  std::thread::id there;
  bool own = false;
  beside.both([&] { there = std::this_thread::get_id(); }, [&] { own = true; });
  EXPECT_EQ(there, std::this_thread::get_id());
  EXPECT_TRUE(own);
  go_on.set_value();
  other.get();
}

TEST(Beside, what_is_thrown_comes_out_once_both_have_ended) {
  Beside beside;
  bool half_ended = false, own_ended = false;
  EXPECT_THROW(beside.both([&] { half_ended = true; }, [] { throw std::runtime_error("own"); }),
               std::runtime_error);
  EXPECT_TRUE(half_ended);
  EXPECT_THROW(beside.both([] { throw std::invalid_argument("half"); }, [&] { own_ended = true; }),
               std::invalid_argument);
  EXPECT_TRUE(own_ended);
  half_ended = own_ended = false;
  beside.both([&] { half_ended = true; }, [&] { own_ended = true; });  // and it is as good as new
  EXPECT_TRUE(half_ended);
  EXPECT_TRUE(own_ended);
}

}  // namespace
}  // namespace clawmark
