#include "sources/active_path.h"

#include <gtest/gtest.h>

namespace clawmark {
namespace {

using Ids = std::vector<std::string>;

TEST(ActivePath, C017_a_branch_left_by_a_leaf_entry_is_inactive_until_it_is_taken_up_again) {
  ActivePath path;
  path.add("m1", "", true);
  path.add("m2", "m1", true);
  path.add_leaf("", "m1");
  path.add("m3", "m1", true);
  EXPECT_EQ(path.inactive(), Ids{"m2"});
  path.add_leaf("l2", "m2");  // switched back
  EXPECT_EQ(path.inactive(), Ids{"m3"});
}

TEST(ActivePath, a_sibling_without_a_leaf_entry_starts_a_branch_too) {
  ActivePath path;
  path.add("a", "", true);
  path.add("b", "a", true);
  path.add("c", "a", true);
  EXPECT_EQ(path.inactive(), Ids{"b"});
}

TEST(ActivePath, entries_without_parents_follow_each_other) {
  ActivePath path;
  path.add("a", "", true);
  path.add("b", "", true);
  path.add("x", "", false);
  path.add("c", "unknown", true);
  EXPECT_TRUE(path.inactive().empty());
}

TEST(ActivePath, a_leaf_entry_to_the_root_leaves_all_before_it) {
  ActivePath path;
  path.add("a", "", true);
  path.add("b", "a", true);
  path.add_leaf("l", "");
  path.add("c", "", true);
  EXPECT_EQ(path.inactive(), (Ids{"a", "b"}));
}

TEST(ActivePath, a_leaf_entry_to_an_unknown_target_changes_nothing) {
  ActivePath path;
  path.add("a", "", true);
  path.add_leaf("l", "elsewhere");
  path.add("b", "l", true);
  EXPECT_TRUE(path.inactive().empty());
}

TEST(ActivePath, only_messages_are_named) {
  ActivePath path;
  path.add("a", "", true);
  path.add("snapshot", "a", false);
  path.add("b", "snapshot", true);
  path.add("c", "a", true);
  EXPECT_EQ(path.inactive(), Ids{"b"});
}

}  // namespace
}  // namespace clawmark
