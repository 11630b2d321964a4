#pragma once
// --config FILE and one flag per configuration key (recall_limit → --recall-limit), for both
// programs.

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "base/config.h"

namespace clawmark {

void add_config_flags(CLI::App& app, std::string& config_file,
                      std::map<std::string, std::string>& flags);
// The configuration as this process finds it: flags, environment, file, defaults.
Config config_of_process(const std::string& config_file,
                         const std::map<std::string, std::string>& flags);

}  // namespace clawmark
