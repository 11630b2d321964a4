#pragma once
// What the explorers of single kinds share. Private to models/explore.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace clawmark::shapes {

using Lines = std::vector<std::string_view>;
Lines lines_of(std::string_view text);  // without their ends; no last empty one

std::string grouped(std::size_t number);  // 1,234,567
// At most so many characters on one line, a cut marked with "…".
std::string brief(std::string_view text, std::size_t chars_max);
// "a, b, c and 12 more"
std::string listed(const std::vector<std::string>& items, std::size_t shown);

// Each gives lines of the summary; nullopt: the text is not of that kind.
std::optional<std::string> json_shape(std::string_view text);
std::optional<std::string> json_lines_shape(const Lines& lines);
std::optional<std::string> table_shape(std::string_view text, char delimiter, bool named);
char table_delimiter(const Lines& lines);  // 0: not a table
std::optional<std::string> yaml_shape(const Lines& lines, bool named);
std::optional<std::string> markup_shape(std::string_view text, bool html);
bool looks_like_log(const Lines& lines);
std::string log_shape(const Lines& lines);
bool looks_like_code(const Lines& lines);
std::string code_shape(const Lines& lines);
std::string text_shape(const Lines& lines);

}  // namespace clawmark::shapes
