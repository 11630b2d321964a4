#pragma once
// Answers of the interface as people read them.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace clawmark {

// Values of JSON as people read them: strings bare, numbers short, times by the key's ending "_ms"
// as local time.
std::string cell(const json::object& row, std::string_view key, std::string_view zone);
// A table of an answer's array `name`, with those of `columns` ("key" or "key:Title") that any row
// has. `empty` is printed when there is no row.
void print_rows(const json::object& answer, std::string_view name,
                const std::vector<std::string>& columns, std::string_view zone,
                std::string_view empty);

// Of an answer's `notes`: what makes it less than whole. Nothing when it is whole.
void print_notes(const json::object& answer);

// By name: files and archives that cannot be read to their ends, which no waiting brings. Rows with
// "file" and "reason"; those of a single "line" are left out. Null: none.
void print_unread(const json::array* rows);

// The whole of /v1/status.
void print_status(const json::object& status, std::string_view zone);

}  // namespace clawmark
