// Text as cells: nothing that is stored may move the cursor or shift a line.

#include "cmd/tui/glyphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "cmd/tui/screen.h"

namespace clawmark::tui {
namespace {

using testing::ElementsAre;

std::string shown(std::string_view text) {
  std::string out;
  for (const Glyph& glyph : to_glyphs(text)) out += glyph.bytes;
  return out;
}

TEST(Glyphs, control_characters_become_blanks_and_escapes_do_nothing) {
  EXPECT_EQ(shown("a\x1b[31mb\x07"), "a [31mb ");
  EXPECT_EQ(shown("a\tb\r\nc"), "a b  c");
  EXPECT_EQ(shown("\xc2\x9b"
                  "2Jx"),
            " 2Jx")
      << "the one-byte introducer of C1";
  EXPECT_EQ(shown(std::string_view("a\0b", 3)), "a b");
}

TEST(Glyphs, what_turns_the_writing_direction_or_hides_is_left_out) {
  EXPECT_EQ(shown("pay\u202Eelif\u202C now"), "payelif now");
  EXPECT_EQ(shown("a\u2066b\u2069c"), "abc");
  EXPECT_EQ(shown("a\u200Bb\uFEFFc\u00ADd"), "abcd");
}

TEST(Glyphs, wide_characters_take_two_columns_and_marks_none) {
  EXPECT_EQ(width_of("劇場"), 4);
  EXPECT_EQ(width_of("e\u0301"), 1);
  EXPECT_EQ(width_of("한국"), 4);
  EXPECT_EQ(width_of("\u1112\u1161\u11ab"), 2) << "a syllable of jamos";
  EXPECT_EQ(width_of("🎭"), 2);
  EXPECT_EQ(width_of("ไทยที่"), 4);
}

TEST(Glyphs, an_emoji_of_several_parts_is_its_parts) {
  EXPECT_EQ(shown("👩\u200D💻"), "👩💻");
  EXPECT_EQ(width_of("👩\u200D💻"), 4);
  EXPECT_EQ(width_of("👍🏽"), 2) << "the tone is left out";
  EXPECT_EQ(width_of("❤\uFE0F"), 1);
}

TEST(Glyphs, a_mark_without_a_base_stands_on_a_circle_and_a_heap_of_marks_is_cut) {
  EXPECT_EQ(shown("\u0301x"), "\u25CC\u0301x");
  std::string heap = "z";
  for (int i = 0; i < 50; ++i) heap += "\u0335";
  EXPECT_EQ(to_glyphs(heap).size(), 1U);
  EXPECT_LE(count_code_points(to_glyphs(heap)[0].bytes), 4U);
}

TEST(Glyphs, bytes_that_are_no_text_become_replacements) {
  EXPECT_EQ(shown("a\xff\xfe"
                  "b"),
            "a\uFFFD\uFFFDb");
}

TEST(Glyphs, a_cut_never_halves_a_wide_character) {
  EXPECT_EQ(fit("劇場劇場", 8), "劇場劇場");
  EXPECT_EQ(fit("劇場劇場", 7), "劇場劇…");
  EXPECT_EQ(fit("劇場劇場", 6), "劇場…");
  EXPECT_EQ(pad("劇場劇場", 6), "劇場… ");
  EXPECT_EQ(fit("abc", 0), "");
  EXPECT_EQ(pad("7", 3, true), "  7");
}

TEST(Glyphs, lines_break_between_words_and_keep_their_indentation) {
  EXPECT_THAT(wrap("  one two three", 9), ElementsAre("  one two", "  three"));
  EXPECT_THAT(wrap(" - one two three", 9), ElementsAre(" - one", "   two", "   three"));
  EXPECT_THAT(wrap("abcdefghij", 4), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrap("a\n\nb", 10), ElementsAre("a", "", "b"));
  EXPECT_THAT(wrap("劇場劇場", 5), ElementsAre("劇場", "劇場"));
}

TEST(Glyphs, a_terminal_without_utf8_gets_ascii_of_the_same_width) {
  for (const Glyph& glyph : to_glyphs("ä 劇 … “x” e\u0301 🎭")) {
    const std::string ascii = to_ascii(glyph);
    EXPECT_EQ(static_cast<int>(ascii.size()), glyph.width) << glyph.bytes;
    for (const char c : ascii) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
  }
}

// Method: random code points and random bytes; each screen stays a whole grid, whatever is drawn.
TEST(Glyphs, any_text_at_all_leaves_a_screen_whole) {
  std::mt19937 dice(7);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      if (dice() % 4 == 0) {
        text.push_back(static_cast<char>(dice() % 256));
      } else {
        append_code_point(text, static_cast<char32_t>(dice() % 0x110000));
      }
    }
    Screen screen(3, 20);
    screen.put(0, static_cast<int>(dice() % 20), text, Style::kNormal);
    screen.put(1, 0, fit(text, 10), Style::kNormal, 10);
    for (const std::string& line : wrap(text, 11)) EXPECT_LE(width_of(line), 11);
    for (int row = 0; row < 3; ++row) {
      int columns = 0;
      for (int column = 0; column < 20; ++column) columns += screen.at(row, column).width;
      EXPECT_EQ(columns, 20);
    }
    for (int column = 10; column < 20; ++column) EXPECT_EQ(screen.at(1, column).bytes, " ");
    EXPECT_TRUE(is_valid_utf8(screen.text()));
    EXPECT_EQ(screen.text().find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace clawmark::tui
