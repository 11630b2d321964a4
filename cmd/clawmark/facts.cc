// clawmark facts: what is known now, or was known then.

#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_facts(Registry& registry) {
  auto at = std::make_shared<std::string>();
  Arguments& arguments = registry.add(
      "facts", "what is known now, in the order of the prompt", [at](Session& session) {
        json::object params;
        if (!at->empty()) params["at"] = *at;
        const auto answer =
            session.ask("facts", session.with_eyes(std::move(params)), Access::kRead);
        return session.finish(answer, [&](const json::object& found) {
          print_rows(found, "facts",
                     {"key", "value", "effective_confidence:confidence", "source", "date", "holder",
                      "subject", "injected"},
                     session.config().timezone, "no facts");
          print_notes(found);
        });
      });
  arguments.text("--at", *at,
                 "as of then: 2026-11-20, 2026-11-20T18:00:00Z or the number of an event", false);
}

}  // namespace clawmark
