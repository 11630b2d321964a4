// clawmark events: the log itself.

#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_events(Registry& registry) {
  struct Options {
    std::int64_t after = -1;
    std::int64_t limit = 20;
    std::string type;
  };
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "events", "the log: its newest events, or those after a number", [options](Session& session) {
        json::object params{{"limit", options->limit}};
        if (options->after >= 0) params["after"] = options->after;
        if (!options->type.empty()) params["type"] = options->type;
        const auto answer = session.ask("events", std::move(params), Access::kRead);
        return session.finish(answer, [&](const json::object& found) {
          print_rows(found, "events",
                     {"seq", "type", "agent", "session_key", "sender", "occurred",
                      "occurred_ms:occurred", "payload"},
                     session.config().timezone, "no events");
        });
      });
  arguments.number("--after", options->after, 0, INT64_MAX,
                   "events with a higher number, oldest first");
  arguments.number("--limit", options->limit, 1, 1000, "how many");
  arguments.text("--type", options->type, "only events of this type", false);
}

}  // namespace clawmark
