#pragma once
// What the tree promises of itself, as checks over text: who may include whom, where time and
// randomness enter, how long a file may be. Each takes a path relative to the root and the content.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark::tidy {

struct Finding {
  std::string path;
  int line = 0;  // from 1; 0: the file as a whole
  std::string what;
  bool operator==(const Finding&) const = default;
};

// C++ text with comments, or comments and literals, blanked out; lines stay where they are.
std::string without_comments(std::string_view source);
std::string code_only(std::string_view source);
std::string comments_only(std::string_view source);

// The arrows between the rooms, and Asio's four places.
std::vector<Finding> check_includes(const std::string& path, std::string_view source);
// Clock reads outside base/clock, randomness outside its places, sleeping.
std::vector<Finding> check_time_and_chance(const std::string& path, std::string_view source);
// "SELECT *" and std::regex (but in tests), notes to self, SQL outside the rooms that own tables.
std::vector<Finding> check_words(const std::string& path, std::string_view source);
// Lines over 100 columns (code points) but within a literal, files over 450 lines (tests: 500).
std::vector<Finding> check_size(const std::string& path, std::string_view source);
std::vector<Finding> check_file(const std::string& path, std::string_view source);

// Sources that no target compiles. `compile_commands`: CMake's file; `root`: of the tree.
std::vector<Finding> check_targets(const std::vector<std::string>& sources,
                                   std::string_view compile_commands, const std::string& root);

// Tables WITHOUT ROWID whose first columns are not their key, in its order: SQLite 3.40's
// integrity_check takes them for damaged. Reads SQL files, and SQL in C++ literals.
std::vector<Finding> check_table_keys(const std::string& path, std::string_view source);

// Names of the tests that a C++ source defines ("Suite.test").
std::vector<std::string> test_names(std::string_view source);
// Names in a document, in backticks (`Suite.test`, `Suite.*`), that no test has.
std::vector<Finding> check_named_tests(const std::string& path, std::string_view document,
                                       const std::vector<std::string>& tests);

// The C++ files of a tree by path relative to its root, build folders left out.
std::map<std::string, std::string> read_tree(const std::string& root);

std::string describe(const std::vector<Finding>& findings);

}  // namespace clawmark::tidy
