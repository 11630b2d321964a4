// Method: things said about a small world, each message and its answer read together, in every
// order (and for larger sets in seeded random orders), in batches of any size, must end in the same
// state, digest for digest.

#include <algorithm>
#include <functional>
#include <random>

#include "graph_world.h"

namespace clawmark::testing_world {
namespace {

using Step = std::function<void(GraphWorld&)>;

Seq message(GraphWorld& w, double at) {
  return w.say({.at = day(at), .entry_id = "m" + std::to_string(at)});
}

Step task(double at, std::string status, bool only_status = false) {
  return [=](GraphWorld& w) {
    const std::string words = "at " + std::to_string(at);
    json::object more{{"status", status}, {"description", words}};
    if (only_status) more["only_status"] = true;
    const Seq m = message(w, at);
    w.nodes({w.node("task", "seats", m, std::move(more), words)});
  };
}

Step decision(double at, std::string slot, std::string choice, std::string replaces = "") {
  return [=](GraphWorld& w) {
    json::object more{{"choice", choice}, {"reason", "because " + std::to_string(at)}};
    if (!slot.empty()) more["slot"] = slot;
    if (!replaces.empty()) more["replaces"] = replaces;
    const Seq m = message(w, at);
    const std::string name = slot.empty() ? "use " + choice : slot + ": " + choice;
    w.completed({{"nodes", json::array{w.node("decision", name, m, std::move(more))}},
                 {"episodes", json::array{w.episode("decision", name, m)}}});
  };
}

Step uses(double at, std::string what, bool closes = false) {
  return [=](GraphWorld& w) {
    json::object more{{"slot", "database"}};
    if (closes) more["closes"] = true;
    const Seq m = message(w, at);
    w.completed({{"nodes", json::array{w.node("component", what, m)}},
                 {"edges", json::array{w.edge("DEPENDS_ON", "project", "shop", "component", what, m,
                                              std::move(more))}}});
  };
}

void expect_same(const std::vector<Step>& steps, const std::vector<std::size_t>& order,
                 std::string& expected, std::size_t batch) {
  GraphWorld w;
  for (const auto i : order) steps[i](w);
  w.fold_graph(batch);
  const std::string digest = w.graph_digest();
  if (expected.empty()) expected = digest;
  ASSERT_EQ(digest, expected);
}

TEST(GraphOrder, C096_every_order_of_reading_gives_one_state) {
  const std::vector<Step> steps = {
      decision(1, "payment", "Stripe"), decision(8, "", "Mollie", "Stripe"),
      decision(20, "payment", "Adyen"), decision(30, "payment", "Stripe"), task(5, "blocked")};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4};
  std::string expected;
  std::size_t batch = 1;
  do {
    expect_same(steps, order, expected, 1 + batch++ % 4);
    if (testing::Test::HasFatalFailure()) return;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(GraphOrder, C096_seeded_orders_of_tasks_relations_and_decisions_give_one_state) {
  std::mt19937 random(20260104);
  for (int round = 0; round < 3; ++round) {
    std::vector<Step> steps;
    const char* statuses[] = {"active", "blocked", "pending", "done", "cancelled"};
    const char* names[] = {"MySQL", "Postgres", "SQLite"};
    for (int i = 0; i < 16; ++i) {
      // Some at the very same time.
      const double at = static_cast<double>(random() % 12) + (random() % 2 ? 0.0 : i / 100.0);
      switch (random() % 3) {
        case 0:
          steps.push_back(task(at + i / 1000.0, statuses[random() % 5], random() % 3 == 0));
          break;
        case 1:
          steps.push_back(uses(at + i / 1000.0, names[random() % 3], random() % 4 == 0));
          break;
        default:
          steps.push_back(decision(at + i / 1000.0, random() % 2 ? "database" : "",
                                   names[random() % 3], random() % 2 ? names[random() % 3] : ""));
      }
    }
    std::vector<std::size_t> order(steps.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::string expected;
    for (int shuffle = 0; shuffle < 8; ++shuffle) {
      std::shuffle(order.begin(), order.end(), random);
      expect_same(steps, order, expected, 1 + random() % 30);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace clawmark::testing_world
