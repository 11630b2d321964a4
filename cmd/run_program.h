#pragma once
// Another program, run to its end: found on PATH, without a shell, its output kept.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace clawmark {

struct ProgramOutcome {
  int code = 0;        // exit code; 128 + signal when killed
  std::string output;  // standard output and error together, at most 256 KiB
};

// Errors, stage "program": not_found "absent" (no such program), retriable "timeout" (it was
// killed), fatal "start".
Result<ProgramOutcome> run_program(const std::vector<std::string>& argv,
                                   const std::map<std::string, std::string>& environment,
                                   std::int64_t timeout_ms);
// Where PATH has it; empty: nowhere.
std::string find_program(const std::string& name);
// As one would type it, quoted for a shell.
std::string command_text(const std::vector<std::string>& argv);

}  // namespace clawmark
