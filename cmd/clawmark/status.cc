// clawmark status: one screen; exit code 1 while anything is red. Is it well, how far behind, what
// is set aside, what it cost.

#include <cstdio>
#include <memory>

#include "cmd/clawmark/command.h"

namespace clawmark {
namespace {

void print_sources(const json::object& status, const std::string& zone) {
  print_rows(
      status, "sources",
      {"carrier", "path", "state", "reason", "message", "streams", "newest_at:newest", "counters"},
      zone, "no history of OpenClaw has been found");
  std::printf(
      "\nOf a sessions folder are read: *.jsonl, reset and rotated archives, *.bak as copies. What "
      "is "
      "*.deleted counts as deleted by you.\nTrajectories, locks, files that begin with a dot and "
      "all "
      "else are passed over (docs/sources.md).\n");
}

}  // namespace

void add_status(Registry& registry) {
  auto only_sources = std::make_shared<bool>(false);
  registry
      .add("status", "health, lag, what is set aside, cost so far",
           [only_sources](Session& session) {
             const auto answer = session.get("/v1/status");
             const int code = session.finish(answer, [&](const json::object& status) {
               const std::string& zone = session.config().timezone;
               if (*only_sources) {
                 print_sources(status, zone);
               } else {
                 print_status(status, zone);
               }
             });
             if (code != kExitOk) return code;
             return get_string(*answer, "health") == "red" ? int{kExitFailed} : int{kExitOk};
           })
      .flag("--sources", *only_sources, "what is read, in which state, and by which rule");
}

}  // namespace clawmark
