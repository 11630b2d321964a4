#pragma once
// What the subcommands of `clawmark` share: options, where an answer comes from, how it is printed.
// One file per subcommand; each adds itself to the command line and answers with an exit code.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "base/json.h"
#include "base/result.h"
#include "cmd/rows.h"

namespace clawmark {

// Exit codes, documented in docs/operations.md.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,     // the command failed, or verify or doctor found something
  kExitUsage = 2,      // wrong arguments or configuration
  kExitWorkLeft = 3,   // reconcile: there is still work, and the answer says how much
  kExitBlocked = 4,    // reconcile --wait: what is left is blocked, and waiting does not help
  kExitNoStore = 69,   // there is no store yet (EX_UNAVAILABLE)
  kExitUnusable = 78,  // the store cannot be used as it is (EX_CONFIG)
  kExitHeld = 75,      // another process holds the store (EX_TEMPFAIL)
};

struct Globals {
  std::string config_file;
  std::map<std::string, std::string> flags;  // configuration keys given as flags
  bool json = false;
  std::string as, agent, session_key;  // through whose eyes
};

enum class Access {
  kRead,    // without a daemon: a read-only connection
  kWrite,   // without a daemon: takes the store's lock, does it, lets go; the store must be there
  kCreate,  // as kWrite, and makes the store when it is not there
};

class Session {
 public:
  explicit Session(const Globals& globals);
  ~Session();

  const Globals& globals() const { return globals_; }
  const Config& config();  // loaded at first use
  // The answer of /v1/admin/<command>: from the daemon when one listens, else worked out here.
  Result<json::object> ask(std::string_view command, json::object params, Access access,
                           std::int64_t timeout_ms = 30'000);
  // GET on the daemon, or the same answer worked out here.
  Result<json::object> get(std::string_view target);
  bool daemon_answers();

  // Adds --as, --agent and --session-key to the parameters of a question.
  json::object with_eyes(json::object params) const;

  // Prints an answer: with --json as it is, else by `text`. An error goes to stderr; gives the exit
  // code.
  int finish(const Result<json::object>& answer,
             const std::function<void(const json::object&)>& text);
  int fail(const Error& error) const;

 private:
  struct Local;
  Result<json::object> call_daemon(std::string_view method, std::string_view target,
                                   const std::string& body, std::int64_t timeout_ms);
  Result<Local*> local(Access access);

  const Globals& globals_;
  std::unique_ptr<Config> config_;
  bool problems_told_ = false;
  std::unique_ptr<Local> local_;
};

// A subcommand registers itself; `run` is called when it was chosen.
using Run = std::function<int(Session&)>;

// Options of one subcommand. Names without dashes are positions ("query"); all live until it has
// run.
class Arguments {
 public:
  virtual ~Arguments() = default;
  virtual void text(const char* name, std::string& value, const char* help, bool required) = 0;
  virtual void number(const char* name, std::int64_t& value, std::int64_t min, std::int64_t max,
                      const char* help) = 0;
  virtual void flag(const char* name, bool& value, const char* help) = 0;
};

class Registry {
 public:
  virtual ~Registry() = default;
  // "parked list": a subcommand of a group, which must have been added before.
  virtual Arguments& add(const char* name, const char* help, Run run) = 0;
  virtual void add_group(const char* name, const char* help) = 0;
};

void add_status(Registry& registry);
void add_search(Registry& registry);
void add_facts(Registry& registry);
void add_set(Registry& registry);
void add_forget(Registry& registry);
void add_review(Registry& registry);
void add_reconcile(Registry& registry);
void add_inject(Registry& registry);
void add_events(Registry& registry);
void add_parked(Registry& registry);
void add_rebuild(Registry& registry);
void add_verify(Registry& registry);
void add_doctor(Registry& registry);
void add_config(Registry& registry);
void add_restore(Registry& registry);
void add_graph(Registry& registry);
void add_episodes(Registry& registry);
void add_files(Registry& registry);
void add_history(Registry& registry);
void add_explain(Registry& registry);
void add_expand(Registry& registry);
void add_unmerge(Registry& registry);
void add_dissolve(Registry& registry);

}  // namespace clawmark
