// clawmark verify: the log's chain, every projection against a fresh fold, the indexes against the
// log, texts and vectors against their names. Exit code 1 when something differs.

#include <cstdio>
#include <utility>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_verify(Registry& registry) {
  registry.add(
      "verify", "check the log's chain, texts and vectors, and fold everything anew to compare",
      [](Session& session) -> int {
        const auto answer = session.ask("verify", {}, Access::kWrite, 24 * 3'600'000);
        const int code = session.finish(answer, [&](const json::object& found) {
          if (const auto* log = find_object(found, "log")) {
            std::printf("log: %s events, dense %s, chain %s\n", cell(*log, "events", "UTC").c_str(),
                        cell(*log, "dense", "UTC").c_str(),
                        cell(*log, "chain_valid", "UTC").c_str());
          }
          std::printf("vault: %s texts; %s vectors\n", cell(found, "texts", "UTC").c_str(),
                      cell(found, "vectors", "UTC").c_str());
          print_rows(found, "projections", {"name", "equal", "live", "rebuilt"},
                     session.config().timezone, "");
          for (const auto& [list, mark] : {std::pair{"notes", '*'}, std::pair{"problems", '!'}}) {
            const auto* lines = find_array(found, list);
            for (const auto& line : lines != nullptr ? *lines : json::array()) {
              if (line.is_string()) std::printf("%c %s\n", mark, line.get_string().c_str());
            }
          }
        });
        if (code != kExitOk) return code;
        return get_bool(*answer, "ok") ? kExitOk : kExitFailed;
      });
}

}  // namespace clawmark
