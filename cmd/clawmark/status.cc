// clawmark status: one screen; exit code 1 while anything is red. Is it well, how far behind, what
// is set aside, what it cost.

#include "cmd/clawmark/command.h"

namespace clawmark {
void add_status(Registry& registry) {
  registry.add("status", "health, lag, what is set aside, cost so far", [](Session& session) {
    const auto answer = session.get("/v1/status");
    const int code = session.finish(answer, [&](const json::object& status) {
      print_status(status, session.config().timezone);
    });
    if (code != kExitOk) return code;
    return get_string(*answer, "health") == "red" ? int{kExitFailed} : int{kExitOk};
  });
}

}  // namespace clawmark
