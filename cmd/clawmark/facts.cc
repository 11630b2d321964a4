// clawmark facts: what is known now.

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_facts(Registry& registry) {
  registry.add("facts", "what is known now, in the order of the prompt", [](Session& session) {
    const auto answer = session.ask("facts", session.with_eyes({}), Access::kRead);
    return session.finish(answer, [&](const json::object& found) {
      print_rows(found, "facts",
                 {"key", "value", "effective_confidence:confidence", "source", "date", "holder",
                  "subject", "injected"},
                 session.config().timezone, "no facts");
    });
  });
}

}  // namespace clawmark
