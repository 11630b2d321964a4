#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "cmd/setup/setup.h"

namespace clawmark {
namespace {

std::string folder_of(const char* variable, std::string_view usual) {
  const char* value = std::getenv(variable);
  const std::string base =
      value != nullptr && *value == '/' ? value : join_path(home_dir(), std::string(usual));
  return join_path(base, "clawmark");
}

}  // namespace

std::string config_folder() {
  return folder_of("XDG_CONFIG_HOME", ".config");
}

std::map<std::string, std::string> host_environment(const std::string& state_dir) {
  return {{"OPENCLAW_STATE_DIR", state_dir}, {"NO_COLOR", "1"}};
}

std::string receipt_path() {
  return join_path(folder_of("XDG_STATE_HOME", ".local/state"), "setup.json");
}

Result<json::array> read_receipt() {
  const std::string path = receipt_path();
  if (!stat_file(path)) return json::array();
  CLAWMARK_ASSIGN(const std::string text, read_file(path, 1u << 20));
  const auto parsed = parse_json(text);
  const auto* object = parsed.ok() ? parsed->if_object() : nullptr;
  const auto* steps = object == nullptr ? nullptr : find_array(*object, "steps");
  if (steps == nullptr || get_int(*object, "version") != 1) {
    return make_error(ErrorKind::kInvalid, "setup", "receipt",
                      path +
                          " is not what clawmark init of this version writes; docs/operations.md "
                          "says how to uninstall by hand");
  }
  return *steps;
}

Status write_receipt(const json::array& steps) {
  const std::string path = receipt_path();
  if (steps.empty()) {
    std::error_code code;
    std::filesystem::remove(path, code);
    std::filesystem::remove(dir_name(path), code);  // only when nothing else is in it
    return Ok{};
  }
  CLAWMARK_TRY(make_private_dir(dir_name(path)));
  return write_file_atomic(path, to_text(json::object{{"version", 1}, {"steps", steps}}) + "\n");
}

std::vector<std::string> memory_files(const Config& config) {
  std::vector<std::string> out;
  const std::string folder = dir_name(config.db_path), store = base_name(config.db_path);
  for (const auto& name : list_dir(folder)) {
    const bool ours =
        name == store || name.starts_with(store + "-") || name.starts_with(store + ".");
    if (ours) out.push_back(join_path(folder, name));
  }
  if (std::filesystem::is_socket(config.socket)) out.push_back(config.socket);
  return out;
}

}  // namespace clawmark
