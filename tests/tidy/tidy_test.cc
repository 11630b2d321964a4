// The tree against its own rules; and each rule against a text that breaks it, so that a check that
// sees nothing is seen.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "checks.h"
#include "test_paths.h"

namespace clawmark::tidy {
namespace {

const std::map<std::string, std::string>& tree() {
  static const auto files = read_tree(CLAWMARK_SOURCE_DIR);
  return files;
}

template <class Check>
std::string over_the_tree(const Check& check) {
  std::string out;
  for (const auto& [path, source] : tree()) out += describe(check(path, source));
  return out;
}

TEST(Tree, is_read_as_a_whole) {
  for (const char* path : {"base/clock.cc", "log/store.h", "tests/tidy/tidy_test.cc"}) {
    EXPECT_TRUE(tree().contains(path)) << path;
  }
}

TEST(Tree, rooms_include_only_what_they_may) {
  EXPECT_EQ(over_the_tree(check_includes), "");
}

TEST(Tree, time_and_chance_enter_in_their_places_only) {
  EXPECT_EQ(over_the_tree(check_time_and_chance), "");
}

TEST(Tree, words_that_have_no_place_are_absent) {
  EXPECT_EQ(over_the_tree(check_words), "");
}

TEST(Tree, files_and_lines_are_short) {
  EXPECT_EQ(over_the_tree(check_size), "");
}

// Documents and SQL files, by path relative to the root.
std::map<std::string, std::string> texts_under(const std::string& folder, std::string_view suffix) {
  std::map<std::string, std::string> out;
  const std::string root = CLAWMARK_SOURCE_DIR;
  for (const auto& file : std::filesystem::recursive_directory_iterator(root + "/" + folder)) {
    const std::string path = file.path().string();
    if (path.ends_with(suffix)) out[path.substr(root.size() + 1)] = read_file(path).value();
  }
  return out;
}

TEST(Tree, tables_without_rowid_begin_with_their_key) {
  std::string out;
  for (const auto& [path, source] : tree()) {
    if (!path.starts_with("tests/tidy/")) out += describe(check_table_keys(path, source));
  }
  for (const auto& [path, sql] : texts_under("schema", ".sql")) {
    out += describe(check_table_keys(path, sql));
  }
  EXPECT_EQ(out, "");
}

TEST(Tree, every_test_that_a_document_names_is_there) {
  std::vector<std::string> tests;
  for (const auto& [path, source] : tree()) {
    if (!path.starts_with("tests/")) continue;
    for (auto& name : test_names(source)) tests.push_back(std::move(name));
  }
  EXPECT_GT(tests.size(), 500u);
  auto documents = texts_under("docs", ".md");
  documents["README.md"] = read_file(join_path(CLAWMARK_SOURCE_DIR, "README.md")).value();
  std::string out;
  for (const auto& [path, text] : documents) out += describe(check_named_tests(path, text, tests));
  EXPECT_EQ(out, "");
}

TEST(Tree, every_source_is_in_a_target) {
  std::vector<std::string> sources;
  for (const auto& [path, source] : tree()) {
    const bool built = CLAWMARK_HAS_BENCH || !path.starts_with("bench/");
    if (path.ends_with(".cc") && built) sources.push_back(path);
  }
  const auto commands = read_file(join_path(CLAWMARK_BUILD_DIR, "compile_commands.json"));
  ASSERT_TRUE(commands.ok());
  EXPECT_EQ(describe(check_targets(sources, *commands, CLAWMARK_SOURCE_DIR)), "");
}

// --- Each rule, broken ---------------------------------------------------------------------------

struct Case {
  const char* path;
  const char* source;
  int findings;
};

template <class Check>
void expect_findings(const Check& check, std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const auto found = check(c.path, c.source);
    EXPECT_EQ(found.size(), static_cast<std::size_t>(c.findings))
        << c.path << ": " << c.source << "\n"
        << describe(found);
  }
}

TEST(Rules, a_forbidden_arrow_is_found) {
  expect_findings(check_includes,
                  {{"projections/fold.cc", "#include \"models/model.h\"\n", 1},
                   {"projections/fold.cc", "  #  include \"log/event.h\"\n", 0},
                   {"projections/fold.cc", "#include \"log/event.h\"\n", 0},
                   {"projections/fold.cc", "// #include \"models/model.h\"\n", 0},
                   {"base/x.h", "#include \"log/event.h\"\n", 1},
                   {"base/x.h", "#include   \"base/y.h\"\n", 0},
                   {"sources/x.cc", "#include \"base/y.h\"\n#include \"log/event.h\"\n", 1},
                   {"models/x.cc", "#include \"serve/api.h\"\n", 1},
                   {"serve/x.cc", "#include \"workers/driver.h\"\n", 1},
                   {"workers/x.cc", "#include \"cmd/app.h\"\n", 1},
                   {"log/x.cc", "#include \"tests/support/world.h\"\n", 1},
                   {"cmd/x.cc", "#include \"tests/support/world.h\"\n", 1},
                   {"cmd/x.cc", "#include \"serve/api.h\"\n", 0},
                   {"cmd/clawmark-sample/x.cc", "#include \"tests/support/a.h\"\n", 0},
                   {"tests/x.cc", "#include \"cmd/app.h\"\n", 0}});
}

TEST(Rules, asio_outside_its_places_is_found) {
  expect_findings(check_includes, {{"serve/recall.cc", "#include <boost/asio.hpp>\n", 1},
                                   {"models/model.h", "#include <boost/beast/core.hpp>\n", 1},
                                   {"workers/driver.cc", "#include <boost/asio.hpp>\n", 0},
                                   {"log/x.cc", "#include <boost/json.hpp>\n", 0}});
}

TEST(Rules, a_clock_read_or_a_dice_is_found) {
  expect_findings(check_time_and_chance,
                  {{"serve/x.cc", "auto t = std::chrono::system_clock::now();", 1},
                   {"serve/x.cc", "auto t = Steady::steady_clock::now();", 1},
                   {"serve/x.cc", "auto t = time(nullptr);", 1},
                   {"serve/x.cc", "::gettimeofday(&tv, nullptr);", 1},
                   {"serve/x.cc", "clock_gettime(CLOCK_REALTIME, &ts);", 1},
                   {"base/clock.cc", "auto t = std::chrono::system_clock::now();", 0},
                   {"serve/x.cc", "// system_clock::now is not for us\n", 0},
                   {"serve/x.cc", "log(\"time(nullptr)\");", 0},
                   {"serve/x.cc", "row.time(3); my_time(0); clock.now();", 0},
                   {"workers/x.cc", "std::random_device seed;", 1},
                   {"workers/x.cc", "int x = rand();", 1},
                   {"workers/x.cc", "int x = operand();", 0},
                   {"workers/x.cc", "std::mt19937 random(seed);", 0},
                   {"log/store.cc", "RAND_bytes(a, 16);", 0},
                   {"log/other.cc", "RAND_bytes(a, 16);", 1},
                   {"tests/x.cc", "std::this_thread::sleep_for(1ms);", 1}});
}

TEST(Rules, words_are_found_where_they_count) {
  expect_findings(check_words, {{"log/x.cc", "run(\"SELECT * FROM t\");", 1},
                                {"log/x.cc", "// SELECT * is not for us\n", 0},
                                {"tests/x.cc", "run(\"SELECT * FROM t\");", 0},
                                {"log/x.cc", "run(\"SELECT count(*) FROM t\");", 0},
                                {"log/x.cc", "#include <regex>\n", 1},
                                {"log/x.cc", "std::regex r(\"a\");", 1},
                                {"log/x.cc", "int a;  // TODO: later\n", 1},
                                {"log/x.cc", "/* FIXME\n */", 1},
                                {"log/x.cc", "text(\"TODO: buy milk\");", 0},
                                {"serve/x.cc", "run(\"SELECT a FROM t\");", 1},
                                {"projections/x.cc", "run(\"SELECT a FROM t\");", 0},
                                {"serve/x.cc", "say(\"SELECTED\");", 0}});
}

TEST(Rules, raw_strings_and_quotes_do_not_confuse_the_reader) {
  EXPECT_EQ(code_only("a R\"x(// \" )x\" b"), "a              b");
  EXPECT_EQ(code_only("int n = 1'000; // c"), "int n = 1'000;     ");
  EXPECT_EQ(code_only("f('\"'); g();"), "f(   ); g();");
  EXPECT_EQ(comments_only("a; // b\n/* c\nd */ e"), "   // b\n/* c\nd */  ");
}

TEST(Rules, long_lines_and_files_are_found) {
  const std::string wide(101, 'x'), umlauts = [] {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "ä";
    return text;
  }();
  const std::string literal = "auto x = R\"({\n" + wide + "\n})\";\nint " + wide + ";";
  std::string lines;
  for (int i = 0; i < 451; ++i) lines += "\n";
  EXPECT_EQ(check_size("log/x.cc", wide).size(), 1u);
  EXPECT_EQ(check_size("log/x.cc", umlauts).size(), 0u) << "columns are characters, not bytes";
  ASSERT_EQ(check_size("log/x.cc", literal).size(), 1u) << "what is in a literal stays";
  EXPECT_EQ(check_size("log/x.cc", literal).front().line, 4);
  EXPECT_EQ(check_size("log/x.cc", lines).size(), 1u);
  EXPECT_EQ(check_size("tests/log/x.cc", lines).size(), 0u);
}

TEST(Rules, a_source_in_no_target_is_found) {
  const std::string commands = R"([{"directory":"/b","file":"/r/log/a.cc","command":"c++"}])";
  EXPECT_TRUE(check_targets({"log/a.cc"}, commands, "/r").empty());
  const std::vector<Finding> expected = {{"log/b.cc", 0, "is in no target"}};
  EXPECT_EQ(check_targets({"log/a.cc", "log/b.cc"}, commands, "/r"), expected);
  EXPECT_FALSE(check_targets({"log/a.cc"}, "not json", "/r").empty());
}

TEST(Rules, a_table_that_does_not_begin_with_its_key_is_found) {
  const auto lines = [](const std::string& path, const std::string& sql) {
    std::vector<int> out;
    for (const auto& finding : check_table_keys(path, sql)) out.push_back(finding.line);
    return out;
  };
  const std::string good = "a TEXT NOT NULL, b INTEGER CHECK (b IN (1, 2)), c TEXT, ";
  const auto table = [](const std::string& body) {
    return "\nCREATE TABLE t(" + body + ") STRICT, WITHOUT ROWID;\n";
  };
  EXPECT_EQ(lines("x.sql", table(good + "PRIMARY KEY (a, b)")), std::vector<int>{});
  EXPECT_EQ(lines("x.sql", table("a TEXT PRIMARY KEY, b TEXT")), std::vector<int>{});
  EXPECT_EQ(lines("x.sql", table(good + "PRIMARY KEY (b, a)")), std::vector<int>{2});
  EXPECT_EQ(lines("x.sql", table(good + "PRIMARY KEY (a, c)")), std::vector<int>{2});
  EXPECT_EQ(lines("x.sql", table("b TEXT, a TEXT PRIMARY KEY")), std::vector<int>{2});
  EXPECT_EQ(lines("x.sql", "CREATE TABLE t(b TEXT, a TEXT PRIMARY KEY);"), std::vector<int>{});
  const std::string cpp = "\"CREATE TABLE IF NOT EXISTS t__g#(b TEXT, \"\n  \"a TEXT, \"\n";
  EXPECT_EQ(lines("x.cc", cpp + "\"PRIMARY KEY(a)) STRICT, WITHOUT ROWID;\""), std::vector<int>{1});
  EXPECT_EQ(lines("x.cc", cpp + "\"PRIMARY KEY(b, a)) STRICT, WITHOUT ROWID;\""),
            std::vector<int>{});
}

TEST(Rules, a_test_that_is_named_and_not_there_is_found) {
  // Put together here: a line that began so would be taken for a test of this file.
  const std::string source = std::string("TE") + "ST(One, works_well) {}\n" + "TE" +
                             "ST_F(Two,\n       C001_is_kept) {}\n";
  const auto tests = test_names(source);
  EXPECT_EQ(tests, (std::vector<std::string>{"One.works_well", "Two.C001_is_kept"}));
  const std::string good = "So it is (`One.works_well`, `Two.*`), see `README.md` and `a.b_c`.\n";
  EXPECT_TRUE(check_named_tests("x.md", good, tests).empty());
  const auto found = check_named_tests("x.md", good + "`One.works_badly`\n`Three.*`", tests);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[1].what, "no test is named Three.*");
}

TEST(Rules, a_tree_is_walked_without_its_build_folders) {
  std::string pattern = (std::filesystem::temp_directory_path() / "clawmark-XXXXXX").string();
  const std::string root = ::mkdtemp(pattern.data());
  for (const char* folder : {"log/deep", "build/x", "plugin/node_modules"}) {
    std::filesystem::create_directories(root + "/" + folder);
  }
  for (const char* file :
       {"log/deep/a.cc", "log/b.h", "log/c.md", "build/x/d.cc", "plugin/node_modules/e.h"}) {
    std::ofstream(root + "/" + file) << "x";
  }
  const auto files = read_tree(root);
  std::filesystem::remove_all(root);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(files.contains("log/deep/a.cc"));
  EXPECT_TRUE(files.contains("log/b.h"));
}

}  // namespace
}  // namespace clawmark::tidy
