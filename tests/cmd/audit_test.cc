// Every query of docs/audit.md in the sqlite3 shell, on the bundled sample.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cmd/world.h"
#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

struct Recipe {
  std::string sql;
  bool may_be_empty = false;
};

std::vector<Recipe> recipes_of(const std::string& page) {
  static const std::string kBegin = "```sql\n", kEnd = "```\n";
  std::vector<Recipe> out;
  for (std::size_t at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at)) {
    at += kBegin.size();
    const std::size_t end = page.find(kEnd, at);
    if (end == std::string::npos) break;
    out.push_back({page.substr(at, end - at),
                   page.substr(end + kEnd.size()).starts_with("<!-- may be empty -->")});
    at = end;
  }
  return out;
}

// The sqlite3 shell, fed by a file.
support::Outcome ask(const std::string& db, const std::string& folder, const std::string& sql) {
  const std::string file = folder + "/query.sql";
  std::ofstream(file) << sql;
  const std::string command = "sqlite3 -bail -readonly '" + db + "' < '" + file + "'";
  return support::in_shell(command);
}

TEST(Audit, every_recipe_of_the_page_runs_in_the_shell) {
  if (system("command -v sqlite3 > /dev/null") != 0) GTEST_SKIP() << "no sqlite3 shell here";
  const support::World world;
  ASSERT_EQ(world.once().code, 0);
  ASSERT_EQ(world.clawmark({"set", "project.stage", "rehearsals"}).code, 0);
  ASSERT_EQ(world.clawmark({"set", "project.hall", "the old mill"}).code, 0);
  ASSERT_EQ(world.clawmark({"forget", "project.hall"}).code, 0);
  const auto recipes =
      recipes_of(support::read_text(std::string(CLAWMARK_SOURCE_DIR) + "/docs/audit.md"));
  EXPECT_GE(recipes.size(), 15U);
  for (const Recipe& recipe : recipes) {
    const support::Outcome got = ask(world.db(), world.home(), recipe.sql);
    EXPECT_EQ(got.code, 0) << recipe.sql << got.out;
    EXPECT_TRUE(recipe.may_be_empty || !got.out.empty()) << recipe.sql;
  }
  const support::Outcome forgotten = ask(world.db(), world.home(),
                                         "SELECT key FROM facts WHERE is_deleted = 1 AND key = "
                                         "'project.hall';");
  EXPECT_EQ(forgotten.out, "project.hall\n");
}

}  // namespace
}  // namespace clawmark
