#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "cmd/run_program.h"
#include "cmd/setup/setup.h"

namespace clawmark {
namespace {

constexpr char kHead[] =
    "// Clawmark's configuration, written by `clawmark init`. All keys: clawmark config show,\n"
    "// docs/reference.md. Nothing else has to be set.\n";
constexpr std::size_t kConfigMax = 1u << 20;

// As the service reads it, from wherever that is started.
std::string settled(const ConfigKey& key, const std::string& text) {
  if (key.type != "path" || text.empty()) return text;
  return std::filesystem::absolute(text).lexically_normal().string();
}

json::value typed(const ConfigKey& key, const std::string& text) {
  if (key.type == "list") {
    json::array items;
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      items.emplace_back(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return items;
  }
  const bool plain = key.type == "int" || key.type == "number" || key.type == "bool";
  auto value = plain ? parse_json(text) : make_error(ErrorKind::kInvalid, "json", "text", "");
  return value.ok() ? std::move(value).value() : json::value(text);
}

// What was given now, by key: flags, and variables of this shell that a service would not have.
json::object given(const SetupInputs& inputs) {
  json::object out;
  const auto shown = show_config(*inputs.config);
  const auto environment = system_environment();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const ConfigKey& key = config_keys()[i];
    const std::string name(key.name);
    if (key.type == "secret") continue;
    const auto flag = inputs.flags.find(name);
    const auto variable = environment.find(std::string(key.environment));
    if (flag != inputs.flags.end()) {
      out[name] = typed(key, settled(key, flag->second));
    } else if (inputs.config->origins.at(name) == "environment" && variable != environment.end()) {
      out[name] = typed(key, settled(key, variable->second));
    } else if (name == "state_dir") {
      out[name] = settled(
          key, shown[i].second);  // the folder that was looked at, whatever a service's HOME says
    }
  }
  return out;
}

// For people's eyes: an address without its password.
std::string in_words(json::object values, const Config& config) {
  for (const auto& [name, shown] : show_config(config)) {
    const auto at = values.find(name);
    const auto key = std::find_if(config_keys().begin(), config_keys().end(),
                                  [&](const ConfigKey& one) { return one.name == name; });
    if (at != values.end() && key != config_keys().end() && key->type == "url") at->value() = shown;
  }
  return to_text(values);
}

std::string written(const json::object& values) {
  std::string out = std::string(kHead) + "{";
  const char* between = "\n";
  for (const auto& member : values) {
    out += between + std::string("  ") + to_text(json::value(member.key())) + ": " +
           to_text(member.value());
    between = ",\n";
  }
  return out + "\n}\n";
}

// A name beside `path` that nothing has.
std::string free_name(const std::string& path) {
  const std::string day = format_iso(SystemClock().now()).substr(0, 10);
  for (int n = 1;; ++n) {
    std::string name = path + "." + day + (n == 1 ? "" : "-" + std::to_string(n)) + ".bak";
    if (!stat_file(name)) return name;
  }
}

// Where the file really is: a link to it stays one.
std::string real_path(const std::string& path) {
  std::error_code code;
  const auto real = std::filesystem::canonical(path, code);
  return code ? path : real.string();
}

Status write_noted(const std::string& named, const std::string& text, const char* step,
                   const Note& note) {
  const std::string path = real_path(named);
  std::error_code code;
  const auto mode = std::filesystem::status(path, code).permissions();
  json::object record{{"step", step}, {"path", path}, {"sha256", to_hex(sha256(text))}};
  const auto old = read_file(path, kConfigMax);
  const std::string copy = old.ok() ? free_name(path) : "";
  if (old.ok()) {
    record["backup"] = copy;
    record["before_sha256"] = to_hex(sha256(*old));
  }
  CLAWMARK_TRY(note(record));
  CLAWMARK_TRY(make_private_dir(dir_name(path)));
  if (old.ok()) CLAWMARK_TRY(write_file_atomic(copy, *old));
  CLAWMARK_TRY(write_file_atomic(path, text));
  if (old.ok()) {  // who may read it may still, also when the copy comes back
    std::filesystem::permissions(copy, mode, code);
    std::filesystem::permissions(path, mode, code);
  }
  return Ok{};
}

// For an EnvironmentFile of systemd.
std::string quoted(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

SetupStep plan_config(const SetupInputs& inputs) {
  SetupStep step;
  step.name = "config";
  const std::string path = join_path(config_folder(), "config.json");
  json::object values = given(inputs);
  const auto old = read_file(path, kConfigMax);
  if (!old.ok()) {
    step.question = "Write " + path + "?";
    step.actions.push_back("write " + path + ": " + in_words(values, *inputs.config));
  } else {
    const auto parsed = parse_json_relaxed(*old);
    if (!parsed.ok() || !parsed->is_object()) {
      step.state = StepState::kLeft;
      step.reason = path + " is not one JSON object; correct it or move it away";
      return step;
    }
    json::object merged = parsed->get_object(), changed;
    for (const auto& member : values) {
      // The folder that is found anyway is no reason to touch a file.
      const bool told = member.key() != "state_dir" || inputs.flags.contains("state_dir") ||
                        merged.contains("state_dir");
      const auto* now = find(merged, std::string_view(member.key()));
      if (!told || (now != nullptr && *now == member.value())) continue;
      changed[member.key()] = member.value();
      merged[member.key()] = member.value();
    }
    if (changed.empty()) {
      step.state = StepState::kSame;
      return step;
    }
    step.question =
        "Change " + path + "? (a copy of it is kept; its comments are only in the copy)";
    step.actions.push_back("change " + path + ": " + in_words(changed, *inputs.config));
    values = std::move(merged);
  }
  step.run = [path, text = written(values)](const Note& note) {
    return write_noted(path, text, "config", note);
  };
  return step;
}

SetupStep plan_keys(const SetupInputs& inputs) {
  SetupStep step;
  step.name = "keys";
  const std::string path = join_path(config_folder(), "environment");
  const Config& config = *inputs.config;
  std::string text, names;
  for (const auto& [key, variable, value] :
       {std::tuple{"embedding_api_key", "CLAWMARK_EMBEDDING_API_KEY", &config.embedding_api_key},
        std::tuple{"extract_api_key", "CLAWMARK_EXTRACT_API_KEY", &config.extract_api_key},
        std::tuple{"summary_api_key", "WC_API_KEY", &config.summary_api_key},
        std::tuple{"rc_api_key", "RC_API_KEY", &config.rc_api_key}}) {
    if (value->empty() || config.origins.at(key).starts_with("file")) continue;
    text += std::string(variable) + "=" + quoted(*value) + "\n";
    names += (names.empty() ? "" : ", ") + std::string(variable);
  }
  const auto old = read_file(path, kConfigMax);
  if (text.empty() || (old.ok() && *old == text)) {
    step.state = StepState::kSame;
    return step;
  }
  if (old.ok()) {
    step.state = StepState::kLeft;
    step.reason = path + " is there already and differs: put " + names + " into it yourself";
    return step;
  }
  step.question = "Write the keys of this shell's environment to " + path + " (for you only)?";
  step.actions.push_back("write " + path + ": " + names);
  step.run = [path, text](const Note& note) { return write_noted(path, text, "keys", note); };
  return step;
}

}  // namespace clawmark
