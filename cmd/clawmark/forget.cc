// clawmark forget KEY: the fact is gone, and stays gone.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_forget(Registry& registry) {
  auto key = std::make_shared<std::string>();
  Arguments& arguments =
      registry.add("forget", "forget a fact; it stays forgotten", [key](Session& session) {
        const auto answer =
            session.ask("forget", session.with_eyes(json::object{{"key", *key}}), Access::kWrite);
        return session.finish(answer, [](const json::object& done) {
          std::printf("%s\n", get_string(done, "text", "done").c_str());
        });
      });
  arguments.text("key", *key, "key of the fact", true);
}

}  // namespace clawmark
