// Every query of docs/audit.md in the sqlite3 shell, on the bundled sample.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
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

// Exit code and output of the shell, fed by a file.
std::pair<int, std::string> in_shell(const std::string& db, const std::string& folder,
                                     const std::string& sql) {
  const std::string file = folder + "/query.sql";
  std::ofstream(file) << sql;
  const std::string command = "sqlite3 -bail -readonly '" + db + "' < '" + file + "' 2>&1";
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, ""};
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  return {pclose(pipe), out};
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
    const auto [code, out] = in_shell(world.db(), world.home(), recipe.sql);
    EXPECT_EQ(code, 0) << recipe.sql << out;
    EXPECT_TRUE(recipe.may_be_empty || !out.empty()) << recipe.sql;
  }
  const auto forgotten = in_shell(world.db(), world.home(),
                                  "SELECT key FROM facts WHERE is_deleted = 1 AND key = "
                                  "'project.hall';");
  EXPECT_EQ(forgotten.second, "project.hall\n");
}

}  // namespace
}  // namespace clawmark
