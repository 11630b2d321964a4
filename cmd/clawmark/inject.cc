// clawmark inject --dry-run: the block that a prompt would get, and why each line is in it.

#include <cstdio>
#include <memory>

#include "base/scope.h"
#include "cmd/clawmark/command.h"

namespace clawmark {
namespace {

// In a conversation: what the host would say of it. Otherwise through somebody's eyes.
json::object with_caller(const Session& session, json::object params) {
  const Globals& globals = session.globals();
  if (globals.session_key.empty()) return session.with_eyes(std::move(params));
  const SessionKey key = parse_session_key(globals.session_key);
  json::object caller{{"agent", globals.agent.empty() ? key.agent : globals.agent},
                      {"session_key", globals.session_key},
                      {"channel", key.channel},
                      {"trigger", "user"}};
  const auto colon = globals.as.rfind(':');
  if (!globals.as.empty()) {
    caller["sender_id"] = colon == std::string::npos ? globals.as : globals.as.substr(colon + 1);
  } else if (key.lane == Lane::kDirect) {
    caller["sender_id"] = key.peer.substr(0, key.peer.find(":thread:"));
  }
  params["caller"] = std::move(caller);
  return params;
}

// Why a prompt would get nothing, or less than it might.
std::string reason_of(const json::object& found) {
  const std::string skipped = get_string(found, "skipped"), refusal = get_string(found, "refusal");
  if (skipped == "inert") return "the configuration is incomplete: clawmark doctor";
  if (skipped == "incognito") return "this is an incognito session: memory is off";
  if (skipped == "lane") {
    return "memory is closed in this kind of session; inject_sessions opens it";
  }
  if (refusal == "other_person") {
    return "this is a direct chat with somebody else than the one who speaks; leave out --as";
  }
  if (refusal == "no_sender") return "who speaks is not known; say it with --as (telegram:101)";
  if (refusal == "shared_surface") {
    return "others use this surface, too; say who speaks with --as (owner)";
  }
  if (refusal == "unknown_key") return "the session key has no known shape";
  if (!refusal.empty()) return "who is asking is not known (" + refusal + ")";
  if (skipped == "no_prompt") return "without a prompt only facts are shown";
  return {};
}

}  // namespace

void add_inject(Registry& registry) {
  struct Options {
    bool dry_run = false;
    std::string prompt, session_id;
    std::int64_t budget = 0;
  };
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("inject", "the block that a prompt would get", [options](Session& session) {
        if (!options->dry_run) {
          std::fprintf(stderr,
                       "clawmark: only the host injects; add --dry-run to see what it would get\n");
          return static_cast<int>(kExitUsage);
        }
        json::object params{{"prompt", options->prompt}};
        if (!options->session_id.empty()) params["session_id"] = options->session_id;
        if (options->budget > 0) params["budget_chars"] = options->budget;
        const auto answer =
            session.ask("inject", with_caller(session, std::move(params)), Access::kRead);
        return session.finish(answer, [](const json::object& found) {
          const std::string facts = get_string(found, "facts_block"),
                            recall = get_string(found, "recall_block");
          if (!facts.empty()) std::printf("%s\n", facts.c_str());
          if (!recall.empty()) std::printf("%s%s\n", facts.empty() ? "" : "\n", recall.c_str());
          const std::string reason = reason_of(found);
          if (facts.empty() && recall.empty()) {
            std::printf("(nothing: %s)\n",
                        reason.empty() ? "no fact is known here, and no message bears on the prompt"
                                       : reason.c_str());
          } else if (!reason.empty()) {
            std::printf("(%s)\n", reason.c_str());
          }
          if (const auto* short_of = find_array(found, "degraded");
              short_of && !short_of->empty()) {
            std::string parts;
            for (const auto& part : *short_of) {
              parts += (parts.empty() ? "" : ", ") + std::string(view(part.as_string()));
            }
            std::fprintf(stderr, "came short: %s\n", parts.c_str());
          }
        });
      });
  arguments.text("prompt", options->prompt, "the newest message of the user", false);
  arguments.flag("--dry-run", options->dry_run, "print it; nothing is changed");
  arguments.text("--session-id", options->session_id, "leave out what this session already holds",
                 false);
  arguments.number("--budget", options->budget, 1, 12000, "characters, at most");
}

}  // namespace clawmark
