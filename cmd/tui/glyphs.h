#pragma once
// Any text as cells of a terminal: what could move the cursor, turn the writing direction or ring a
// bell is gone, and how many columns each piece takes is known before it is drawn.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark::tui {

// One character with its combining marks. Width 1 or 2.
struct Glyph {
  std::string bytes;
  int width = 1;
};

// Control characters become blanks (line feeds too); bidirectional controls, joiners, variation
// selectors and other invisible characters are left out; of combining marks the first three stay; a
// mark without a base stands on a dotted circle. Ill-formed UTF-8 becomes U+FFFD.
std::vector<Glyph> to_glyphs(std::string_view text);
int width_of(std::string_view text);
int width_of(char32_t c);  // 0: combining or invisible

// At most so many columns; a cut is marked with "…".
std::string fit(std::string_view text, int columns);
// Exactly so many columns, padded with blanks.
std::string pad(std::string_view text, int columns, bool right = false);
// Lines of at most so many columns (≥ 4), broken between words, longer words anywhere; the
// indentation of a line is kept by those that go on from it.
std::vector<std::string> wrap(std::string_view text, int columns);

// For terminals without UTF-8: of the same width, ASCII only.
std::string to_ascii(const Glyph& glyph);

}  // namespace clawmark::tui
