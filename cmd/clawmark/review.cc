// clawmark review: extracted facts that nobody has confirmed for long.

#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_review(Registry& registry) {
  auto days = std::make_shared<std::int64_t>(90);
  Arguments& arguments =
      registry.add("review", "extracted facts not reinforced lately", [days](Session& session) {
        const auto answer =
            session.ask("review", session.with_eyes(json::object{{"days", *days}}), Access::kRead);
        return session.finish(answer, [&](const json::object& found) {
          const auto* details = find_object(found, "details");
          print_rows(details == nullptr ? found : *details, "facts",
                     {"key", "value", "days_since_reinforced:days",
                      "effective_confidence:confidence", "holder"},
                     session.config().timezone, "nothing to review");
        });
      });
  arguments.number("--days", *days, 0, 36500, "not reinforced for so many days");
}

}  // namespace clawmark
