// clawmark backup: a proven copy of the store, made beside the running daemon.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/outward.h"
#include "log/copy.h"

namespace clawmark {

void add_backup(Registry& registry) {
  auto file = std::make_shared<std::string>();
  Arguments& arguments =
      registry.add("backup", "a proven copy of the store; the daemon may run", [file](Session& s) {
        const auto copied = copy_store(s.config().db_path, *file);
        if (!copied.ok()) return s.fail(copied.error());
        const json::object answer{{"file", *file},
                                  {"events", copied->events},
                                  {"bytes", copied->bytes},
                                  {"verified", true}};
        return s.finish(answer, [](const json::object& done) {
          std::printf("%s: %lld events, %lld bytes; pages and chain are whole\n",
                      get_string(done, "file").c_str(),
                      static_cast<long long>(get_int(done, "events")),
                      static_cast<long long>(get_int(done, "bytes")));
        });
      });
  arguments.text("file", *file, "where the copy goes; it must not be there yet", true);
}

}  // namespace clawmark
