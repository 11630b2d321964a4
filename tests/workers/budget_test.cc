// The day's cap: reserved before each call, corrected by what the answer says, kept over a crash.

#include "workers/budget.h"

#include <gtest/gtest.h>

#include "tests/workers/support.h"
#include "workers/paid_port.h"

namespace clawmark {
namespace {

constexpr char kDear[] = "https://provider.test/v1|gpt-4o";

// A worker's hands that only pay.
class Payer final : public PaidPort {
 public:
  Payer(World& world, std::string worker, std::string model)
      : PaidPort(*world.store, world.options.limits),
        worker_(std::move(worker)),
        model_(std::move(model)) {}
  WorkerId id() const override { return {worker_, 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load&, TimeMs) override {
    return std::make_shared<const Batch>();
  }
  Status commit(const Commit&, TimeMs) override { return Ok{}; }
  Result<std::int64_t> pending(TimeMs) override { return 0; }

 private:
  std::string paid_model() const override { return model_; }
  std::string worker_, model_;
};

CallModel call_of(std::int64_t input_tokens, std::int64_t answer_tokens) {
  CallModel call;
  call.request.body = std::string(static_cast<std::size_t>(input_tokens) * 4, 'x');
  call.request.answer_tokens_max = answer_tokens;
  call.input_tokens = input_tokens;
  return call;
}

HttpResponse chat(const std::string& usage) {
  HttpResponse response;
  response.status = 200;
  response.body = R"({"choices":[{"message":{"content":"{\"facts\":[]}"}}])" +
                  (usage.empty() ? "" : ",\"usage\":" + usage) + "}";
  return response;
}

std::int64_t tokens_today(World& w) {
  const auto spent = spent_today(w.store->db(), w.clock.now());
  return spent.ok() ? spent->input_tokens + spent->output_tokens : -1;
}

TEST(Budget, C164_calls_in_flight_of_all_workers_stay_within_the_cap_together) {
  World w;
  w.options.limits.daily_tokens = 8000;
  w.reopen();
  const TimeMs now = w.clock.now();
  Payer a(w, "extract", kDear), b(w, "graph", kDear), c(w, "embed", kDear);
  EXPECT_FALSE(a.reserve(call_of(2000, 2000), now)->until);
  EXPECT_FALSE(b.reserve(call_of(2000, 1500), now)->until);
  const auto third = c.reserve(call_of(1000, 0), now);
  ASSERT_TRUE(third.ok());
  ASSERT_TRUE(third->until) << "7,500 are reserved";
  EXPECT_FALSE(third->too_dear);
  EXPECT_EQ(*third->until, (TimeMs{(now.value / kDayMs + 1) * kDayMs}));
  EXPECT_TRUE(c.reserve(call_of(9000, 0), now)->too_dear);
  EXPECT_FALSE(c.reserve(call_of(500, 0), now)->until) << "up to the cap itself";
  EXPECT_EQ(tokens_today(w), 8000);
  // An answer that took less makes room; one that never came gives all back.
  ASSERT_TRUE(a.settle(chat(R"({"prompt_tokens":1900,"completion_tokens":100})")).ok());
  EXPECT_EQ(tokens_today(w), 6000);
  ASSERT_TRUE(b.called({}, false, now).ok());
  EXPECT_EQ(tokens_today(w), 2500);
  EXPECT_EQ(spent_today(w.store->db(), now)->calls, 3);
}

TEST(Budget, C164_the_cap_in_money_is_reserved_too_and_what_is_free_passes) {
  World w;
  w.options.limits.daily_usd = 0.01;
  w.reopen();
  const TimeMs now = w.clock.now();
  Payer dear(w, "embed", kDear), here(w, "extract", "http://127.0.0.1:8080/v1|m1");
  EXPECT_FALSE(dear.reserve(call_of(3000, 0), now)->until);
  EXPECT_TRUE(dear.reserve(call_of(3000, 0), now)->until);
  EXPECT_FALSE(here.reserve(call_of(900'000, 2000), now)->until);
  EXPECT_EQ(spent_today(w.store->db(), now)->micro_usd, 7500);
}

TEST(Budget, C164_a_call_that_a_crash_cut_off_stays_paid) {
  World w;
  w.options.limits.daily_tokens = 1000;
  w.reopen();
  for (int restart = 0; restart < 5; ++restart) {
    Payer payer(w, "embed", kDear);
    const auto allowance = payer.reserve(call_of(400, 0), w.clock.now());
    ASSERT_TRUE(allowance.ok());
    EXPECT_EQ(allowance->until.has_value(), restart >= 2) << "after restart " << restart;
    w.reopen();
  }
  EXPECT_EQ(tokens_today(w), 800);
}

TEST(Budget, C164_what_a_server_cannot_have_used_keeps_the_estimate) {
  for (const std::string usage :
       {R"({"prompt_tokens":-1000000,"completion_tokens":-5000})",
        R"({"prompt_tokens":0,"completion_tokens":0})",
        R"({"prompt_tokens":1,"completion_tokens":9223372036854775807})",
        R"({"prompt_tokens":1e15,"completion_tokens":1e15})", R"("none")", ""}) {
    World w;
    const TimeMs now = w.clock.now();
    Payer payer(w, "extract", kDear);
    ASSERT_TRUE(payer.reserve(call_of(1000, 2000), now).ok());
    ASSERT_TRUE(payer.settle(chat(usage)).ok());
    const auto spent = spent_today(w.store->db(), now);
    ASSERT_TRUE(spent.ok());
    EXPECT_EQ(spent->input_tokens, 1000) << usage;
    EXPECT_GT(spent->output_tokens, 0) << usage;
    EXPECT_LE(spent->output_tokens, 2000) << usage;
    EXPECT_GE(spent->micro_usd, 2500) << usage;
  }
}

TEST(Budget, C164_a_call_belongs_to_the_day_that_it_was_made_on) {
  World w;
  Payer payer(w, "extract", kDear);
  ASSERT_TRUE(payer.reserve(call_of(1000, 2000), w.clock.now()).ok());
  w.clock.advance(kDayMs);
  ASSERT_TRUE(payer.settle(chat(R"({"prompt_tokens":900,"completion_tokens":50})")).ok());
  EXPECT_EQ(tokens_today(w), 0);
  EXPECT_EQ(w.number("SELECT min(input_tokens + output_tokens) FROM spend"), 950);
}

struct Talk : World {
  explicit Talk(int messages) {
    embedder->local = false;
    std::vector<Entry> said;
    for (int n = 1; n <= messages; ++n) {
      said.push_back(message(uuid(n), "user", std::string(400, 'a') + std::to_string(n),
                             clock.now().value - kDayMs + n));
    }
    add("agent-db")->streams = {stream("s1", std::move(said))};
    call = [this](const HttpRequest&) {
      ++calls;
      HttpResponse response;
      response.status = 200;
      return response;
    };
  }
  int calls = 0;
};

TEST(Embed, C164_no_day_goes_over_its_cap_and_all_is_done_over_the_days) {
  for (const std::int64_t cap : {250, 1000, 5000}) {  // a request of sixteen takes 1,600
    Talk w(64);
    w.options.limits.daily_tokens = cap;
    w.reopen();
    EXPECT_EQ(w.drain().done, false) << cap;
    EXPECT_LE(tokens_today(w), cap);
    EXPECT_GT(tokens_today(w), 0) << cap;
    w.waits = 60;
    EXPECT_TRUE(w.drain().done) << cap;
    EXPECT_LE(w.number("SELECT max(t) FROM (SELECT sum(input_tokens + output_tokens) t FROM spend"
                       " GROUP BY day)"),
              cap);
    EXPECT_EQ(w.number("SELECT count(*) FROM vectors"), 64);
  }
}

TEST(Embed, C164_a_start_with_a_spent_budget_asks_nothing_not_even_the_probe) {
  Talk w(4);
  w.embedder->id.dims = 0;
  w.options.limits.daily_tokens = 100;
  w.reopen();
  ASSERT_TRUE(add_spend(w.store->db(), "embed", "fake-a", {1, 100, 0, 0}, w.clock.now()).ok());
  for (int restart = 0; restart < 3; ++restart) {
    w.reopen();
    w.drain();
  }
  EXPECT_EQ(w.calls, 0);
  EXPECT_EQ(tokens_today(w), 100);
}

}  // namespace
}  // namespace clawmark
