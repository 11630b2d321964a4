#include "cmd/doctor_checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <future>
#include <optional>

#include "base/clock.h"
#include "base/files.h"
#include "base/secrets.h"
#include "base/sqlite_version.h"
#include "cmd/doctor_parts.h"
#include "cmd/source_options.h"
#include "cmd/terminal.h"
#include "cmd/unix_client.h"
#include "log/cursor.h"
#include "log/store.h"

namespace clawmark {
namespace {

constexpr auto ok = check_ok;
constexpr auto warn = check_warn;
constexpr auto bad = check_bad;

constexpr std::int64_t kLagWarnMs = 10 * kMinuteMs;
constexpr char kAllowCommand[] =
    "openclaw config set plugins.entries.clawmark.hooks.allowConversationAccess true";

Check skip(const char* name, std::string message) {
  return {name, CheckState::kSkip, std::move(message), ""};
}

std::optional<mode_t> mode_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info.st_mode & 07777;
}

std::string octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode));
  return text;
}

void check_configuration(const DoctorInputs& inputs, std::vector<Check>& out) {
  for (const auto& problem : inputs.config->problems) {
    out.push_back(
        bad("configuration", problem, "correct it, then `systemctl --user reload clawmark`"));
  }
  if (inputs.config->problems.empty()) {
    std::string complete = "complete";
    for (const auto& note : inputs.config->notes) complete += "; " + note;
    out.push_back(ok("configuration", std::move(complete)));
  }
  const std::string file = inputs.config_file.empty()
                               ? join_path(home_dir(), ".config/clawmark/config.json")
                               : inputs.config_file;
  const auto mode = mode_of(file);
  if (mode && (*mode & 077) != 0) {
    if (const auto text = read_file(file, 1u << 20);
        text.ok() && text->find("api_key") != std::string::npos) {
      out.push_back(warn("configuration",
                         file + " holds a key and others may read it (mode " + octal(*mode) + ")",
                         "chmod 600 " + file));
    }
  }
}

// What a service may lack that a shell has.
void check_environment(std::vector<Check>& out) {
  if (home_dir().empty()) {
    out.push_back(bad("environment",
                      "HOME is not set and the user has no entry in the password database",
                      "set HOME, or name db_path, socket and state_dir"));
  } else if (!is_known_zone("Europe/Zurich")) {
    out.push_back(
        warn("environment", "no time zone database: dates are shown in UTC", "install tzdata"));
  } else {
    out.push_back(ok("environment", "home folder and time zones are there; SQLite " +
                                        std::string(sqlite_version())));
  }
}

void check_permissions(const Config& config, std::vector<Check>& out) {
  bool open = false;
  const auto look = [&](const std::string& path, mode_t most) {
    const auto mode = mode_of(path);
    if (!mode || (*mode & ~most) == 0) return;
    open = true;
    out.push_back(bad("permissions", path + " has mode " + octal(*mode) + ": others can reach it",
                      "chmod " + octal(most).substr(1) + " " + path));
  };
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) look(config.db_path + suffix, 0600);
  look(config.socket, 0600);
  const std::string folder = dir_name(config.db_path);
  for (const auto& name : list_dir(folder)) {
    if (name.starts_with(base_name(config.db_path) + ".v") && name.ends_with(".bak")) {
      look(join_path(folder, name), 0600);
    }
  }
  if (const auto mode = mode_of(folder); mode && (*mode & 077) != 0) {
    out.push_back(warn("permissions",
                       folder + " has mode " + octal(*mode) + ": others see that it is there",
                       "chmod 700 " + folder));
    return;
  }
  if (!open) out.push_back(ok("permissions", "store and socket are for this user only"));
}

void check_log(Database& db, std::vector<Check>& out) {
  const auto log = EventLog::verify(db);
  if (!log) {
    out.push_back(bad("log", describe(log.error()), "restore the newest backup beside the store"));
    return;
  }
  if (log->dense && log->chain_valid) {
    out.push_back(ok("log", format_count(log->events) + " events, dense, chain unbroken"));
    return;
  }
  const std::string where =
      log->first_bad ? " from event " + std::to_string(log->first_bad->value) + " on" : "";
  out.push_back(bad("log",
                    std::string(log->dense ? "the chain is broken" : "events are missing") + where +
                        ": the log was changed from outside",
                    "keep this file, restore the newest backup beside it"));
}

void check_cursors(Database& db, std::vector<Check>& out) {
  const auto cursors = list_cursors(db);
  const auto head = EventLog::head(db);
  if (!cursors || !head) {
    out.push_back(bad("cursors", "cannot be read", "see the check of the store"));
    return;
  }
  bool well = true;
  for (const auto& cursor : *cursors) {
    const std::string name =
        cursor.worker.name + " (generation " + std::to_string(cursor.worker.generation) + ")";
    if (cursor.position > *head) {
      well = false;
      out.push_back(bad("cursors",
                        name + " is beyond the end of the log: the store was restored without it",
                        "clawmark doctor --fix; then restart clawmarkd if it runs"));
    } else if (cursor.state == "stopped" || cursor.state == "blocked") {
      well = false;
      out.push_back(bad("cursors",
                        name + " is " + cursor.state + ": " + redact_secrets(cursor.failure),
                        cursor.state == "blocked" ? "correct the cause; it goes on by itself"
                                                  : "restart clawmarkd after removing the cause"));
    }
  }
  if (well)
    out.push_back(ok("cursors", std::to_string(cursors->size()) + " workers, none is blocked"));
}

void check_store(const Config& config, std::vector<Check>& out) {
  if (const auto kind = unsafe_filesystem(dir_name(config.db_path)); !kind.empty()) {
    out.push_back(bad("store",
                      config.db_path + " lies on " + kind + ", where a write-ahead log is not safe",
                      "move db_path to a local disk"));
    return;
  }
  auto db = Store::open_read_only(config.db_path);
  if (!db) {
    if (db.error().kind == ErrorKind::kNotFound) {
      out.push_back(
          warn("store", "there is none at " + config.db_path + " yet", "start clawmarkd"));
    } else {
      out.push_back(
          bad("store", db.error().message, "see docs/operations.md, “When things go wrong”"));
    }
    return;
  }
  // Beside a running daemon most of a young store is in its log.
  std::int64_t bytes = 0;
  for (const char* part : {"", "-wal"}) {
    if (const auto file = stat_file(config.db_path + part)) bytes += file->size;
  }
  out.push_back(ok("store", config.db_path + ", " + format_count(bytes / 1024) + " KiB"));
  check_log(*db, out);
  check_cursors(*db, out);
}

void check_sources(const Config& config, std::vector<Check>& out) {
  const SystemClock clock;
  const auto sources = discover_sources(source_options(config), clock);
  if (const std::string agents = unreadable_agents(config); !agents.empty()) {
    out.push_back(bad("sources", agents + " is not readable for this user",
                      "run Clawmark as the gateway's user"));
  } else if (sources.empty()) {
    out.push_back(bad("sources", "no history of OpenClaw under " + config.state_dir,
                      "name the right folder in state_dir (CLAWMARK_STATE_DIR)"));
  }
  for (const auto& open : sources) {
    const SourceHealth health = open.source->validate();
    const std::string name = std::string(open.source->carrier()) + " " + open.source->path();
    if (health.state == SourceState::kOk) {
      out.push_back(ok("sources", name));
    } else if (health.state == SourceState::kAbsent ||
               health.state == SourceState::kNotInitialised || health.state == SourceState::kBusy) {
      out.push_back(
          warn("sources", name + ": " + std::string(to_string(health.state)), health.message));
    } else {
      out.push_back(
          bad("sources",
              name + ": " + std::string(to_string(health.state)) + " (" + health.reason + ")",
              health.message));
    }
  }
}

void check_socket(const DoctorInputs& inputs, std::vector<Check>& out) {
  const std::string& path = inputs.config->socket;
  if (inputs.status) {
    out.push_back(
        ok("daemon", "answers on " + path + ", version " + get_string(*inputs.status, "version")));
    return;
  }
  const auto answer = unix_request(path, "GET", "/healthz", "", 2000);
  if (!answer) {
    out.push_back(bad("daemon", answer.error().message,
                      "systemctl --user start clawmark (or run clawmarkd); the agent does without "
                      "memory until then"));
  } else {
    out.push_back(warn("daemon", "answers on " + path + ", but not with its status",
                       "is it of another version?"));
  }
}

// The host's own configuration says whether our hook may see prompts.
void check_consent(const Config& config, std::vector<Check>& out) {
  const std::string path = join_path(config.state_dir, "openclaw.json");
  const auto text = read_file(path, 8u << 20);
  if (!text) {
    out.push_back(skip("plugin", "no " + path + " to look into"));
    return;
  }
  const auto parsed = parse_json_relaxed(*text);
  const json::object empty;
  const json::object* at = parsed.ok() ? parsed->if_object() : nullptr;
  if (at == nullptr) {
    out.push_back(
        skip("plugin", path + " cannot be read as JSON; `openclaw config validate` says more"));
    return;
  }
  for (const char* step : {"plugins", "entries", "clawmark"}) {
    at = at == nullptr ? nullptr : find_object(*at, step);
  }
  if (at == nullptr) {
    out.push_back(bad("plugin", "the host does not know the plugin",
                      "openclaw plugins install --link <folder of plugin/> --force"));
    return;
  }
  const auto* hooks = find_object(*at, "hooks");
  if (!get_bool(*at, "enabled", true)) {
    out.push_back(
        bad("plugin", "it is switched off at the host", "openclaw plugins enable clawmark"));
  } else if (hooks == nullptr || !get_bool(*hooks, "allowConversationAccess")) {
    out.push_back(
        bad("plugin",
            "the host blocks the hook before_prompt_build: nothing is injected. Reading history "
            "and the tools work",
            kAllowCommand));
  } else if (!get_bool(*hooks, "allowPromptInjection", true)) {
    out.push_back(
        bad("plugin", "the host forbids injection: nothing is injected",
            "openclaw config set plugins.entries.clawmark.hooks.allowPromptInjection true"));
  } else {
    out.push_back(ok("plugin", "the host allows the prompt hook"));
  }
}

void check_handshake(const json::object& status, std::vector<Check>& out) {
  const auto* plugin = find_object(status, "plugin");
  if (plugin == nullptr || get_string(*plugin, "seen_at").empty()) {
    out.push_back(warn("plugin", "has not spoken to this daemon yet",
                       "is the gateway running, and the plugin enabled there?"));
    return;
  }
  out.push_back(ok("plugin", "version " + get_string(*plugin, "version") + " on OpenClaw " +
                                 get_string(*plugin, "host_version") + " has said hello"));
  const auto* blocked = find_array(*plugin, "blocked_hooks");
  if (blocked != nullptr && !blocked->empty()) {
    out.push_back(bad("plugin", "hooks blocked by the host: " + to_text(json::value(*blocked)),
                      kAllowCommand));
  }
}

// The host builds its requests from what is kept here: then all of it has to be.
void check_retention(const json::object& status, std::vector<Check>& out) {
  const auto* retention = find_object(status, "retention");
  const auto* plugin = find_object(status, "plugin");
  if (retention == nullptr || plugin == nullptr) return;
  const std::string mode = get_string(*plugin, "context_mode");
  const std::int64_t left = get_int(*retention, "events_to_look_at");
  if (get_bool(*retention, "keeps_all")) {
    out.push_back(ok("retention",
                     "every text is copied" + (left > 0 ? "; earlier ones are being copied, " +
                                                              format_count(left) + " events to go"
                                                        : std::string())));
  } else if (!mode.empty()) {
    out.push_back(warn("retention",
                       "clawmark is the host's context engine, but texts stay where the host keeps "
                       "them: what it prunes is lost",
                       "leave retention out of the configuration (auto), or set it to verbatim"));
  } else {
    out.push_back(ok("retention", "texts are read where the host keeps them (retention=" +
                                      get_string(*retention, "setting") + ")"));
  }
}

void check_lag(const json::object& status, std::vector<Check>& out) {
  const auto* workers = find_array(status, "workers");
  if (workers == nullptr) return;
  const std::int64_t now = SystemClock().now().value;
  bool well = true;
  for (const auto& entry : *workers) {
    if (!entry.is_object()) continue;
    const auto& worker = entry.get_object();
    const std::int64_t lag = get_int(worker, "lag");
    const std::int64_t beat = parse_iso(get_string(worker, "beat_at")).value_or(TimeMs{}).value;
    if (beat != 0 && now - beat > kLagWarnMs) {
      well = false;
      out.push_back(bad(
          "lag", get_string(worker, "name") + " gave no sign of life for " + format_age(now - beat),
          "systemctl --user restart clawmark, and report it"));
    } else if (lag > 0 && !get_string(worker, "failure").empty()) {
      well = false;
      out.push_back(warn("lag",
                         get_string(worker, "name") + " is " + format_count(lag) +
                             " behind: " + redact_secrets(get_string(worker, "failure")),
                         "it tries again by itself; `clawmark status` shows when"));
    }
  }
  if (well) out.push_back(ok("lag", "every worker moves"));
}

}  // namespace

std::string_view to_string(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kWarn:
      return "warn";
    case CheckState::kBad:
      return "bad";
    case CheckState::kSkip:
      return "skip";
  }
  return "skip";
}

Check check_ok(const char* name, std::string message) {
  return {name, CheckState::kOk, std::move(message), ""};
}
Check check_warn(const char* name, std::string message, std::string remedy) {
  return {name, CheckState::kWarn, std::move(message), std::move(remedy)};
}
Check check_bad(const char* name, std::string message, std::string remedy) {
  return {name, CheckState::kBad, std::move(message), std::move(remedy)};
}

std::vector<Check> run_doctor(const DoctorInputs& inputs) {
  const Config& config = *inputs.config;
  using Part = std::function<void(std::vector<Check>&)>;
  const auto store_part = [&config](std::vector<Check> (*check)(const Config&)) -> Part {
    return [&config, check](std::vector<Check>& out) { out = check(config); };
  };
  const Part parts[] = {
      [&](auto& out) { check_configuration(inputs, out); },
      [&](auto& out) { check_environment(out); },
      [&](auto& out) { check_store(config, out); },
      store_part(check_disk),
      store_part(check_pages),
      store_part(check_projections),
      store_part(check_digests),
      store_part(check_index),
      store_part(check_vault),
      store_part(check_readable),
      store_part(check_forgotten),
      [&](auto& out) { check_permissions(config, out); },
      [&](auto& out) { check_sources(config, out); },
      [&](auto& out) { check_socket(inputs, out); },
      [&](auto& out) { check_embedding(config, out); },
      [&](auto& out) { check_extraction(config, out); },
      [&](auto& out) { check_consent(config, out); },
      [&](auto& out) {
        if (!inputs.status) return;
        check_handshake(*inputs.status, out);
        check_retention(*inputs.status, out);
        check_lag(*inputs.status, out);
      },
  };
  // Side by side: a model that does not answer delays no other check. Printed in this order.
  std::vector<std::future<std::vector<Check>>> running;
  for (const Part& part : parts) {
    running.push_back(std::async(std::launch::async, [&part] {
      std::vector<Check> found;
      part(found);
      return found;
    }));
  }
  std::vector<Check> out;
  for (auto& part : running) {
    for (Check& check : part.get()) out.push_back(std::move(check));
  }
  return out;
}

std::vector<std::string> fix_permissions(const Config& config) {
  std::vector<std::string> done;
  const auto close = [&](const std::string& path, mode_t most) {
    const auto mode = mode_of(path);
    if (!mode || (*mode & ~most) == 0 || ::chmod(path.c_str(), most) != 0) return;
    done.push_back("chmod " + octal(most).substr(1) + " " + path);
  };
  const std::string folder = dir_name(config.db_path);
  for (const auto& name : list_dir(folder)) {
    if (name.starts_with(base_name(config.db_path))) close(join_path(folder, name), 0600);
  }
  close(config.socket, 0600);
  if (folder == data_dir()) close(folder, 0700);
  return done;
}

}  // namespace clawmark
