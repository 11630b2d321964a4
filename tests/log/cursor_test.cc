// Cursors: compare-and-swap, in the transaction of the writes they cover; and the bell.

#include "log/cursor.h"

#include <gtest/gtest.h>

#include "log/bell.h"
#include "support.h"

namespace clawmark {
namespace {

class CursorTest : public testing::Test {
 protected:
  void SetUp() override { append_count(store_, 10); }
  Status advance(std::int64_t from, std::int64_t to) {
    auto txn = must(Transaction::begin(store_.db()));
    auto status = advance_cursor(txn, worker_, {from}, {to}, clock_.now());
    if (status.ok()) must(txn.commit());
    return status;
  }
  TempDir dir_;
  ManualClock clock_;
  Store store_ = open_store(dir_.file("clawmark.db"), clock_);
  WorkerId worker_{"embed", 2};
};

TEST_F(CursorTest, begins_at_zero_and_moves_by_compare_and_swap) {
  EXPECT_EQ(must(load_cursor(store_.db(), worker_)).position, Seq{0});
  must(advance(0, 4));
  must(advance(4, 10));
  const CursorState state = must(load_cursor(store_.db(), worker_));
  EXPECT_EQ(state.position, Seq{10});
  EXPECT_EQ(state.advanced_at, clock_.now());
  EXPECT_EQ(state.worker, worker_);
}

TEST_F(CursorTest, a_second_writer_loses_the_race) {
  (void)must(load_cursor(store_.db(), worker_));
  must(advance(0, 4));
  const auto lost = advance(0, 5);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(lost.error().reason, "lost_race");
  EXPECT_EQ(must(load_cursor(store_.db(), worker_)).position, Seq{4});
}

TEST_F(CursorTest, a_cursor_that_was_never_loaded_cannot_move) {
  EXPECT_EQ(advance(0, 1).error().reason, "lost_race");
}

TEST_F(CursorTest, neither_backwards_nor_beyond_the_head) {
  (void)must(load_cursor(store_.db(), worker_));
  must(advance(0, 4));
  EXPECT_EQ(advance(4, 3).error().kind, ErrorKind::kFatal);
  EXPECT_EQ(advance(4, 11).error().kind, ErrorKind::kFatal);
  EXPECT_EQ(must(load_cursor(store_.db(), worker_)).position, Seq{4});
}

TEST_F(CursorTest, one_that_lies_beyond_the_head_is_not_worked_from) {
  (void)must(load_cursor(store_.db(), worker_));
  must(store_.db().run("UPDATE cursors SET pos = 11"));
  const auto loaded = load_cursor(store_.db(), worker_);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kFatal);
  EXPECT_EQ(loaded.error().reason, "beyond_head");
  EXPECT_NE(loaded.error().message.find("is at 11, but the log ends at 10"), std::string::npos);
}

TEST_F(CursorTest, a_rolled_back_write_takes_the_cursor_back_with_it) {
  (void)must(load_cursor(store_.db(), worker_));
  {
    auto txn = must(Transaction::begin(store_.db()));
    must(txn.db().run("INSERT INTO meta(key, value) VALUES ('derived', 'x')"));
    must(advance_cursor(txn, worker_, {0}, {5}, clock_.now()));
  }
  EXPECT_EQ(must(load_cursor(store_.db(), worker_)).position, Seq{0});
  EXPECT_EQ(must(store_.db().query_text("SELECT value FROM meta WHERE key = 'derived'")),
            std::nullopt);
}

TEST_F(CursorTest, a_note_keeps_the_position_and_success_clears_the_failure) {
  (void)must(load_cursor(store_.db(), worker_));
  must(advance(0, 4));
  CursorState bad;
  bad.state = "waiting";
  bad.failure = "embed/http_503: busy";
  bad.attempts = 3;
  bad.retry_at = {clock_.now().value + 4000};
  bad.beat_at = clock_.now();
  must(note_cursor(store_.db(), worker_, bad));
  CursorState state = must(load_cursor(store_.db(), worker_));
  EXPECT_EQ(state.position, Seq{4});
  EXPECT_EQ(state.state, "waiting");
  EXPECT_EQ(state.failure, bad.failure);
  EXPECT_EQ(state.attempts, 3);
  EXPECT_EQ(state.retry_at, bad.retry_at);
  must(advance(4, 5));
  state = must(load_cursor(store_.db(), worker_));
  EXPECT_EQ(state.state, "running");
  EXPECT_EQ(state.failure, "");
  EXPECT_EQ(state.attempts, 0);
  EXPECT_EQ(state.retry_at, TimeMs{});
}

TEST_F(CursorTest, generations_are_cursors_of_their_own_and_all_are_listed) {
  (void)must(load_cursor(store_.db(), worker_));
  (void)must(load_cursor(store_.db(), {"embed", 1}));
  (void)must(load_cursor(store_.db(), {"decay", 1}));
  must(advance(0, 7));
  const auto all = must(list_cursors(store_.db()));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].worker.name, "decay");
  EXPECT_EQ(all[1].position, Seq{0});
  EXPECT_EQ(all[2].position, Seq{7});
}

TEST(BellTest, rings_every_listener_and_one_may_listen_while_it_rings) {
  Bell bell;
  int first = 0, second = 0;
  bell.ring();
  bell.listen([&] {
    if (++first == 1) bell.listen([&] { ++second; });
  });
  bell.ring();
  bell.ring();
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace clawmark
