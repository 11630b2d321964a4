#include "cmd/tui/screen.h"

#include <algorithm>

#include "cmd/tui/glyphs.h"

namespace clawmark::tui {

Screen::Screen(int rows, int columns)
    : rows_(std::max(rows, 1)),
      columns_(std::max(columns, 1)),
      cells_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_)) {}

Cell& Screen::cell(int row, int column) {
  return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                static_cast<std::size_t>(column)];
}

const Cell& Screen::at(int row, int column) const {
  return const_cast<Screen*>(this)->cell(row, column);
}

int Screen::put(int row, int column, std::string_view text, Style style, int width) {
  if (row < 0 || row >= rows_ || column < 0 || column >= columns_) return 0;
  const int room = std::min(width, columns_ - column);
  int taken = 0;
  for (const Glyph& glyph : to_glyphs(fit(text, room))) {
    if (taken + glyph.width > room) break;
    cell(row, column + taken) = {glyph.bytes, style, glyph.width};
    if (glyph.width == 2) cell(row, column + taken + 1) = {"", style, 0};
    taken += glyph.width;
  }
  return taken;
}

void Screen::fill(int row, Style style) {
  if (row < 0 || row >= rows_) return;
  for (int column = 0; column < columns_; ++column) cell(row, column) = {" ", style, 1};
}

std::string Screen::text() const {
  std::string out;
  for (int row = 0; row < rows_; ++row) {
    std::string line;
    for (int column = 0; column < columns_; ++column) line += at(row, column).bytes;
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  return out;
}

}  // namespace clawmark::tui
