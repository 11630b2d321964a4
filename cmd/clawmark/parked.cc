// clawmark parked list | retry: what a worker set aside, and once more.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_parked(Registry& registry) {
  registry.add_group("parked", "what was set aside, with the reason");
  registry.add("parked list", "items that a worker set aside", [](Session& session) {
    return session.finish(session.ask("parked_list", {}, Access::kRead),
                          [&](const json::object& found) {
                            print_rows(found, "parked",
                                       {"event", "worker", "message", "reason", "detail",
                                        "attempts", "parked_at:parked", "retry"},
                                       session.config().timezone, "nothing is parked");
                          });
  });
  auto event = std::make_shared<std::int64_t>(0);
  Arguments& arguments =
      registry.add("parked retry", "try parked items again", [event](Session& session) {
        json::object params;
        if (*event > 0) params["event"] = *event;
        return session.finish(session.ask("parked_retry", std::move(params), Access::kWrite),
                              [](const json::object& done) {
                                std::printf("%lld to be tried again\n",
                                            static_cast<long long>(get_int(done, "retried")));
                              });
      });
  arguments.number("event", *event, 1, INT64_MAX, "number of the item; without it, all");
}

}  // namespace clawmark
