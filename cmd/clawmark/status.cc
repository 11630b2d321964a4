// clawmark status: is it well, how far behind, what is set aside, what it cost.

#include "cmd/clawmark/command.h"

namespace clawmark {
void add_status(Registry& registry) {
  registry.add("status", "health, lag, what is set aside, cost so far", [](Session& session) {
    return session.finish(session.get("/v1/status"), [&](const json::object& answer) {
      print_status(answer, session.config().timezone);
    });
  });
}

}  // namespace clawmark
