#include "base/json.h"

#include <cmath>

#include "base/limits.h"

namespace clawmark {
namespace {

Result<json::value> parse(std::string_view text, const json::parse_options& options) {
  json::error_code code;
  auto value = json::parse(json::string_view(text.data(), text.size()), code, {}, options);
  if (code) {
    return make_error(ErrorKind::kInvalid, "json", "syntax", "not valid JSON: " + code.message());
  }
  return value;
}

json::parse_options base_options() {
  json::parse_options options;
  options.max_depth = kJsonDepthMax;
  return options;
}

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  return parse(text, base_options());
}

Result<json::value> parse_json_relaxed(std::string_view text) {
  auto options = base_options();
  options.allow_comments = true;
  options.allow_trailing_commas = true;
  return parse(text, options);
}

std::string to_text(const json::value& value) {
  return json::serialize(value);
}
std::string to_text(const json::object& value) {
  return json::serialize(value);
}

const json::value* find(const json::object& object, std::string_view key) {
  return object.if_contains(json::string_view(key.data(), key.size()));
}

const json::value* find(const json::value& value, std::string_view key) {
  const auto* object = value.if_object();
  return object == nullptr ? nullptr : find(*object, key);
}

const json::object* find_object(const json::object& object, std::string_view key) {
  const auto* value = find(object, key);
  return value == nullptr ? nullptr : value->if_object();
}

const json::array* find_array(const json::object& object, std::string_view key) {
  const auto* value = find(object, key);
  return value == nullptr ? nullptr : value->if_array();
}

std::optional<std::string> get_optional_string(const json::object& object, std::string_view key) {
  const auto* value = find(object, key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(view(value->get_string()));
}

std::string get_string(const json::object& object, std::string_view key,
                       std::string_view fallback) {
  return get_optional_string(object, key).value_or(std::string(fallback));
}

std::optional<std::int64_t> get_optional_int(const json::object& object, std::string_view key) {
  const auto* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) {
    const auto u = value->get_uint64();
    return u <= INT64_MAX ? std::optional(static_cast<std::int64_t>(u)) : std::nullopt;
  }
  if (value->is_double() && std::abs(value->get_double()) < 9e15) {
    return static_cast<std::int64_t>(value->get_double());
  }
  return std::nullopt;
}

std::int64_t get_int(const json::object& object, std::string_view key, std::int64_t fallback) {
  return get_optional_int(object, key).value_or(fallback);
}

double get_double(const json::object& object, std::string_view key, double fallback) {
  const auto* value = find(object, key);
  if (value == nullptr) return fallback;
  if (value->is_double()) return value->get_double();
  if (value->is_int64()) return static_cast<double>(value->get_int64());
  if (value->is_uint64()) return static_cast<double>(value->get_uint64());
  return fallback;
}

bool get_bool(const json::object& object, std::string_view key, bool fallback) {
  const auto* value = find(object, key);
  return value != nullptr && value->is_bool() ? value->get_bool() : fallback;
}

std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

}  // namespace clawmark
