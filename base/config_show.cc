#include <charconv>

#include "base/config_table.h"

namespace clawmark {

std::string without_credentials(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const auto end = url.find_first_of("/?#", scheme + 3);
  const auto at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos || at < scheme + 3) return std::string(url);
  return std::string(url.substr(0, scheme + 3)).append(url.substr(at + 1));
}

std::string number_text(double value) {
  char buffer[32];
  const auto [end, code] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return code == std::errc() ? std::string(buffer, end) : "?";
}

namespace {

std::string value_text(const Config& config, const ConfigField& field) {
  if (const auto* text = std::get_if<std::string Config::*>(&field.member)) {
    if (field.key.type == "secret") return (config.**text).empty() ? "(not set)" : "(set)";
    return field.key.type == "url" ? without_credentials(config.**text) : config.**text;
  }
  if (const auto* list = std::get_if<std::vector<std::string> Config::*>(&field.member)) {
    std::string out;
    for (const auto& item : config.**list) out += (out.empty() ? "" : ",") + item;
    return out;
  }
  if (const auto* flag = std::get_if<bool Config::*>(&field.member)) {
    return config.**flag ? "true" : "false";
  }
  if (const auto* small = std::get_if<int Config::*>(&field.member)) {
    return std::to_string(config.**small);
  }
  if (const auto* big = std::get_if<std::int64_t Config::*>(&field.member)) {
    return std::to_string(config.**big);
  }
  return number_text(config.*std::get<double Config::*>(field.member));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> show_config(const Config& config) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& field : config_fields()) {
    out.emplace_back(field.key.name, value_text(config, field));
  }
  return out;
}

}  // namespace clawmark
