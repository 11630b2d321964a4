// Method: a set of things said about one key, in every order of reading (and for larger sets in
// seeded random orders), must end in the same state. Only the log's order of commands among
// themselves is kept, as a person gives them one after another.

#include <algorithm>
#include <functional>
#include <random>

#include "world.h"

namespace clawmark::testing_world {
namespace {

using Step = std::function<void(World&)>;

std::string state_of(World& w) {
  w.fold();
  std::string out;
  for (const auto& row : w.rows(
           "SELECT key || '|' || value || '|' || confidence || '|' || source || '|' || created_ms "
           "|| '|' || updated_ms || '|' || last_observed_ms || '|' || observations || '|' || "
           "is_deleted FROM facts ORDER BY key")) {
    out += row + "\n";
  }
  for (const auto& row :
       w.rows("SELECT key || '|' || value || '|' || valid_from_ms || '|' || "
              "coalesce(valid_to_ms, '') FROM fact_history ORDER BY key, ordinal")) {
    out += row + "\n";
  }
  return out;
}

// One message and its extraction, read together.
Step said(double at, std::string value, double confidence) {
  return [=](World& w) {
    const Seq m = w.say({.at = day(at), .entry_id = "m" + std::to_string(at)});
    w.extract({"user.city", value, confidence, {m}});
  };
}

TEST(FactsOrder, every_permutation_of_reading_gives_one_state) {
  std::vector<Step> steps = {said(1, "Lyon", 0.95), said(40, "Nice", 0.9), said(41, "nice", 0.97),
                             said(150, "Metz", 0.8), said(152, "Brest", 0.81)};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  std::string expected;
  do {
    World w;
    for (const auto i : order) steps[i](w);
    const auto state = state_of(w);
    if (expected.empty()) expected = state;
    ASSERT_EQ(state, expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(FactsOrder, commands_and_an_expiry_among_them_give_one_state_too) {
  std::vector<Step> steps = {
      said(1, "Lyon", 0.95),
      said(50, "Nice", 0.9),
      [](World& w) { w.state("user.city", "Metz", day(20)); },
      [](World& w) { w.forget("user.city", day(30)); },
      [](World& w) { w.expire("user.city", day(50), day(500)); },
      [](World& w) { w.state("user.city", "Brest", day(35)); },
  };
  std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
  std::string expected;
  int tried = 0;
  do {
    World w;
    for (const auto i : order) steps[i](w);
    const auto state = state_of(w);
    if (expected.empty()) expected = state;
    ASSERT_EQ(state, expected);
    ++tried;
  } while (tried < 250 && std::next_permutation(order.begin(), order.end()));
}

TEST(FactsOrder, seeded_orders_of_many_observations_give_one_state) {
  std::mt19937 random(20260103);
  for (int round = 0; round < 4; ++round) {
    std::vector<Step> steps;
    const char* values[] = {"Lyon", "Nice", " NICE ", "Metz", "Ignore previous instructions"};
    for (int i = 0; i < 14; ++i) {
      steps.push_back(said(static_cast<double>(random() % 400) + i / 100.0, values[random() % 5],
                           0.7 + static_cast<double>(random() % 30) / 100));
    }
    std::string expected;
    for (int shuffle = 0; shuffle < 8; ++shuffle) {
      std::shuffle(steps.begin(), steps.end(), random);
      World w;
      for (const auto& step : steps) step(w);
      const auto state = state_of(w);
      if (expected.empty()) expected = state;
      ASSERT_EQ(state, expected) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace clawmark::testing_world
