// JSON, lines of JSON, tables, YAML.

#include <algorithm>
#include <array>
#include <map>

#include "base/utf8.h"
#include "models/explore/parts.h"

namespace clawmark::shapes {
namespace {

constexpr std::size_t kKeys = 10;         // of one object
constexpr std::size_t kSamples = 3;       // of one list
constexpr std::size_t kValue = 60;        // characters of a value
constexpr std::size_t kColumns = 40;      // that are named
constexpr std::size_t kTyped = 500;       // rows that say what a column holds
constexpr std::size_t kTopKeys = 30;      // of a YAML document
constexpr std::size_t kYamlBelowOne = 3;  // lines below the only key, for it to be one

std::string scalar(const json::value& value) {
  if (value.is_string()) return "\"" + brief(view(value.get_string()), kValue) + "\"";
  return brief(to_text(value), kValue);
}

std::string shape(const json::value& value, int depth, const std::string& indent) {
  if (value.is_object()) {
    const json::object& object = value.get_object();
    std::string out =
        "object with " + grouped(object.size()) + (object.size() == 1 ? " key" : " keys");
    if (depth == 0 || object.empty()) return out;
    std::size_t shown = 0;
    for (const auto& [key, member] : object) {
      if (++shown > kKeys) break;
      out += "\n" + indent + "- " + brief(key, kValue) + ": " +
             shape(member, depth - 1, indent + "  ");
    }
    if (object.size() > kKeys) {
      out += "\n" + indent + "- and " + grouped(object.size() - kKeys) + " more keys";
    }
    return out;
  }
  if (!value.is_array()) return scalar(value);
  const json::array& array = value.get_array();
  std::string out = "list of " + grouped(array.size());
  if (array.empty()) return out;
  const bool flat = std::all_of(array.begin(), array.end(), [](const json::value& item) {
    return !item.is_object() && !item.is_array();
  });
  if (flat) {
    std::vector<std::string> some;
    for (std::size_t n = 0; n < array.size() && n < kSamples; ++n) some.push_back(scalar(array[n]));
    for (std::size_t n = kSamples; n < array.size(); ++n) some.emplace_back();
    return out + ": " + listed(some, kSamples);
  }
  // The first of the list stands for the others.
  return out + ", the first: " + shape(array.front(), depth, indent);
}

// One row of a table, with quotes; `at` moves behind its end.
std::vector<std::string> table_row(std::string_view text, std::size_t& at, char delimiter) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        cells.back().push_back(c);
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        cells.back().push_back(text[++at]);
      } else {
        quoted = false;
      }
    } else if (c == '"' && cells.back().empty()) {
      quoted = true;
    } else if (c == delimiter) {
      cells.emplace_back();
    } else if (c == '\n') {
      ++at;
      break;
    } else if (c != '\r') {
      cells.back().push_back(c);
    }
  }
  return cells;
}

bool is_number(std::string_view cell) {
  if (!cell.empty() && (cell.front() == '-' || cell.front() == '+')) cell.remove_prefix(1);
  bool digit = false;
  for (const char c : cell) {
    digit = digit || (c >= '0' && c <= '9');
    if (!((c >= '0' && c <= '9') || c == '.' || c == ',' || c == 'e' || c == 'E')) return false;
  }
  return digit;
}

bool is_date(std::string_view cell) {
  return cell.size() >= 10 && is_number(cell.substr(0, 4)) && cell[4] == '-' && cell[7] == '-';
}

std::string row_text(const std::vector<std::string>& cells) {
  std::vector<std::string> shown;
  for (const auto& cell : cells) shown.push_back(brief(cell, 30));
  return listed(shown, 20);
}

struct Column {
  std::size_t numbers = 0, dates = 0, empty = 0, other = 0;
  std::string text() const {
    if (numbers + dates + other == 0) return "empty";
    if (dates > 0 && numbers + other == 0) return "dates";
    if (numbers > 0 && dates + other == 0) return "numbers";
    return "text";
  }
};

}  // namespace

std::optional<std::string> json_shape(std::string_view text) {
  const std::string_view body = trim(text);
  if (body.empty() || (body.front() != '{' && body.front() != '[')) return std::nullopt;
  const auto parsed = parse_json(body);
  if (!parsed.ok()) return std::nullopt;
  return shape(*parsed, 2, "");
}

std::optional<std::string> json_lines_shape(const Lines& lines) {
  std::size_t objects = 0, others = 0;
  std::map<std::string, std::size_t> keys;
  std::string first;
  for (const auto line : lines) {
    if (trim(line).empty()) continue;
    const bool looked_at = objects < kTyped;
    if (!trim(line).starts_with("{")) {
      ++others;
    } else if (looked_at) {
      const auto parsed = parse_json(trim(line));
      if (!parsed.ok() || !parsed->is_object()) {
        ++others;
        continue;
      }
      for (const auto& [key, value] : parsed->get_object()) ++keys[brief(key, kValue)];
      if (first.empty()) first = shape(*parsed, 1, "");
      ++objects;
    } else {
      ++objects;
    }
    if (others > 2 && others * 20 > objects) return std::nullopt;
  }
  if (objects < 2) return std::nullopt;
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const auto& [key, count] : keys) order.emplace_back(count, key);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> names;
  for (const auto& [count, key] : order) names.push_back(key);
  return grouped(objects) + " objects, one a line; keys: " + listed(names, kTopKeys) +
         "\nThe first: " + first;
}

char table_delimiter(const Lines& lines) {
  constexpr std::size_t kLooked = 50;
  for (const char delimiter : {'\t', ',', ';', '|'}) {
    std::map<std::size_t, std::size_t> widths;
    std::size_t rows = 0;
    for (const auto line : lines) {
      if (rows >= kLooked) break;
      if (trim(line).empty()) continue;
      std::size_t at = 0;
      ++widths[table_row(line, at, delimiter).size()];
      ++rows;
    }
    if (rows < 3) return 0;
    for (const auto& [width, count] : widths) {
      if (width >= 2 && count * 10 >= rows * 9) {
        // Prose has a comma in each line at times; a table has as many in each.
        if (width > 2 || delimiter == '\t' || count == rows) return delimiter;
      }
    }
  }
  return 0;
}

std::optional<std::string> table_shape(std::string_view text, char delimiter, bool named) {
  std::size_t at = 0, rows = 0;
  const std::vector<std::string> names = table_row(text, at, delimiter);
  if (names.size() < 2 && !named) return std::nullopt;
  std::vector<Column> columns(names.size());
  std::vector<std::string> first, last;
  std::size_t uneven = 0;
  while (at < text.size()) {
    std::vector<std::string> row = table_row(text, at, delimiter);
    if (row.size() == 1 && trim(row.front()).empty()) continue;
    ++rows;
    uneven += row.size() != names.size();
    for (std::size_t n = 0; rows <= kTyped && n < row.size() && n < columns.size(); ++n) {
      const std::string_view cell = trim(row[n]);
      Column& column = columns[n];
      ++(cell.empty()      ? column.empty
         : is_date(cell)   ? column.dates
         : is_number(cell) ? column.numbers
                           : column.other);
    }
    if (first.empty()) first = row;
    last = std::move(row);
  }
  std::vector<std::string> shown;
  for (std::size_t n = 0; n < names.size(); ++n) {
    shown.push_back(brief(names[n], 40) + " (" + columns[n].text() + ")");
  }
  std::string out = grouped(rows) + " rows below a header of " + grouped(names.size()) +
                    " columns: " + listed(shown, kColumns);
  if (uneven > 0) out += "\n" + grouped(uneven) + " rows have another number of columns";
  if (rows > 0) out += "\nFirst row: " + row_text(first);
  if (rows > 1) out += "\nLast row: " + row_text(last);
  return out;
}

std::optional<std::string> yaml_shape(const Lines& lines, bool named) {
  struct Key {
    std::string name;
    std::size_t line, below;
  };
  std::vector<Key> keys;
  std::size_t documents = 1, said = 0, fitting = 0, number = 0;
  for (const auto line : lines) {
    ++number;
    const std::string_view body = trim(line);
    if (body.empty() || body.front() == '#') continue;
    if (line.starts_with("---")) {
      documents += said > 0;
      continue;
    }
    ++said;
    const auto colon = body.find(": ");
    const bool key = body.back() == ':' || (colon != std::string_view::npos && colon < 60);
    fitting += key || body.starts_with("- ");
    const bool top = line.front() != ' ' && line.front() != '\t' && line.front() != '-';
    if (top && key) {
      keys.push_back({brief(body.substr(0, std::min(colon, body.size() - 1)), 60), number, 0});
    } else if (!keys.empty()) {
      ++keys.back().below;
    }
  }
  const bool nested = keys.size() == 1 && keys.front().below >= kYamlBelowOne;
  if (!named && ((keys.size() < 2 && !nested) || fitting * 10 < said * 8)) return std::nullopt;
  std::vector<std::string> shown;
  for (const Key& key : keys) {
    shown.push_back(key.name + " (line " + grouped(key.line) +
                    (key.below > 0 ? ", " + grouped(key.below) + " below" : "") + ")");
  }
  std::string out = documents > 1 ? grouped(documents) + " documents; " : "";
  return out + grouped(keys.size()) + " keys at the top: " + listed(shown, kTopKeys);
}

}  // namespace clawmark::shapes
