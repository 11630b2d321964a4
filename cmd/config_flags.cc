#include "cmd/config_flags.h"

#include <algorithm>

namespace clawmark {

void add_config_flags(CLI::App& app, std::string& config_file,
                      std::map<std::string, std::string>& flags) {
  app.add_option("--config", config_file, "configuration file (JSON with comments)");
  for (const auto& key : config_keys()) {
    if (key.type == "secret") continue;  // a flag shows in the process list
    std::string name(key.name);
    std::replace(name.begin(), name.end(), '_', '-');
    app.add_option_function<std::string>(
           "--" + name,
           [&flags, field = std::string(key.name)](const std::string& value) {
             flags[field] = value;
           },
           std::string(key.help))
        ->group("Configuration");
  }
}

Config config_of_process(const std::string& config_file,
                         const std::map<std::string, std::string>& flags) {
  ConfigInputs inputs;
  inputs.file = config_file;
  inputs.environment = system_environment();
  inputs.flags = flags;
  return load_config(inputs);
}

}  // namespace clawmark
