// Exploration summaries: structure by kind, the same each time, without secrets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits_world.h"
#include "base/utf8.h"
#include "models/explore/exploration.h"

namespace clawmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Exploration of(const std::string& text, const std::string& name = {}) {
  const Exploration once = explore(text, name, "");
  EXPECT_EQ(once.summary, explore(text, name, "").summary);
  EXPECT_LE(count_code_points(once.summary), kFileSummaryChars);
  EXPECT_FALSE(once.summary.ends_with('\n'));
  return once;
}

TEST(Explore, json_shows_keys_lengths_and_samples_two_levels_deep) {
  const auto found = of(R"({"users":[{"id":1,"name":"Ada","tags":["a","b","c","d"]},{"id":2}],)"
                        R"("total":2,"meta":{"page":{"size":50}}})");
  EXPECT_EQ(found.kind, "json");
  EXPECT_THAT(found.summary, HasSubstr("JSON, 105 bytes, 1 line, about 27 tokens"));
  EXPECT_THAT(found.summary, HasSubstr("object with 3 keys"));
  EXPECT_THAT(found.summary, HasSubstr("- users: list of 2, the first: object with 3 keys"));
  EXPECT_THAT(found.summary, HasSubstr("- name: \"Ada\""));
  EXPECT_THAT(found.summary, HasSubstr("- tags: list of 4: \"a\", \"b\", \"c\" and 1 more"));
  EXPECT_THAT(found.summary, HasSubstr("- total: 2"));
}

TEST(Explore, a_table_shows_columns_what_they_hold_and_its_ends) {
  std::string text = "day,visitors,\"place, hall\"\n";
  for (int n = 0; n < 40; ++n) {
    text += "2026-11-" + std::to_string(10 + n % 20) + "," + std::to_string(n) + ",\"east, 1\"\n";
  }
  const auto found = of(text);
  EXPECT_EQ(found.kind, "csv");
  EXPECT_THAT(found.summary, HasSubstr("40 rows below a header of 3 columns: day (dates), "
                                       "visitors (numbers), place, hall (text)"));
  EXPECT_THAT(found.summary, HasSubstr("First row: 2026-11-10, 0, east, 1"));
  EXPECT_THAT(found.summary, HasSubstr("Last row: 2026-11-29, 39, east, 1"));
  EXPECT_EQ(of("a\tb\n1\t2\n3\t4\n").kind, "tsv");
}

TEST(Explore, yaml_shows_the_keys_at_the_top_with_their_lines) {
  const auto found =
      of("# config\nname: shop\nservices:\n  web:\n    image: nginx\n  db:\n"
         "    image: postgres\nvolumes:\n  - data\n");
  EXPECT_EQ(found.kind, "yaml");
  EXPECT_THAT(found.summary, HasSubstr("3 keys at the top: name (line 2), services (line 3, 4 "
                                       "below), volumes (line 8, 1 below)"));
}

TEST(Explore, yaml_may_have_one_key_at_the_top_but_prose_under_a_word_and_a_colon_is_none) {
  EXPECT_EQ(of("services:\n  web:\n    image: nginx\n    ports:\n      - 80\n").kind, "yaml");
  EXPECT_NE(of("Remember:\nwe go at noon\nand take the blue bag\nwith the keys\n").kind, "yaml");
  EXPECT_NE(of("Shopping:\n- milk\n").kind, "yaml");
}

TEST(Explore, markup_shows_root_children_and_counts_html_its_title_and_headings) {
  const auto xml =
      of("<?xml version=\"1.0\"?>\n<!-- c --><catalog><book id=\"1\"><title>A</title>"
         "</book><book/><note>x</note></catalog>");
  EXPECT_EQ(xml.kind, "xml");
  EXPECT_THAT(xml.summary, HasSubstr("Root <catalog>, 5 elements, 3 levels"));
  EXPECT_THAT(xml.summary, HasSubstr("Below it: book × 2, note"));
  const auto html =
      of("<!DOCTYPE html><html><head><title>Shop</title><script>if (a<b) {}</script>"
         "</head><body><h1>Hello</h1><br><p>x</p><p>y</p></body></html>");
  EXPECT_EQ(html.kind, "html");
  EXPECT_THAT(html.summary, HasSubstr("Title: Shop"));
  EXPECT_THAT(html.summary, HasSubstr("Headings: Hello"));
  EXPECT_THAT(html.summary, HasSubstr("p × 2"));
}

TEST(Explore, code_shows_imports_and_definitions_with_their_lines) {
  const std::string text =
      "import os\nfrom sys import argv\n\nclass Shop:\n    def sell(self, seat):\n        "
      "return seat\n\ndef main():\n    print(argv)\n    x = 1\n    y = 2\n    if x:\n        "
      "return y\n";
  const auto found = of(text);
  EXPECT_EQ(found.kind, "code");
  EXPECT_THAT(found.summary, HasSubstr("2 imports: import os, from sys import argv"));
  EXPECT_THAT(found.summary, HasSubstr("3 definitions: class Shop (line 4), def sell(self, seat) "
                                       "(line 5), def main() (line 8)"));
  EXPECT_EQ(of("x = 1\ny = 2\n", "a.py").kind, "code") << "its name says so";
}

TEST(Explore, a_log_shows_its_span_levels_first_errors_and_what_repeats) {
  std::string text;
  for (int n = 10; n < 60; ++n) {
    text += "2026-11-30 07:00:" + std::to_string(n) + " INFO request " + std::to_string(n) +
            " served\n";
  }
  text += "2026-11-30 07:01:00 ERROR seat 12: E-SEAT-409\n";
  const auto found = of(text);
  EXPECT_EQ(found.kind, "log");
  EXPECT_THAT(found.summary, HasSubstr("From 2026-11-30 07:00:10 to 2026-11-30 07:01:00"));
  EXPECT_THAT(found.summary, HasSubstr("Levels: ERROR 1, INFO 50"));
  EXPECT_THAT(found.summary, HasSubstr("Line 51: 2026-11-30 07:01:00 ERROR seat 12: E-SEAT-409"));
  EXPECT_THAT(found.summary, HasSubstr("50 times: INFO request # served"));
}

TEST(Explore, lines_of_json_show_their_keys) {
  std::string text;
  for (int n = 0; n < 30; ++n) text += "{\"id\":" + std::to_string(n) + ",\"ok\":true}\n";
  const auto found = of(text);
  EXPECT_EQ(found.kind, "json lines");
  EXPECT_THAT(found.summary, HasSubstr("30 objects, one a line; keys: id, ok"));
}

TEST(Explore, text_shows_its_headings_beginning_and_end) {
  const std::string text = "# Plan\n\nWe sell seats.\n\n## Later\n\nAnd more of it, " +
                           std::string(3000, 'x') + " the end";
  const auto found = of(text);
  EXPECT_EQ(found.kind, "text");
  EXPECT_THAT(found.summary, HasSubstr("in 4 paragraphs"));
  EXPECT_THAT(found.summary, HasSubstr("Headings: # Plan (line 1), ## Later (line 5)"));
  EXPECT_THAT(found.summary, HasSubstr("Begins: # Plan We sell seats."));
  EXPECT_THAT(found.summary, HasSubstr("the end"));
}

TEST(Explore, what_is_cut_or_broken_is_read_as_far_as_it_goes) {
  EXPECT_EQ(of("{\"users\":[{\"id\":1},{\"id\"").kind, "text") << "JSON that was cut";
  EXPECT_EQ(of("").kind, "text");
  EXPECT_EQ(of(std::string("\xff\xfe\0garbage", 10)).kind, "text");
  EXPECT_EQ(of(std::string(100'000, '[')).kind, "text");
  EXPECT_EQ(of(std::string(100'000, '<')).kind, "text");
  EXPECT_EQ(of("<a").kind, "text");
}

TEST(Explore, no_secret_is_in_a_summary) {
  const std::string token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  for (const std::string& text :
       {"{\"token\":\"" + token + "\",\"n\":1}", "token: " + token + "\nname: a\nother: b\n",
        "first " + token + " last", "key,value\ntoken," + token + "\na,b\nc,d\n"}) {
    const auto found = of(text);
    EXPECT_THAT(found.summary, Not(HasSubstr(token.substr(4)))) << found.kind;
    EXPECT_THAT(found.summary, HasSubstr("[secret:")) << found.summary;
  }
}

TEST(Explore, only_what_reaches_the_threshold_is_large_and_file_blocks_stand_for_themselves) {
  const std::size_t tokens = 1000;
  EXPECT_TRUE(large_parts(std::string(3996, 'a'), tokens).empty());
  ASSERT_EQ(large_parts(std::string(3997, 'a'), tokens).size(), 1U);
  EXPECT_TRUE(large_parts("é" + std::string(3995, 'a'), tokens).empty()) << "characters count";
  const std::string inside(5000, 'b');
  const std::string block = "look at this\n<file name=\"a.csv\" mime=\"text/csv\">" + inside +
                            "</file> and <file name=\"b\">small</file> thanks";
  const auto parts = large_parts(block, tokens);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].name, "a.csv");
  EXPECT_EQ(parts[0].mime, "text/csv");
  EXPECT_EQ(block.substr(parts[0].start, parts[0].length), inside);
  const auto all = large_parts(block + std::string(5000, 'c'), tokens);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].length, block.size() + 5000) << "what is around it is as large";
}

}  // namespace
}  // namespace clawmark
