#pragma once
// What a terminal shows, as a grid: drawn by the views, compared by the tests, put on the terminal
// by one file (terminal_screen.h).

#include <string>
#include <string_view>
#include <vector>

namespace clawmark::tui {

enum class Style {
  kNormal,
  kDim,
  kStrong,
  kBar,   // a line across the screen
  kHere,  // the view, or the row, one is on
  kOk,
  kWarning,
  kBad,
  kOld,  // replaced, forgotten, out of date
};

struct Cell {
  std::string bytes = " ";  // empty: the right half of a wide character
  Style style = Style::kNormal;
  int width = 1;
};

class Screen {
 public:
  Screen(int rows, int columns);
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  // Draws at most `width` columns (and never over the edge); gives the columns taken.
  int put(int row, int column, std::string_view text, Style style, int width = 1 << 20);
  void fill(int row, Style style);  // a whole row blank
  const Cell& at(int row, int column) const;
  // Rows without trailing blanks, each with a line feed.
  std::string text() const;

 private:
  Cell& cell(int row, int column);
  int rows_, columns_;
  std::vector<Cell> cells_;
};

}  // namespace clawmark::tui
