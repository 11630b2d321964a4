#include <algorithm>
#include <cmath>
#include <numeric>

#include "cmd/terminal.h"
#include "cmd/tui/glyphs.h"
#include "cmd/tui/model.h"

namespace clawmark::tui {
namespace {

std::string counted(std::int64_t count, std::string_view what) {
  return format_count(count).append(what).append(count == 1 ? "" : "s");
}

std::string cost_text(const json::object& status) {
  const auto* spend = find_object(status, "spend");
  if (spend == nullptr || get_int(*spend, "calls") == 0) return {};
  const auto cents = std::int64_t{std::lround(get_double(*spend, "usd") * 100)};
  const std::string rest = std::to_string(cents % 100);
  return "$" + std::to_string(cents / 100) + "." + (rest.size() < 2 ? "0" : "") + rest + " today";
}

// One line, but for its indentation as it is.
std::string indented(const std::string& text) {
  const auto blanks = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(0, blanks) + flat(text);
}

// What may need somebody first.
std::string health_text(const json::object& status) {
  std::string out;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) out += (out.empty() ? "" : " · ") + part;
  };
  const auto* counts = find_object(status, "counts");
  const std::int64_t parked = counts == nullptr ? 0 : get_int(*counts, "parked");
  if (parked > 0) add(format_count(parked) + " set aside");
  std::int64_t lag = 0;
  for (const json::object* worker : objects_of(status, "workers")) {
    lag = std::max(lag, get_int(*worker, "lag"));
  }
  add(lag == 0 ? std::string("all read") : format_count(lag) + " to do");
  add(cost_text(status));
  if (counts == nullptr) return out;
  add(counted(get_int(*counts, "messages"), " message"));
  add(counted(get_int(*counts, "facts"), " fact"));
  return out;
}

}  // namespace

void Model::draw_tabs(Screen& screen) const {
  screen.fill(0, Style::kBar);
  int column = 0;
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    column += screen.put(0, column,
                         i == current_       ? "["
                         : i == current_ + 1 ? "]"
                                             : " ",
                         Style::kBar);
    column +=
        screen.put(0, column, std::to_string(i + 1) + " " + std::string(tabs_[i].view->name()),
                   i == current_ ? Style::kStrong : Style::kBar);
  }
  if (current_ + 1 == tabs_.size()) screen.put(0, column, "]", Style::kBar);
}

void Model::draw_health(Screen& screen) const {
  if (!status_) {
    screen.put(1, 0, " …", Style::kDim);
    return;
  }
  if (!status_->ok()) {
    screen.put(1, 0, " ▲ " + status_->error().message, Style::kBad);
    return;
  }
  const json::object& status = **status_;
  const std::string health = get_string(status, "health");
  const bool well = health == "ok";
  int column = 0;
  column += screen.put(1, column,
                       well              ? " ● OK "
                       : health == "red" ? " ▲ RED "
                                         : " ▲ WARNING ",
                       well              ? Style::kOk
                       : health == "red" ? Style::kBad
                                         : Style::kWarning);
  const auto warnings = objects_of(status, "warnings");
  if (!warnings.empty()) {
    const std::string more =
        warnings.size() > 1 ? " (+" + std::to_string(warnings.size() - 1) + ")" : "";
    column += screen.put(1, column, " " + get_string(*warnings.front(), "code") + more + " ·",
                         health == "red" ? Style::kBad : Style::kWarning);
  }
  screen.put(1, column, " " + health_text(status), Style::kNormal);
}

// Fixed columns as they are; what is left is shared by the others.
std::vector<int> Model::widths(const Page& page) const {
  const int gaps = static_cast<int>(page.columns.size());
  int fixed = 1 + gaps, flexible = 0;
  for (const Column& column : page.columns) {
    fixed += column.width;
    if (column.width == 0) ++flexible;
  }
  const int left = std::max(8, columns_ - fixed);
  std::vector<int> out;
  for (const Column& column : page.columns) {
    out.push_back(column.width > 0 ? column.width : left / std::max(flexible, 1));
  }
  return out;
}

void Model::draw_list(Screen& screen, const Page& page, int first) const {
  const auto width = widths(page);
  int column = 2;
  for (std::size_t i = 0; i < width.size(); ++i) {
    screen.put(first, column, pad(page.columns[i].name, width[i], page.columns[i].right),
               Style::kDim);
    column += width[i] + 1;
  }
  const auto rows = visible(page);
  const int room = page_rows(page);
  for (int line = 0; line < room; ++line) {
    const std::size_t at = page.top + static_cast<std::size_t>(line);
    if (at >= rows.size()) break;
    const Item& item = page.items[rows[at]];
    const bool here = at == page.cursor;
    const int row = first + 1 + line;
    const Style style = here ? Style::kHere : item.style;
    if (here) screen.fill(row, Style::kHere);
    screen.put(row, 0, here ? ">" : " ", style);
    column = 2;
    for (std::size_t i = 0; i < width.size(); ++i) {
      // A row of one cell goes over all columns, with its indentation.
      const bool alone = item.cells.size() == 1;
      const std::string cell = alone                   ? item.cells[0]
                               : i < item.cells.size() ? indented(item.cells[i])
                                                       : std::string();
      screen.put(row, column, alone ? cell : pad(cell, width[i], page.columns[i].right), style,
                 alone ? columns_ : width[i]);
      if (alone) break;
      column += width[i] + 1;
    }
  }
  if (rows.empty() && !page.loading) {
    screen.put(first + 1, 2, page.filter.empty() ? page.empty : "nothing matches the filter",
               Style::kDim);
  }
}

void Model::draw_text(Screen& screen, const Page& page, int first) const {
  const auto all = lines(page);
  for (int line = 0; line < page_rows(page); ++line) {
    const std::size_t at = page.top + static_cast<std::size_t>(line);
    if (at >= all.size()) break;
    screen.put(first + line, 1, all[at], Style::kNormal);
  }
}

void Model::draw_page(Screen& screen, const Shown& shown) const {
  const Page& page = shown.page;
  std::string title = page.title;
  const std::size_t all = length(page);
  if (!page.is_text() && !page.loading) title += " (" + std::to_string(all) + ")";
  int column = 1 + screen.put(2, 1, title, Style::kStrong);
  std::string note = page.note;
  if (page.loading) note = "loading …";
  if (!page.filter.empty() && !filtering_)
    note += (note.empty() ? "" : " · ") + ("filter: " + page.filter);
  if (!note.empty()) column += screen.put(2, column, "  " + note, Style::kDim);
  const std::size_t room = static_cast<std::size_t>(page_rows(page));
  if (all > room) {
    const std::size_t last = std::min(all, page.top + room);
    const std::string where =
        std::to_string(page.top + 1) + "–" + std::to_string(last) + "/" + std::to_string(all);
    const int at = columns_ - width_of(where) - 1;
    if (at > column) screen.put(2, at, where, Style::kDim);
  }
  if (!page.error.empty()) {
    const auto text = wrap(page.error, columns_ - 2);
    for (std::size_t i = 0; i < text.size() && static_cast<int>(i) + 4 < rows_; ++i) {
      screen.put(3 + static_cast<int>(i), 1, text[i], Style::kBad);
    }
    return;
  }
  if (page.is_text()) {
    draw_text(screen, page, 3);
  } else {
    draw_list(screen, page, 3);
  }
}

void Model::draw_foot(Screen& screen) const {
  const int row = rows_ - 1;
  screen.fill(row, Style::kBar);
  const Shown* here = shown();
  if (filtering_ && here != nullptr) {
    screen.put(row, 0, " / " + here->page.filter + "▮", Style::kBar);
    return;
  }
  if (input_) {
    // The end of what is typed stays in sight.
    const int room = columns_ - width_of(input_->label) - 5;
    auto glyphs = to_glyphs(input_->text);
    int width = std::accumulate(glyphs.begin(), glyphs.end(), 0,
                                [](int sum, const Glyph& glyph) { return sum + glyph.width; });
    std::string shown_text;
    for (const Glyph& glyph : glyphs) {
      if (width <= room) shown_text += glyph.bytes;
      width = width > room ? width - glyph.width : width;
    }
    screen.put(row, 0, " " + input_->label + ": " + shown_text + "▮", Style::kBar);
    return;
  }
  if (acting_) {
    screen.put(row, 0, " one moment …", Style::kBar);
    return;
  }
  if (!say_.empty()) {
    screen.put(row, 0, " " + say_, Style::kBar);
    return;
  }
  const std::string own = here == nullptr ? std::string() : tab().view->hints(here->page);
  const bool deep = tab().pages.size() > 1;
  screen.put(row, 0,
             " " + own + (own.empty() ? "" : " · ") + "/ filter · ? help · " +
                 (deep ? "Esc back" : "q quit"),
             Style::kBar);
}

void Model::draw_help(Screen& screen) const {
  std::string text =
      "Keys\n"
      "  1–8            views: the six of the world model, facts, and health\n"
      "  ↑ ↓ j k        move;  PgUp PgDn Space, Home End g G: by page, to an end\n"
      "  Enter          open what is marked\n"
      "  Esc q          back; in the first page of a view: quit.  Q quits at once\n"
      "  /              filter what is shown;  Esc takes the filter away\n"
      "  r              load again;  ? this page\n\n";
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    text += std::to_string(i + 1) + " " + std::string(tabs_[i].view->name()) + "\n";
    text += tabs_[i].view->help() + "\n";
  }
  text += "Changes are asked for before they are made, and named.\n";
  text += options_.store_only ? "Looked at without the service (--db): nothing can be changed.\n"
                              : "Changes need the service; without it this looks on only.\n";
  text += "Store: " + options_.store + "\n";
  const auto all = wrap(text, columns_ - 2);
  const int room = rows_ - 2;
  const int length = static_cast<int>(all.size());
  const int top = std::clamp(help_top_, 0, std::max(0, length - room));
  for (int row = 0; row < rows_; ++row) screen.fill(row, Style::kNormal);
  screen.fill(0, Style::kBar);
  screen.put(0, 1, "Clawmark: help", Style::kBar);
  for (int at = top; at < std::min(top + room, length); ++at) {
    screen.put(1 + at - top, 1, all[static_cast<std::size_t>(at)], Style::kNormal);
  }
  screen.fill(rows_ - 1, Style::kBar);
  screen.put(rows_ - 1, 1, "↑ ↓ move · any other key: back", Style::kBar);
}

void Model::draw_confirm(Screen& screen) const {
  auto text = wrap(confirm_->question, columns_ - 4);
  const std::size_t question = text.size();
  if (confirm_->preview && !confirm_ready_ && confirm_->details.empty()) {
    text.emplace_back("looking what that would take away …");
  }
  if (!confirm_->details.empty()) {
    for (auto& line : wrap(confirm_->details, columns_ - 4)) text.push_back(std::move(line));
  }
  while (!text.empty() && text.back().empty()) text.pop_back();
  const int room = std::max(1, rows_ - 6);
  if (static_cast<int>(text.size()) > room) {
    text.resize(static_cast<std::size_t>(room));
    text.back() = "…";
  }
  const int height = static_cast<int>(text.size()) + 2;
  const int first = std::max(0, rows_ - 1 - height);
  for (int row = first; row < rows_; ++row) screen.fill(row, Style::kNormal);
  screen.fill(first, Style::kBar);
  for (std::size_t i = 0; i < text.size(); ++i) {
    screen.put(first + 1 + static_cast<int>(i), 2, text[i],
               i < question ? Style::kStrong : Style::kNormal);
  }
  screen.fill(rows_ - 1, Style::kBar);
  screen.put(rows_ - 1, 1, confirm_ready_ ? "y yes, do it · n no" : "n no", Style::kBar);
}

Screen Model::draw() const {
  Screen screen(rows_, columns_);
  if (help_) {
    draw_help(screen);
    return screen;
  }
  if (rows_ < 6 || columns_ < 20) {
    screen.put(0, 0, "too small", Style::kWarning);
    return screen;
  }
  draw_tabs(screen);
  draw_health(screen);
  if (const Shown* here = shown()) draw_page(screen, *here);
  draw_foot(screen);
  if (confirm_) draw_confirm(screen);
  return screen;
}

}  // namespace clawmark::tui
