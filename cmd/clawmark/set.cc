// clawmark set KEY VALUE: states a fact; it wins over what was extracted.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_set(Registry& registry) {
  struct Options {
    std::string key, value;
  };
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "set", "state a fact; it wins over what was extracted", [options](Session& session) {
        json::object params{{"key", options->key}, {"value", options->value}};
        const auto answer =
            session.ask("set", session.with_eyes(std::move(params)), Access::kWrite);
        return session.finish(answer, [](const json::object& done) {
          std::printf("%s\n", get_string(done, "text", "done").c_str());
        });
      });
  arguments.text("key", options->key, "such as pref.editor; under pref. project. user. lesson.",
                 true);
  arguments.text("value", options->value, "at most 2,000 characters", true);
}

}  // namespace clawmark
