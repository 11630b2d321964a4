#pragma once
// The one table of configuration keys: name, variable, type, range, and where the value goes.
// Private to base/config*.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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
  double min = 0, max = 0;       // of numbers, both inclusive
  std::string_view unused = {};  // why a key that others know means nothing here
};

std::span<const ConfigField> config_fields();

// What is set and means nothing, into notes; an endpoint of the world model without a model, into
// problems.
void add_notes(Config& config);

// scheme://user:password@host → scheme://host
std::string without_credentials(std::string_view url);
// The shortest text that reads back as this number.
std::string number_text(double value);

}  // namespace clawmark
