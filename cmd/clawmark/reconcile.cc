// clawmark reconcile: runs the jobs now. Says what remains; exit code 3 when something does.

#include <cstdio>
#include <memory>
#include <vector>

#include "cmd/clawmark/command.h"
#include "cmd/rows.h"
#include "cmd/terminal.h"

namespace clawmark {
namespace {

constexpr std::int64_t kStepMs = 10'000;

std::int64_t left(const json::object& answer) {
  const auto* details = find_object(answer, "details");
  const auto* remaining = find_object(details == nullptr ? answer : *details, "remaining");
  std::int64_t sum = 0;
  if (remaining != nullptr) {
    for (const auto& stage : *remaining) sum += get_int(*remaining, std::string(stage.key()));
  }
  return sum;
}

bool is_done(const json::object& answer) {
  const auto* details = find_object(answer, "details");
  return get_bool(details == nullptr ? answer : *details, "done");
}

bool is_stuck(const json::object& answer) {
  const auto* details = find_object(answer, "details");
  return get_bool(details == nullptr ? answer : *details, "stuck");
}

// "graph: blocked: http_401 since …; …"
std::vector<std::string> blocked_lines(const json::object& answer) {
  const auto* details = find_object(answer, "details");
  const auto* blocked = find_array(details == nullptr ? answer : *details, "blocked");
  std::vector<std::string> out;
  for (std::size_t n = 0; blocked != nullptr && n < blocked->size(); ++n) {
    if (!(*blocked)[n].is_object()) continue;
    const json::object& stage = (*blocked)[n].get_object();
    out.push_back(get_string(stage, "worker") + " cannot go on: " + get_string(stage, "why"));
  }
  return out;
}

const json::array* unread_of(const json::object& answer) {
  const auto* details = find_object(answer, "details");
  return find_array(details == nullptr ? answer : *details, "unread");
}

int reconcile(Session& session, bool wait, bool drain) {
  ProgressBar bar(stderr);
  std::int64_t most = 0;
  for (;;) {
    json::object params{{"drain", drain}, {"wait_ms", kStepMs}};
    const auto answer =
        session.ask("reconcile", std::move(params), Access::kCreate, kStepMs + 20'000);
    const bool stuck = answer.ok() && !is_done(*answer) && is_stuck(*answer);
    if (answer.ok() && wait && !is_done(*answer) && !stuck) {
      most = std::max(most, left(*answer));
      bar.show("reconcile", most - left(*answer), most);
      continue;
    }
    bar.clear();
    const int code = session.finish(answer, [](const json::object& found) {
      if (is_done(found)) {
        std::printf("nothing left to do\n");
        print_unread(unread_of(found));
        return;
      }
      std::printf("%s left:", format_count(left(found)).c_str());
      const auto* details = find_object(found, "details");
      const auto* remaining = find_object(details == nullptr ? found : *details, "remaining");
      if (remaining != nullptr) {
        for (const auto& stage : *remaining) {
          std::printf(" %s %s", std::string(stage.key()).c_str(),
                      cell(*remaining, std::string(stage.key()), "UTC").c_str());
        }
      }
      std::printf("; `clawmark status` says why\n");
      for (const std::string& line : blocked_lines(found)) std::printf("%s\n", line.c_str());
      print_unread(unread_of(found));
    });
    if (code != kExitOk) return code;
    if (wait && stuck) return kExitBlocked;
    return is_done(*answer) ? kExitOk : kExitWorkLeft;
  }
}

// What is waiting for models, and what it will cost about. Asks no model.
int estimate(Session& session) {
  const auto answer = session.ask("estimate", {}, Access::kCreate, 600'000);
  return session.finish(answer, [](const json::object& guess) {
    std::printf("%s messages to embed, about %s tokens\n",
                format_count(get_int(guess, "messages_to_embed")).c_str(),
                format_count(get_int(guess, "embed_tokens")).c_str());
    std::printf("%s messages to look through for facts, about %s tokens\n",
                format_count(get_int(guess, "messages_to_extract")).c_str(),
                format_count(get_int(guess, "extract_tokens")).c_str());
    std::printf("about %.2f USD; built-in models cost nothing\n", get_double(guess, "usd"));
  });
}

}  // namespace

void add_reconcile(Registry& registry) {
  struct Options {
    bool wait = false, no_drain = false, estimate = false;
  };
  auto options = std::make_shared<Options>();
  Arguments& arguments = registry.add(
      "reconcile", "run the jobs now; exit code 3 when work is left", [options](Session& session) {
        if (options->estimate) return estimate(session);
        return reconcile(session, options->wait, !options->no_drain);
      });
  arguments.flag("--wait", options->wait,
                 "until nothing is left; exit code 4 when what is left is blocked");
  arguments.flag("--estimate", options->estimate,
                 "only say what is waiting for models and what it will cost");
  arguments.flag("--no-drain", options->no_drain,
                 "only what is ripe: leave short tails of live conversations");
}

}  // namespace clawmark
