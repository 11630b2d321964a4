#pragma once
// Reading rows and bodies of the graph. Inside projections/ only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "projections/graph.h"

namespace clawmark {

// Calls `each(statement)` for every row of a query, kept by the connection under its text.
template <class Each, class... Args>
Status for_rows(Database& db, const std::string& sql, const Each& each, const Args&... args) {
  CLAWMARK_ASSIGN(Statement * statement, db.cached(sql));
  statement->with(args...);
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement->step());
    if (!row) break;
    each(*statement);
  }
  statement->reset();
  return Ok{};
}

// A list of texts in an object; what is no text is left out.
inline std::vector<std::string> strings_of(const json::object& object, std::string_view key) {
  std::vector<std::string> out;
  if (const auto* list = find_array(object, key)) {
    for (const auto& item : *list) {
      if (item.is_string()) out.emplace_back(view(item.get_string()));
    }
  }
  return out;
}

// A list of whole numbers in an object; what is none is left out.
inline std::vector<std::int64_t> integers_of(const json::object& object, std::string_view key) {
  std::vector<std::int64_t> out;
  if (const auto* list = find_array(object, key)) {
    for (const auto& item : *list) {
      if (item.is_int64()) out.push_back(item.get_int64());
    }
  }
  return out;
}

inline constexpr char kEdgeColumns[] =
    "type, from_type, from_key, to_type, to_key, slot, from_ms, until_ms, confidence, last_ms, "
    "message, quote, until_seq";
// Of a row that begins with these columns.
inline GraphEdgeRow read_edge(const Statement& row) {
  GraphEdgeRow edge;
  edge.type = row.string(0);
  edge.from_type = row.string(1);
  edge.from = row.string(2);
  edge.to_type = row.string(3);
  edge.to = row.string(4);
  edge.slot = row.string(5);
  edge.from_time = row.time(6);
  if (!row.is_null(7)) edge.until = row.time(7);
  edge.confidence = row.real(8);
  edge.last = row.time(9);
  edge.message = row.integer(10);
  edge.quote = row.string(11);
  edge.until_event = row.integer(12);
  return edge;
}

inline json::object parse_object(std::string_view text) {
  auto parsed = parse_json(text);
  return parsed.ok() && parsed->is_object() ? std::move(parsed->get_object()) : json::object{};
}

}  // namespace clawmark
