#include <filesystem>

#include "base/files.h"
#include "base/hash.h"
#include "cmd/run_program.h"
#include "cmd/setup/setup.h"
#include "cmd/unix_client.h"

namespace clawmark {
namespace {

using Argv = std::vector<std::string>;

constexpr std::int64_t kHostMs = 180'000;  // a Node program that reads its whole registry
constexpr std::int64_t kServiceMs = 150'000;
constexpr char kConsent[] = "plugins.entries.clawmark.hooks.allowConversationAccess";
constexpr char kSocket[] = "plugins.entries.clawmark.config.socketPath";
constexpr char kPackaged[] = "/usr/lib/systemd/user/clawmark.service";

// Its last line, for an error: what the program itself says.
std::string last_line(const std::string& output) {
  auto end = output.find_last_not_of(" \r\n");
  if (end == std::string::npos) return {};
  const auto start = output.rfind('\n', end);
  return output.substr(start == std::string::npos ? 0 : start + 1,
                       end - (start == std::string::npos ? -1 : start));
}

Status run_well(const Argv& argv, const std::map<std::string, std::string>& environment,
                std::int64_t timeout_ms) {
  CLAWMARK_ASSIGN(const auto done, run_program(argv, environment, timeout_ms));
  if (done.code == 0) return Ok{};
  return make_error(ErrorKind::kFatal, "setup", "command",
                    command_text(argv) + " ended with code " + std::to_string(done.code) + ": " +
                        last_line(done.output));
}

std::string own_folder() {
  std::error_code code;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
  return code ? std::string() : self.parent_path().string();
}

// As installed beside the program, or in the checkout that it was built in.
std::string find_plugin() {
  for (const char* place : {"../share/clawmark/plugin", "../../../plugin"}) {
    const auto folder = std::filesystem::path(own_folder()) / place;
    if (stat_file((folder / "openclaw.plugin.json").string())) {
      return folder.lexically_normal().string();
    }
  }
  return {};
}

// What openclaw.json says of the plugin now.
struct HostEntry {
  bool known = false;  // the host has an entry; after an uninstall it says that it is off
  bool installed = false, consent = false;
  std::string socket;
};

// The plugin's entry in the host's configuration. That is JSON5: what JSON with comments does not
// cover, the host itself is asked for.
json::object entry_object(const std::string& state_dir) {
  const auto text = read_file(join_path(state_dir, "openclaw.json"), 8u << 20);
  if (!text) return {};
  const auto parsed = parse_json_relaxed(*text);
  const json::object* at = parsed.ok() ? parsed->if_object() : nullptr;
  if (at != nullptr) {
    for (const char* step : {"plugins", "entries", "clawmark"}) {
      at = at == nullptr ? nullptr : find_object(*at, step);
    }
    return at == nullptr ? json::object() : *at;
  }
  const auto asked =
      run_program({"openclaw", "config", "get", "plugins.entries.clawmark", "--json"},
                  host_environment(state_dir), kHostMs);
  if (!asked.ok() || asked->code != 0) return {};
  const auto brace = asked->output.find('{');
  if (brace == std::string::npos) return {};
  auto answer = parse_json(asked->output.substr(brace));
  return answer.ok() && answer->is_object() ? std::move(answer->get_object()) : json::object();
}

HostEntry host_entry(const std::string& state_dir) {
  HostEntry out;
  const json::object entry = entry_object(state_dir);
  if (entry.empty()) return out;
  out.known = true;
  out.installed = get_bool(entry, "enabled", true);
  const auto* hooks = find_object(entry, "hooks");
  out.consent = hooks != nullptr && get_bool(*hooks, "allowConversationAccess");
  const auto* config = find_object(entry, "config");
  if (config != nullptr) out.socket = get_string(*config, "socketPath");
  return out;
}

bool has_user_manager() {
  const auto asked = run_program({"systemctl", "--user", "show-environment"}, {}, kServiceMs);
  return asked.ok() && asked->code == 0;
}

}  // namespace

SetupStep plan_plugin(const SetupInputs& inputs) {
  SetupStep step;
  step.name = "plugin";
  const auto left = [&](std::string why) {
    step.state = StepState::kLeft;
    step.reason = std::move(why);
    return step;
  };
  const Config& config = *inputs.config;
  const HostEntry now = host_entry(config.state_dir);
  const bool other_socket = config.socket != join_path(data_dir(), "clawmark.sock");
  std::vector<std::pair<const char*, Argv>> todo;
  if (!now.installed) {
    const std::string folder = inputs.plugin_dir.empty()
                                   ? find_plugin()
                                   : std::filesystem::absolute(inputs.plugin_dir).string();
    if (folder.empty()) return left("the plugin's folder was not found; name it with --plugin DIR");
    if (!stat_file(join_path(folder, "openclaw.plugin.json"))) {
      return left(folder +
                  " holds no openclaw.plugin.json; name the plugin's folder with --plugin");
    }
    todo.emplace_back("installed", Argv{"openclaw", "plugins", "install", "--link", folder,
                                        "--force", "--accept-capabilities"});
    if (now.known) todo.emplace_back("enabled", Argv{"openclaw", "plugins", "enable", "clawmark"});
  }
  if (!now.consent)
    todo.emplace_back("consent", Argv{"openclaw", "config", "set", kConsent, "true"});
  if (other_socket && now.socket != config.socket) {
    todo.emplace_back("socket", Argv{"openclaw", "config", "set", kSocket, config.socket});
  }
  if (todo.empty()) {
    step.state = StepState::kSame;
    return step;
  }
  for (const auto& [what, argv] : todo) step.actions.push_back(command_text(argv));
  if (find_program("openclaw").empty()) {
    return left("openclaw is not on PATH: run these where it is");
  }
  step.question =
      "Install the plugin into OpenClaw, and let it see prompts so that it can add to them?";
  step.run = [todo, state_dir = config.state_dir](const Note& note) -> Status {
    json::object record{{"step", "plugin"}, {"state_dir", state_dir}};
    for (const auto& [what, argv] : todo) {
      record[what] = true;
      CLAWMARK_TRY(note(record));
      CLAWMARK_TRY(run_well(argv, host_environment(state_dir), kHostMs));
    }
    return Ok{};
  };
  return step;
}

std::string user_unit_for(const std::string& program) {
  std::string command;
  for (const char c : program) command += c == '%' ? std::string("%%") : std::string(1, c);
  if (command.find(' ') != std::string::npos) command = '"' + command + '"';
  const std::string text(user_unit_text());
  const auto from = text.find("ExecStart=");
  const auto end = text.find('\n', from);
  return text.substr(0, from) + "ExecStart=" + command + text.substr(end);
}

SetupStep plan_service(const SetupInputs& inputs) {
  SetupStep step;
  step.name = "service";
  const std::string program = join_path(own_folder(), "clawmarkd");
  const bool packaged = own_folder() == "/usr/bin" && stat_file(kPackaged);
  const std::string unit =
      packaged ? "" : join_path(dir_name(config_folder()), "systemd/user/clawmark.service");
  const std::string text = user_unit_for(program);
  const auto old = unit.empty() ? Result<std::string>(text) : read_file(unit, 1u << 20);
  const bool manager = has_user_manager();
  const auto asks = [](const char* verb) {
    const auto got =
        run_program({"systemctl", "--user", "--quiet", verb, "clawmark"}, {}, kServiceMs);
    return got.ok() && got->code == 0;
  };
  const bool same = old.ok() && *old == text;
  const bool enabled = manager && asks("is-enabled"), active = manager && asks("is-active");
  if (same && enabled && active) {
    step.state = StepState::kSame;
    return step;
  }
  if (!active && is_listening(inputs.config->socket)) {
    step.state = StepState::kLeft;
    step.reason =
        "a clawmarkd that is no service answers at " + inputs.config->socket + ": stop it first";
    return step;
  }
  if (!stat_file(program)) {
    step.state = StepState::kLeft;
    step.reason = program + " is not there: install clawmarkd beside clawmark";
    return step;
  }
  if (!same) step.actions.push_back("write " + unit);
  std::vector<Argv> commands;
  if (manager) {
    commands = {{"systemctl", "--user", "daemon-reload"},
                {"systemctl", "--user", "enable", "--now", "clawmark"}};
    if (active) commands.push_back({"systemctl", "--user", "restart", "clawmark"});
    for (const auto& argv : commands) step.actions.push_back(command_text(argv));
  } else {
    step.reason = "no systemd user manager answers here: start " + program + " yourself";
    if (same || packaged) {
      step.state = StepState::kLeft;
      return step;
    }
  }
  step.question = "Install and start the user service?";
  step.run = [=](const Note& note) -> Status {
    json::object record{{"step", "service"}, {"unit", ""}};
    if (!same) {
      record["unit"] = unit;
      record["sha256"] = to_hex(sha256(text));
      const std::string copy = unit + ".before-clawmark-init";
      if (old.ok()) {
        record["backup"] = copy;
        record["before_sha256"] = to_hex(sha256(*old));
      }
      CLAWMARK_TRY(note(record));
      CLAWMARK_TRY(make_private_dir(dir_name(unit)));
      if (old.ok()) CLAWMARK_TRY(write_file_atomic(copy, *old));
      CLAWMARK_TRY(write_file_atomic(unit, text));
    }
    for (const auto& argv : commands) {
      if (argv[2] == "enable" && !enabled) {
        record["enabled"] = true;
        CLAWMARK_TRY(note(record));
      }
      CLAWMARK_TRY(run_well(argv, {}, kServiceMs));
    }
    return Ok{};
  };
  return step;
}

namespace {

// A file that is as we wrote it goes, and what was there before comes back.
void undo_file(const std::string& path, const json::object& record, bool really, Undo& out) {
  const auto now = read_file(path, 1u << 20);
  if (!now.ok()) return;
  const std::string backup = get_string(record, "backup");
  const bool back = !backup.empty() && stat_file(backup);
  std::error_code code;
  if (const std::string hash = to_hex(sha256(*now)); hash != get_string(record, "sha256")) {
    if (hash != get_string(record, "before_sha256")) {
      out.left = path + " was changed since and stays";
    } else if (back) {  // it broke off before the change: only the copy is too much
      out.actions.push_back(command_text({"rm", backup}));
      if (really) std::filesystem::remove(backup, code);
    }
    return;
  }
  out.actions.push_back(back ? command_text({"mv", backup, path}) : command_text({"rm", path}));
  if (!really) return;
  if (back) {
    std::filesystem::rename(backup, path, code);
  } else {
    std::filesystem::remove(path, code);
    std::filesystem::remove(dir_name(path), code);  // only an empty one
  }
}

Status undo_plugin(const json::object& record, bool really, Undo& out) {
  // Of what was to be done, that which was.
  const std::string state_dir = get_string(record, "state_dir");
  const HostEntry now = host_entry(state_dir);
  std::vector<Argv> todo;
  if (get_bool(record, "installed")) {
    if (!now.installed) return Ok{};
    todo.push_back({"openclaw", "plugins", "uninstall", "clawmark", "--force"});
  } else {
    if (get_bool(record, "socket") && !now.socket.empty())
      todo.push_back({"openclaw", "config", "unset", kSocket});
    if (get_bool(record, "consent") && now.consent)
      todo.push_back({"openclaw", "config", "unset", kConsent});
  }
  for (const auto& argv : todo) {
    out.actions.push_back(command_text(argv));
    if (really) CLAWMARK_TRY(run_well(argv, host_environment(state_dir), kHostMs));
  }
  return Ok{};
}

Status undo_service(const json::object& record, bool really, Undo& out) {
  const bool manager = has_user_manager();
  const auto run = [&](const Argv& argv) -> Status {
    if (!manager) return Ok{};
    out.actions.push_back(command_text(argv));
    return really ? run_well(argv, {}, kServiceMs) : Status(Ok{});
  };
  if (get_bool(record, "enabled")) {
    CLAWMARK_TRY(run({"systemctl", "--user", "disable", "--now", "clawmark"}));
  }
  const std::string unit = get_string(record, "unit");
  if (unit.empty()) return Ok{};
  undo_file(unit, record, really, out);
  return run({"systemctl", "--user", "daemon-reload"});
}

}  // namespace

Result<Undo> undo_step(const json::object& record, bool really) {
  Undo out;
  out.name = get_string(record, "step");
  if (out.name == "config" || out.name == "keys") {
    undo_file(get_string(record, "path"), record, really, out);
  } else if (out.name == "plugin") {
    CLAWMARK_TRY(undo_plugin(record, really, out));
  } else if (out.name == "service") {
    CLAWMARK_TRY(undo_service(record, really, out));
  }
  return out;
}

}  // namespace clawmark
