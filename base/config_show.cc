#include <algorithm>
#include <charconv>

#include "base/config_table.h"

namespace clawmark {

std::string without_credentials(std::string_view url) {
  const auto query = url.find_first_of("?#");
  if (query != std::string_view::npos) {
    // Some servers take their key there: names are shown, values are not.
    std::string out = without_credentials(url.substr(0, query));
    for (std::size_t at = query; at < url.size();) {
      const auto end = std::min(url.find_first_of("&#", at + 1), url.size());
      const auto pair = url.substr(at, end - at);
      const auto name = pair.substr(0, pair[0] == '#' ? 1 : pair.find('='));
      out.append(name);
      if (name.size() < pair.size()) out += pair[0] == '#' ? "(hidden)" : "=(hidden)";
      at = end;
    }
    return out;
  }
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

void add_notes(Config& config) {
  if (!config.summary_url.empty() && config.summary_model.empty() && config.extract_model.empty()) {
    config.problems.push_back(
        "summary_model (WC_SUMMARY_MODEL) is missing: summary_url (WC_OPENAI_BASE_URL) names an "
        "endpoint, so the model to ask there must be named too; set WC_SUMMARY_MODEL, or leave "
        "summary_url out");
  }
  const auto note = [&](const ConfigField& field, std::string_view why) {
    config.notes.push_back(std::string(field.key.name) + " (" + std::string(field.key.environment) +
                           ") is set and not used: " + std::string(why));
  };
  const bool asks = !config.summary_url.empty() || !config.extract_url.empty();
  for (const auto& field : config_fields()) {
    if (config.origins.at(std::string(field.key.name)) == "default") continue;
    if (!field.unused.empty()) note(field, field.unused);
    if (field.key.name == "summary_model" && !asks) {
      note(field,
           "no endpoint is named, so the built-in rules keep the world model, without summaries; "
           "set summary_url (WC_OPENAI_BASE_URL) or extract_url (CLAWMARK_EXTRACT_URL)");
    }
  }
}

std::vector<std::pair<std::string, std::string>> show_config(const Config& config) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& field : config_fields()) {
    out.emplace_back(field.key.name, value_text(config, field));
  }
  return out;
}

}  // namespace clawmark
