// Tasks that were blocked, and how they stand once what was in their way is over.

#include <gtest/gtest.h>

#include "graph_world.h"

namespace clawmark {
namespace {

using testing_world::day;
using testing_world::GraphWorld;

class Blocked : public testing::Test {
 protected:
  // "The launch is blocked by NAME", on a day.
  void blocked_by(const std::string& name, double on, const std::string& type = "concept") {
    const Seq m = w.say({.at = day(on)});
    w.completed({{"nodes", json::array{w.node("task", "launch", m, {{"status", "blocked"}}),
                                       w.node(type, name, m)}},
                 {"edges", json::array{w.edge("BLOCKED_BY", "task", "launch", type, name, m)}}},
                {m});
  }
  // "NAME is done", as rules say it: of something that may be a task.
  Seq said(const std::string& name, const std::string& status, double on) {
    const Seq m = w.say({.at = day(on)});
    w.nodes({w.node("task", name, m, {{"status", status}, {"only_status", true}})});
    return m;
  }
  std::string status(std::optional<TimeMs> at = {}) {
    w.fold_graph();
    GraphScope scope = w.scope();
    scope.at = at;
    return (*get_node(w.db(), scope, "task", "launch"))->status;
  }
  std::size_t ties() {
    return ties_of_task(w.db(), w.scope(), **get_node(w.db(), w.scope(), "task", "launch"))
        .value()
        .size();
  }
  std::vector<std::string> listed(const char* wanted) {
    NodeQuery query;
    query.type = "task";
    query.statuses = {wanted};
    std::vector<std::string> names;
    const auto rows = list_nodes(w.db(), w.scope(), query).value();
    for (const auto& row : rows) names.push_back(row.name);
    return names;
  }
  GraphWorld w;
};

TEST_F(Blocked, a_task_goes_on_when_what_it_was_blocked_by_is_done) {
  blocked_by("migration 0008", 1);
  EXPECT_EQ(status(), "blocked");
  EXPECT_EQ(ties(), 1u);
  said("Migration 0008", "done", 3);
  EXPECT_EQ(status(), "active");
  EXPECT_EQ(ties(), 0u);
  EXPECT_EQ(listed("active"), std::vector<std::string>{"launch"});
  EXPECT_TRUE(listed("blocked").empty());
  EXPECT_EQ(status(day(2)), "blocked") << "as of before";
  EXPECT_EQ(status(day(4)), "active");
}

TEST_F(Blocked, it_stays_blocked_by_what_is_left_and_by_what_came_later) {
  blocked_by("the quota", 1);
  blocked_by("the licence", 2);
  said("the quota", "done", 3);
  EXPECT_EQ(status(), "blocked");
  EXPECT_EQ(ties(), 1u);
  said("the licence", "cancelled", 4);
  EXPECT_EQ(status(), "active");
  blocked_by("the quota", 5);
  EXPECT_EQ(status(), "blocked") << "in the way again";
}

TEST_F(Blocked, what_is_open_again_blocks_again) {
  blocked_by("the quota", 1);
  said("the quota", "done", 2);
  said("the quota", "pending", 3);
  EXPECT_EQ(status(), "blocked");
}

TEST_F(Blocked, a_task_that_goes_on_waits_for_nothing_said_before) {
  blocked_by("the licence", 1);
  said("launch", "active", 2);
  EXPECT_EQ(status(), "active");
  EXPECT_EQ(ties(), 0u);
}

}  // namespace
}  // namespace clawmark
