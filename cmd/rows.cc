#include "cmd/rows.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "cmd/terminal.h"

namespace clawmark {
namespace {

constexpr std::size_t kCellMax = 100;

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", value);
  return buffer;
}

// {"messages":65,"skipped":0} → "messages 65": what counted nothing says nothing.
std::string counters(const json::object& object) {
  std::string out;
  for (const auto& [name, value] : object) {
    if (value.is_null() || (value.is_int64() && value.get_int64() == 0)) continue;
    const std::string text =
        value.is_string() ? std::string(view(value.get_string())) : to_text(value);
    out += (out.empty() ? "" : ", ") + std::string(name.data(), name.size()) + " " + text;
  }
  return out;
}

}  // namespace

std::string cell(const json::object& row, std::string_view key, std::string_view zone) {
  const auto* value = find(row, key);
  if (value == nullptr || value->is_null()) return "";
  if (value->is_string()) return one_line(view(value->get_string()), kCellMax);
  if (value->is_bool()) return value->get_bool() ? "yes" : "no";
  if (value->is_double()) return number(value->get_double());
  if (value->is_int64() || value->is_uint64()) {
    const std::int64_t whole = get_int(row, key);
    if (!key.ends_with("_ms")) return std::to_string(whole);
    return whole == 0 ? "" : format_local({whole}, zone);
  }
  if (value->is_object()) return one_line(counters(value->get_object()), kCellMax);
  return one_line(to_text(*value), kCellMax);
}

void print_rows(const json::object& answer, std::string_view name,
                const std::vector<std::string>& columns, std::string_view zone,
                std::string_view empty) {
  const auto* rows = find_array(answer, name);
  if (rows == nullptr || rows->empty()) {
    std::printf("%.*s\n", static_cast<int>(empty.size()), empty.data());
    return;
  }
  std::vector<std::string> titles, keys;
  for (const auto& column : columns) {
    const auto colon = column.find(':');
    const std::string key = column.substr(0, colon);
    const bool any = std::any_of(rows->begin(), rows->end(), [&](const json::value& row) {
      return row.is_object() && !cell(row.get_object(), key, zone).empty();
    });
    if (!any) continue;
    keys.push_back(key);
    titles.push_back(colon == std::string::npos ? key : column.substr(colon + 1));
  }
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : *rows) {
    if (!row.is_object()) continue;
    cells.emplace_back();
    for (const auto& key : keys) cells.back().push_back(cell(row.get_object(), key, zone));
  }
  std::fputs(format_table(titles, cells).c_str(), stdout);
}

void print_notes(const json::object& answer) {
  const std::string notes = get_string(answer, "notes");
  if (!notes.empty()) std::printf("\n%s\n", notes.c_str());
}

void print_unread(const json::array* rows) {
  if (rows == nullptr) return;
  for (const json::value& item : *rows) {
    const auto* row = item.if_object();
    if (row == nullptr || row->contains("line")) continue;
    std::printf("cannot be read to its end: %s (%s)\n", get_string(*row, "file").c_str(),
                get_string(*row, "reason").c_str());
  }
}

}  // namespace clawmark
