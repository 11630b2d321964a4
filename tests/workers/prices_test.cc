// What models cost, and the cap in money.

#include "workers/prices.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/workers/support.h"
#include "workers/budget.h"

namespace clawmark {
namespace {

TEST(Prices, a_dated_or_prefixed_name_is_its_model_and_a_longer_name_is_another) {
  EXPECT_DOUBLE_EQ(price_of({}, "gpt-4o").input_usd, 2.5);
  EXPECT_DOUBLE_EQ(price_of({}, "gpt-4o-mini-2024-07-18").input_usd, 0.15);
  EXPECT_DOUBLE_EQ(price_of({}, "openai/gpt-4o-mini").input_usd, 0.15);
  EXPECT_DOUBLE_EQ(price_of({}, "claude-sonnet-4-20250514").output_usd, 15);
  EXPECT_DOUBLE_EQ(price_of({}, "gpt-4omega").input_usd, kUnknownPrice.input_usd);
  EXPECT_DOUBLE_EQ(price_of({{"gpt-4o-mini", {1, 2}}}, "gpt-4o-mini").input_usd, 1);
  EXPECT_DOUBLE_EQ(price_of({}, "builtin-words-1").input_usd, 0);
}

TEST(Prices, a_variant_by_name_is_never_as_cheap_as_the_model_that_it_varies) {
  for (const char* variant : {"gpt-5-pro", "openai/gpt-5-pro", "gpt-5-codex", "gpt-5.2",
                              "gpt-4o-audio-preview", "gpt-4o-realtime-preview-2024-12-17",
                              "voyage-3-large", "gemini-2.5-flash-image", "gpt-4o-mini:online"}) {
    const Price price = price_of({}, variant);
    EXPECT_GE(price.input_usd, kUnknownPrice.input_usd) << variant;
    EXPECT_GE(price.output_usd, kUnknownPrice.output_usd) << variant;
  }
  EXPECT_DOUBLE_EQ(price_of({{"house", {1, 2}}}, "house-large").input_usd, kUnknownPrice.input_usd);
}

TEST(Prices, a_date_or_a_number_behind_a_name_is_the_same_model) {
  for (const char* issue :
       {"claude-haiku-4-5", "claude-haiku-4.5", "anthropic/claude-haiku-4.5",
        "claude-haiku-4-5-20251001", "claude-haiku-4-5@20251001", "claude-haiku-4-20250101-v1:0"}) {
    EXPECT_DOUBLE_EQ(price_of({}, issue).output_usd, 5) << issue;
  }
  EXPECT_DOUBLE_EQ(price_of({}, "claude-3-5-haiku-latest").output_usd, 4);
  EXPECT_DOUBLE_EQ(price_of({}, "gemini-2.0-flash-001").output_usd, 0.40);
  EXPECT_DOUBLE_EQ(price_of({}, "gemini-2.5-flash-preview-05-20").output_usd, 2.50);
  EXPECT_DOUBLE_EQ(price_of({{"house", {1, 2}}}, "house:latest").input_usd, 1);
  EXPECT_FALSE(known_price({}, "nobody"));
}

TEST(Prices, C164_a_model_costs_by_its_name_wherever_it_is_asked_and_nothing_on_this_machine) {
  for (const char* here : {"http://127.0.0.1:8080/v1", "http://localhost:11434",
                           "http://[::1]:1/v1", "http://LocalHost/v1", "http://127.8.9.1",
                           "http://llm.localhost:80/v1", "http://0.0.0.0:8080/v1"}) {
    for (const char* model : {"m1", "gpt-4o", "Qwen/Qwen3-Embedding-0.6B"}) {
      const Price price = price_of({}, std::string(here) + "|" + model);
      EXPECT_DOUBLE_EQ(price.input_usd + price.output_usd, 0) << here << " " << model;
    }
  }
  const std::string provider = "https://api.openai.com/v1|";
  EXPECT_DOUBLE_EQ(price_of({}, provider + "text-embedding-3-small").input_usd, 0.02);
  EXPECT_DOUBLE_EQ(price_of({}, provider + "gpt-4o-mini-2024-07-18").output_usd, 0.60);
  EXPECT_DOUBLE_EQ(price_of({}, "https://openrouter.ai/api/v1|openai/gpt-4o").input_usd, 2.5);
  EXPECT_DOUBLE_EQ(price_of({}, provider + "nobody").input_usd, kUnknownPrice.input_usd);
  // A name that only looks like this machine is another's.
  for (const char* there : {"http://localhost.example.com/v1", "http://127.example.com",
                            "http://10.0.0.7:8080/v1", "http://me@127.0.0.1.example.com/v1"}) {
    EXPECT_DOUBLE_EQ(price_of({}, std::string(there) + "|m1").input_usd, kUnknownPrice.input_usd)
        << there;
  }
  // What the operator says comes first, by the bare name or with the place.
  const PriceTable own = {
      {"m1", {1, 2}}, {"http://127.0.0.1:8080/v1|m1", {5, 6}}, {"http", {9, 9}}};
  EXPECT_DOUBLE_EQ(price_of(own, "http://127.0.0.1:1/v1|m1").input_usd, 1);
  EXPECT_DOUBLE_EQ(price_of(own, "http://127.0.0.1:8080/v1|m1").input_usd, 5);
  EXPECT_DOUBLE_EQ(price_of(own, "http://127.0.0.1:8080/v1|m2").input_usd, 0);
}

TEST(Prices, a_file_overrides_and_says_what_is_wrong_with_it) {
  support::TempDir dir;
  EXPECT_TRUE(read_prices(dir / "none.json")->empty());
  ASSERT_TRUE(
      write_file_atomic(dir / "p.json", "{ // ours\n \"house\": {\"input\": 0.5, \"output\": 1} }")
          .ok());
  EXPECT_DOUBLE_EQ(price_of(*read_prices(dir / "p.json"), "house").output_usd, 1);
  ASSERT_TRUE(write_file_atomic(dir / "p.json", "{\"house\": {\"input\": \"free\"}}").ok());
  EXPECT_FALSE(read_prices(dir / "p.json").ok());
}

TEST(Prices, C164_the_cap_in_money_bites_and_is_kept_over_a_restart) {
  World w;
  w.options.prices = {{"house", {1, 10}}};
  w.options.limits.daily_usd = 0.02;
  w.reopen();
  const TimeMs now = w.clock.now();
  auto& db = w.store->db();
  ASSERT_TRUE(add_spend(db, "extract", "house", {1, 1000, 500, 0}, now).ok());
  EXPECT_EQ(spent_today(db, now)->micro_usd, 1000 + 5000);
  EXPECT_FALSE(*budget_until(db, w.options.limits, now));
  ASSERT_TRUE(add_spend(db, "extract", "nobody-knows-it", {1, 1000, 500, 0}, now).ok());
  w.reopen();
  const auto until = budget_until(w.store->db(), w.options.limits, now);
  ASSERT_TRUE(until.ok());
  ASSERT_TRUE(*until) << "an unknown model is dear";
  EXPECT_FALSE(*budget_until(w.store->db(), w.options.limits, **until));
}

}  // namespace
}  // namespace clawmark
