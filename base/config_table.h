#pragma once
// The one table of configuration keys: name, variable, type, range, and where the value goes.
// Private to base/config*.

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/config.h"

namespace clawmark {

using ConfigMember =
    std::variant<std::string Config::*, std::vector<std::string> Config::*, int Config::*,
                 std::int64_t Config::*, double Config::*, bool Config::*>;

struct ConfigField {
  ConfigKey key;
  ConfigMember member;
  double min = 0, max = 0;  // of numbers, both inclusive
};

std::span<const ConfigField> config_fields();

}  // namespace clawmark
