#pragma once
// Tolerant reading of Boost.JSON values: a missing or mistyped member is the fallback, never a
// throw.

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clawmark {

namespace json = boost::json;

// Strict JSON. Depth is limited (kJsonDepthMax). Error: invalid, stage "json".
Result<json::value> parse_json(std::string_view text);
// JSON with // and /* */ comments and trailing commas (configuration files, JSON5's common part).
Result<json::value> parse_json_relaxed(std::string_view text);
std::string to_text(const json::value& value);
std::string to_text(const json::object& value);

const json::value* find(const json::value& value, std::string_view key);
const json::value* find(const json::object& object, std::string_view key);
const json::object* find_object(const json::object& object, std::string_view key);
const json::array* find_array(const json::object& object, std::string_view key);
std::string get_string(const json::object& object, std::string_view key,
                       std::string_view fallback = {});
std::optional<std::string> get_optional_string(const json::object& object, std::string_view key);
std::int64_t get_int(const json::object& object, std::string_view key, std::int64_t fallback = 0);
std::optional<std::int64_t> get_optional_int(const json::object& object, std::string_view key);
double get_double(const json::object& object, std::string_view key, double fallback = 0);
bool get_bool(const json::object& object, std::string_view key, bool fallback = false);
std::string_view view(const json::string& text);

}  // namespace clawmark
