// clawmark rebuild: folds the log again into a new generation, without a model; the old one serves
// meanwhile.

#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_rebuild(Registry& registry) {
  auto projection = std::make_shared<std::string>();
  Arguments& arguments = registry.add(
      "rebuild", "fold the log again; no model is called", [projection](Session& session) {
        json::object params;
        if (!projection->empty()) params["projection"] = *projection;
        const auto answer =
            session.ask("rebuild", std::move(params), Access::kWrite, 24 * 3'600'000);
        return session.finish(answer, [&](const json::object& done) {
          print_rows(done, "projections", {"name", "generation", "position", "digest"},
                     session.config().timezone, "nothing was rebuilt");
        });
      });
  arguments.text("projection", *projection, "facts, messages, …; without it, all", false);
}

}  // namespace clawmark
