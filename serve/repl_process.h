#pragma once
// Runs one script in a process of its own (cmd/clawmark-repl) and answers what it asks. Nothing of
// a script outlives its process; what it stores, the service keeps.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace clawmark {

struct ReplOptions {
  std::string program;        // path of clawmark-repl
  std::int64_t cpu_ms = 0;    // of the script, processor time; 0: the program's own limit
  std::int64_t think_ms = 0;  // longest wait for its next word, wall time
  std::int64_t wall_ms = 0;   // of everything, what it asks for included
};

// What a script asks for: name and parameters. An error becomes an exception in the script; its
// message is shown there.
using ReplHost = std::function<Result<json::value>(const std::string& name, const json::object&)>;

struct ReplOutcome {
  std::string output;  // at most kReplOutputMax characters
  bool output_cut = false;
  std::optional<json::value> final;  // of FINAL
  std::string error;     // of the script, or why it was stopped; empty: it ran to its end
  bool stopped = false;  // by a limit
  std::int64_t calls = 0;
};

// Error: fatal or retriable, stage "repl", when no process could be started. Whatever the script
// does is an outcome.
Result<ReplOutcome> run_repl(const ReplOptions& options, const Clock& clock, std::string_view code,
                             const ReplHost& host);

}  // namespace clawmark
