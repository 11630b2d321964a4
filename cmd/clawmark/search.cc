// clawmark search: facts and past messages about something, as the agent would find them.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_search(Registry& registry) {
  struct Options {
    std::string query, at, in;
    std::int64_t limit = 0;
  };
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "search", "facts and past messages about something", [options](Session& session) {
        json::object params{{"query", options->query}};
        if (!options->at.empty()) params["at"] = options->at;
        if (options->limit > 0) params["limit"] = options->limit;
        if (!options->in.empty()) {
          params["scope"] = options->in;
          const auto found =
              session.ask("wc_search", session.with_eyes(std::move(params)), Access::kRead);
          return session.finish(found, [](const json::object& shown) {
            std::printf("%s\n", get_string(shown, "text").c_str());
          });
        }
        const auto answer =
            session.ask("search", session.with_eyes(std::move(params)), Access::kRead);
        return session.finish(answer, [&](const json::object& found) {
          const auto& zone = session.config().timezone;
          if (!get_bool(found, "ok", true)) {
            std::printf("%s\n", get_string(found, "text").c_str());
            return;
          }
          const auto* details = find_object(found, "details");
          const json::object& body = details == nullptr ? found : *details;
          print_rows(body, "facts", {"key", "value", "confidence", "source", "date", "holder"},
                     zone, "no facts");
          std::printf("\n");
          print_rows(body, "recalled",
                     {"date", "role", "speaker", "excerpt", "score", "session_key", "id"}, zone,
                     "no past messages");
          print_notes(body);
        });
      });
  arguments.text("query", options->query, "what to look for", true);
  arguments.number("--limit", options->limit, 1, 50, "how many past messages at most");
  arguments.text("--in", options->in,
                 "in the world model instead: all, graph, episodes, summaries or transcript",
                 false);
  arguments.text("--at", options->at,
                 "as of then: 2026-11-20, 2026-11-20T18:00:00Z or the number of an event", false);
}

}  // namespace clawmark
