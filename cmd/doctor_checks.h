#pragma once
// The checks behind `clawmark doctor`. They read; they change nothing but what is asked of
// fix_permissions().

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
  std::string name;  // "configuration", "environment", "store", "log", "cursors", "disk",
                     // "file", "projections", "digests", "index", "vault", "vectors",
                     // "forgotten", "permissions", "sources", "daemon", "models", "plugin",
                     // "lag"
  CheckState state = CheckState::kOk;
  std::string message;
  std::string remedy;  // empty when well
};

struct DoctorInputs {
  const Config* config = nullptr;
  std::string config_file;
  std::optional<json::object> status;  // /v1/status of a running daemon
};

// All at the same time; in a fixed order.
std::vector<Check> run_doctor(const DoctorInputs& inputs);
// Closes the store's files and the socket to others. What was done, as commands.
std::vector<std::string> fix_permissions(const Config& config);

}  // namespace clawmark
