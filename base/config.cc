#include "base/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/config_table.h"
#include "base/files.h"
#include "base/json.h"
#include "base/utf8.h"

extern char** environ;

namespace clawmark {
namespace {

constexpr std::size_t kConfigFileMax = 1u << 20;
// Variables of this prefix that are not configuration.
constexpr std::string_view kOtherVariables[] = {"CLAWMARK_API_KEY", "CLAWMARK_BIN_DIR",
                                                "CLAWMARK_CONFIG", "CLAWMARK_SHARED"};

std::string in_quotes(std::string_view text) {
  return "\"" + to_valid_utf8(prefix_code_points(text, 80)) + "\"";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view name, bool variable) {
  std::string best;
  std::size_t distance = 4;
  for (const auto& key : config_keys()) {
    const auto candidate = variable ? key.environment : key.name;
    const auto d = edit_distance(name, candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const auto part = trim(text.substr(at, comma - at));
    if (!part.empty()) out.emplace_back(part);
    at = comma + 1;
  }
  return out;
}

class Loader {
 public:
  explicit Loader(const ConfigInputs& inputs) : inputs_(inputs) {}

  Config load() {
    fill_defaults();
    read_config_file(file_path());
    for (const auto& [name, value] : inputs_.environment) from_environment(name, value);
    for (const auto& [name, value] : inputs_.flags) {
      if (const auto* field = by_name(name)) {
        set(*field, value, "flag");
      } else {
        problem("flag --" + name + ": unknown key" + nearest(name, false));
      }
    }
    // Beside the store: who names another store does not speak to the daemon of the usual one.
    std::string& socket = config_.socket;
    if (socket.empty()) socket = join_path(dir_name(config_.db_path), "clawmark.sock");
    cross_check();
    return std::move(config_);
  }

 private:
  std::string env(std::string_view name) const {
    const auto found = inputs_.environment.find(std::string(name));
    return found == inputs_.environment.end() ? std::string() : found->second;
  }
  void problem(std::string text) { config_.problems.push_back(std::move(text)); }

  static const ConfigField* by_name(std::string_view name) {
    const auto fields = config_fields();
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const ConfigField& f) { return f.key.name == name; });
    return found == fields.end() ? nullptr : &*found;
  }

  std::string home() const {
    const std::string named = env("HOME");
    return named.empty() ? home_dir() : named;
  }

  std::string folder(std::string_view variable, std::string_view below) const {
    const std::string xdg = env(variable);
    return join_path(xdg.starts_with('/') ? xdg : join_path(home(), below), "clawmark");
  }

  std::string default_zone() const {
    std::string zone = env("TZ");
    if (zone.starts_with(':')) zone.erase(0, 1);
    if (!zone.empty() && is_known_zone(zone)) return zone;
    std::error_code code;
    const std::string link = std::filesystem::read_symlink("/etc/localtime", code).string();
    const auto at = link.find("zoneinfo/");
    if (!code && at != std::string::npos && is_known_zone(link.substr(at + 9))) {
      const std::string name = link.substr(at + 9);
      return name == "Etc/UTC" || name == "UCT" || name == "Etc/UCT" ? "UTC" : name;
    }
    return "UTC";
  }

  void fill_defaults() {
    for (const auto& key : config_keys()) config_.origins[std::string(key.name)] = "default";
    config_.db_path = join_path(folder("XDG_DATA_HOME", ".local/share"), "clawmark.db");
    config_.timezone = default_zone();
    config_.embedding_api_key = config_.extract_api_key = env("CLAWMARK_API_KEY");
    const std::string openclaw = env("OPENCLAW_STATE_DIR");
    config_.state_dir = openclaw.empty() ? join_path(home(), ".openclaw") : expand(openclaw);
  }

  std::string expand(std::string_view path) const {
    if (path == "~") return home();
    if (path.starts_with("~/")) return join_path(home(), path.substr(2));
    return std::string(path);
  }

  std::string file_path() {
    if (!inputs_.file.empty()) return inputs_.file;
    if (const std::string named = env("CLAWMARK_CONFIG"); !named.empty()) return expand(named);
    const std::string usual = join_path(folder("XDG_CONFIG_HOME", ".config"), "config.json");
    return stat_file(usual) ? usual : std::string();
  }

  void read_config_file(const std::string& path) {
    if (path.empty()) return;
    auto text = read_file(path, kConfigFileMax);
    if (!text) {
      problem("configuration file " + path +
              ": cannot be read; name an existing file with "
              "--config, or leave it out");
      return;
    }
    const auto value = parse_file(path, *text);
    if (!value) return;
    const auto* object = value->if_object();
    if (object == nullptr) {
      problem("configuration file " + path + ": must hold one JSON object { … }");
      return;
    }
    for (const auto& member : *object) from_file(path, std::string(member.key()), member.value());
  }

  std::optional<json::value> parse_file(const std::string& path, const std::string& text) {
    json::parse_options options;
    options.allow_comments = true;
    options.allow_trailing_commas = true;
    json::stream_parser parser({}, options);
    json::error_code code;
    std::size_t used = parser.write_some(text.data(), text.size(), code);
    if (!code && used < text.size()) {
      // What follows the value may only be white space and comments, which write_some has eaten.
      code = json::make_error_code(json::error::extra_data);
    }
    if (!code) {
      parser.finish(code);
      used = text.size();
    }
    if (!code) return parser.release();
    used = std::min(used, text.size());  // after some errors the parser's count is beyond the end
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(used), '\n');
    const auto start = used == 0 ? std::string::npos : text.rfind('\n', used - 1);
    const auto column = used - (start == std::string::npos ? 0 : start + 1) + 1;
    problem("configuration file " + path + ": line " + std::to_string(line) + ", column " +
            std::to_string(column) + ": " + code.message() +
            "; it is JSON, comments and trailing commas are allowed");
    return std::nullopt;
  }

  void from_file(const std::string& path, const std::string& name, const json::value& value) {
    const auto* field = by_name(name);
    const std::string origin = "file " + path;
    if (field == nullptr) {
      problem(name + " (" + origin + "): unknown key" + nearest(name, false) +
              "; `clawmark config show` lists them all");
      return;
    }
    if (const auto* items = value.if_array(); items != nullptr && field->key.type == "list") {
      std::vector<std::string> list;
      for (const auto& item : *items) {
        if (!item.is_string()) {
          problem(describe(*field, origin) + "must be a list of strings");
          return;
        }
        list.emplace_back(view(item.get_string()));
      }
      config_.*std::get<std::vector<std::string> Config::*>(field->member) = std::move(list);
      config_.origins[name] = origin;
      return;
    }
    if (value.is_object() || value.is_array() || value.is_null()) {
      problem(describe(*field, origin) + "must be " + wanted(*field));
      return;
    }
    set(*field, value.is_string() ? std::string(view(value.get_string())) : to_text(value), origin);
  }

  void from_environment(const std::string& name, const std::string& value) {
    for (const auto& field : config_fields()) {
      if (field.key.environment == name) return set(field, value, "environment");
    }
    if (name.starts_with("WC_") && !nearest(name, true).empty()) {
      // Others use this prefix, too, so it is no mistake for certain.
      config_.notes.push_back(name + " (environment) is not known here" + nearest(name, true));
    }
    if (!name.starts_with("CLAWMARK_")) return;
    if (std::find(std::begin(kOtherVariables), std::end(kOtherVariables), name) !=
            std::end(kOtherVariables) ||
        name.starts_with("CLAWMARK_TEST_") || name.starts_with("CLAWMARK_E2E_")) {
      return;
    }
    problem(name + " (environment): unknown variable" + nearest(name, true) +
            "; unset it, or see `clawmark config show`");
  }

  static std::string describe(const ConfigField& field, std::string_view origin) {
    return std::string(field.key.name) + " (" + std::string(field.key.environment) + ", " +
           std::string(origin) + "): ";
  }

  static std::string wanted(const ConfigField& field) {
    const auto& key = field.key;
    if (key.type == "int") {
      return "a whole number from " + number_text(field.min) + " to " + number_text(field.max);
    }
    if (key.type == "number") {
      return "a number from " + number_text(field.min) + " to " + number_text(field.max);
    }
    if (key.type == "bool") return "true or false";
    if (key.type.starts_with("enum ")) {
      std::string choices(key.type.substr(5));
      for (std::size_t at = 0; (at = choices.find('|', at)) != std::string::npos; at += 2) {
        choices.replace(at, 1, ", ");
      }
      return "one of " + choices;
    }
    if (key.type == "url") return "a URL such as http://127.0.0.1:8080";
    if (key.type == "path") return "an absolute path, or one that starts with ~/";
    if (key.type == "zone") return "an IANA time zone such as Europe/Zurich";
    return "text";
  }

  void refuse(const ConfigField& field, std::string_view value, std::string_view origin,
              std::string_view why) {
    std::string shown = "the value";
    if (field.key.type == "url") {
      shown = in_quotes(without_credentials(value));
    } else if (field.key.type != "secret") {
      shown = in_quotes(value);
    }
    std::string text =
        describe(field, origin) + shown + " " + std::string(why) + "; give " + wanted(field);
    text += field.key.fallback.empty()
                ? ", or leave it out"
                : ", or leave it out for the default " + std::string(field.key.fallback);
    problem(std::move(text));
  }

  void set(const ConfigField& field, std::string_view raw, std::string_view origin) {
    const std::string_view value = trim(raw);
    const auto& type = field.key.type;
    const bool exact = type == "int" || type == "number" || type == "bool" || type == "zone" ||
                       type.starts_with("enum ");
    if (value.empty()) {
      // An empty variable is a common way to say "not set"; for a number it was surely a slip.
      if (exact) refuse(field, value, origin, "is empty");
      return;
    }
    if (assign(field, value, origin)) {
      config_.origins[std::string(field.key.name)] = origin;
    }
  }

  bool assign(const ConfigField& field, std::string_view value, std::string_view origin) {
    if (const auto* text = std::get_if<std::string Config::*>(&field.member)) {
      return assign_text(field, *text, value, origin);
    }
    if (const auto* list = std::get_if<std::vector<std::string> Config::*>(&field.member)) {
      config_.** list = split_list(value);
      return true;
    }
    if (const auto* flag = std::get_if<bool Config::*>(&field.member)) {
      const std::string word = lower_ascii(value);
      const bool yes = word == "true" || word == "1" || word == "yes" || word == "on";
      const bool no = word == "false" || word == "0" || word == "no" || word == "off";
      if (!yes && !no) return refuse(field, value, origin, "is neither"), false;
      config_.** flag = yes;
      return true;
    }
    return assign_number(field, value, origin);
  }

  bool assign_number(const ConfigField& field, std::string_view value, std::string_view origin) {
    double number = 0;
    if (field.key.type == "int") {
      const auto whole = parse_number<std::int64_t>(value);
      if (!whole) return refuse(field, value, origin, "is not a whole number"), false;
      number = static_cast<double>(*whole);
    } else {
      const auto real = parse_number<double>(value);
      if (!real || !std::isfinite(*real)) {
        return refuse(field, value, origin, "is not a number"), false;
      }
      number = *real;
    }
    if (number < field.min || number > field.max) {
      return refuse(field, value, origin, "is out of range"), false;
    }
    if (const auto* small = std::get_if<int Config::*>(&field.member)) {
      config_.** small = static_cast<int>(number);
    } else if (const auto* big = std::get_if<std::int64_t Config::*>(&field.member)) {
      config_.** big = static_cast<std::int64_t>(number);
    } else {
      config_.*std::get<double Config::*>(field.member) = number;
    }
    return true;
  }

  bool assign_text(const ConfigField& field, std::string Config::* member, std::string_view value,
                   std::string_view origin) {
    std::string text(value);
    const auto& type = field.key.type;
    if (type == "path") {
      text = expand(value);
      if (origin == "flag" && !text.starts_with('/')) {
        text = std::filesystem::absolute(text).lexically_normal().string();
      }
      if (!text.starts_with('/')) return refuse(field, value, origin, "is relative"), false;
    } else if (type == "url") {
      if (!is_url(text)) return refuse(field, value, origin, "is not an http(s) URL"), false;
      while (text.ends_with('/')) text.pop_back();
    } else if (type == "zone") {
      if (!is_known_zone(text)) return refuse(field, value, origin, "is not known"), false;
    } else if (type.starts_with("enum ")) {
      const std::string choices = "|" + std::string(type.substr(5)) + "|";
      if (choices.find("|" + text + "|") == std::string::npos) {
        return refuse(field, value, origin, "is not known"), false;
      }
    }
    config_.*member = std::move(text);
    return true;
  }

  static bool is_url(std::string_view text) {
    for (const std::string_view scheme : {"http://", "https://"}) {
      if (starts_with_ci(text, scheme)) {
        const auto rest = without_credentials(text).substr(scheme.size());
        return !rest.empty() && std::string_view("/?#:").find(rest[0]) == std::string_view::npos &&
               text.find_first_of(" \t\"<>") == std::string_view::npos;
      }
    }
    return false;
  }

  void cross_check() {
    const auto missing = [&](const std::string& url, const std::string& model, const char* url_key,
                             const char* model_key, const char* variable) {
      if (!url.empty() && model.empty()) {
        problem(std::string(model_key) + " (" + variable + ") is missing: " + url_key +
                " names an endpoint, so the model to ask there must be named too; set " + variable +
                ", or leave " + url_key + " out for the built-in one");
      }
    };
    missing(config_.embedding_url, config_.embedding_model, "embedding_url", "embedding_model",
            "CLAWMARK_EMBEDDING_MODEL");
    if (!config_.embedding_url.empty() && !config_.encoder_file.empty()) {
      problem(
          "encoder_file (CLAWMARK_ENCODER_FILE) and embedding_url (CLAWMARK_EMBEDDING_URL) both"
          " name an embedder; leave one of them out");
    }
    missing(config_.extract_url, config_.extract_model, "extract_url", "extract_model",
            "CLAWMARK_EXTRACT_MODEL");
    for (const auto& rule : config_.share_sessions) {
      const auto sign = rule.find(" > ");
      if (sign == std::string::npos || trim(rule.substr(0, sign)).empty() ||
          trim(rule.substr(sign + 3)).empty() || rule.find(" > ", sign + 3) != rule.npos) {
        problem("share_sessions (CLAWMARK_SHARE_SESSIONS): " + in_quotes(rule) +
                " is no rule; give \"FROM > TO\", two globs over session keys, such as"
                " agent:main:telegram:group:* > agent:main:main");
      }
    }
    if (config_.rc_provider == "compatible" && config_.rc_url.empty()) {
      problem(
          "rc_url (RC_URL) is missing: rc_provider (RC_PROVIDER) is compatible, so the endpoint to "
          "ask must be named; set RC_URL, or leave rc_provider out");
    }
    add_notes(config_);
    for (const auto& family : config_.toolsets) {
      if (family != "clawmark" && family != "wc" && family != "rc") {
        problem("toolsets (CLAWMARK_TOOLSETS): " + in_quotes(family) +
                " is not known; give clawmark, wc, rc, separated by commas");
      }
    }
  }

  const ConfigInputs& inputs_;
  Config config_;
};

}  // namespace

std::map<std::string, std::string> system_environment() {
  std::map<std::string, std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    out.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

Config load_config(const ConfigInputs& inputs) {
  return Loader(inputs).load();
}

}  // namespace clawmark
