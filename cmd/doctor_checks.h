#pragma once
// The checks behind `clawmark doctor`. They read; they change nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/json.h"

namespace clawmark {

enum class CheckState { kOk, kWarn, kBad, kSkip };
std::string_view to_string(CheckState state);

struct Check {
  std::string name;  // "configuration", "store", "log", "cursors", "sources", "socket", "models",
                     // "plugin", …
  CheckState state = CheckState::kOk;
  std::string message;
  std::string remedy;  // empty when well
};

struct DoctorInputs {
  const Config* config = nullptr;
  std::string config_file;
  std::optional<json::object> status;  // /v1/status of a running daemon
};

std::vector<Check> run_doctor(const DoctorInputs& inputs);

}  // namespace clawmark
