#pragma once
// What `clawmark init` sets up, step by step, and how `clawmark uninstall` takes back exactly that.
// Each step is planned without changing anything, then done; before each change it notes in the
// receipt what has to be undone, so that it can be undone wherever it broke off.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/json.h"
#include "base/result.h"

namespace clawmark {

struct SetupInputs {
  const Config* config = nullptr;
  std::map<std::string, std::string> flags;  // configuration keys given as flags
  std::string plugin_dir;                    // empty: beside this program
};

// Keeps what would have to be undone of the step; what it answers is the step's own end when it is
// no success.
using Note = std::function<Status(const json::object& record)>;

enum class StepState { kTodo, kSame, kLeft };

struct SetupStep {
  std::string name;  // "config", "keys", "plugin", "service"
  StepState state = StepState::kTodo;
  std::string question;              // of kTodo: what is asked before it is done
  std::vector<std::string> actions;  // as one would type them
  std::string reason;                // of kLeft: why it cannot be done here, and the remedy
  std::function<Status(const Note& note)> run;  // does it
};

// Writes <config folder>/config.json: what there is already, and what was given as flags or in the
// environment. A file that would be changed is copied first.
SetupStep plan_config(const SetupInputs& inputs);
// API keys of the environment, which a service does not have: into <config folder>/environment.
SetupStep plan_keys(const SetupInputs& inputs);
// By the host's own commands: install, and its consent for prompts.
SetupStep plan_plugin(const SetupInputs& inputs);
// The user unit, enabled and started.
SetupStep plan_service(const SetupInputs& inputs);

// deploy/clawmark.service
std::string_view user_unit_text();
// That text with `program` as what is started.
std::string user_unit_for(const std::string& program);

std::string config_folder();  // $XDG_CONFIG_HOME/clawmark, else ~/.config/clawmark
// What openclaw has to be told so that it is the host that was found.
std::map<std::string, std::string> host_environment(const std::string& state_dir);

// --- the receipt: <state folder>/setup.json, 0600
std::string receipt_path();  // $XDG_STATE_HOME/clawmark/setup.json, else ~/.local/state/…
// An empty list when there is none. Error: invalid when it cannot be read.
Result<json::array> read_receipt();
// Puts the step's record in front of what was done before; removes the file when nothing is left.
Status write_receipt(const json::array& steps);

// --- taking back
struct Undo {
  std::string name;
  std::vector<std::string> actions;
  std::string left;  // what was left as it is, and why; empty: nothing
};
// What taking a record back would do, and what it leaves; with `really` it is done.
Result<Undo> undo_step(const json::object& record, bool really);

// The store's own files (never a folder that holds anything else), for --purge-memory.
std::vector<std::string> memory_files(const Config& config);

}  // namespace clawmark
