// clawmark mcp: the memory's tools for any program that speaks the Model Context Protocol, over
// standard input and output. Nothing but the protocol is written to standard output.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "base/utf8.h"
#include "cmd/clawmark/outward.h"
#include "cmd/mcp_server.h"
#include "cmd/unix_client.h"
#include "serve/caller.h"

namespace clawmark {
namespace {

// Whose memory it is, for the life of the process.
struct Bound {
  std::string socket;
  json::object eyes;  // agent, as
};

McpOutcome ask_daemon(const Bound& bound, const McpCall& call, const std::atomic<bool>& stop) {
  json::object body = bound.eyes;
  body["params"] = call.arguments;
  const auto answer = unix_request(bound.socket, "POST", "/v1/tools/" + call.tool->name,
                                   to_text(body), call.tool->timeout_ms, &stop);
  if (!answer.ok()) {
    const bool absent = answer.error().reason == "absent";
    return {(absent ? "memory service not running (" : "memory service did not answer (") +
                answer.error().message + ")" +
                (absent ? ". Start clawmarkd, for example with: systemctl --user start clawmark"
                        : ". The user can check with: clawmark doctor"),
            true};
  }
  const auto parsed = parse_json(answer->body);
  if (!parsed.ok() || !parsed->is_object()) return {"the memory service's answer is no JSON", true};
  const json::object& object = parsed->get_object();
  if (answer->status >= 400) {
    const auto* error = find_object(object, "error");
    return {"memory service refused: " +
                (error == nullptr ? std::string("no reason given") : get_string(*error, "message")),
            true};
  }
  return {get_string(object, "text"), !get_bool(object, "ok", true)};
}

class Loop {
 public:
  Loop(McpServer& server, Bound bound) : server_(server), bound_(std::move(bound)) {}
  ~Loop() {
    for (Running& one : running_) one.thread.join();
  }

  // Until the other side closes; then the calls under way are answered.
  int run() {
    std::signal(SIGPIPE, SIG_IGN);
    McpFrames frames;
    char buffer[65536];
    while (!broken_) {
      const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      react(frames.feed({buffer, static_cast<std::size_t>(got)}));
    }
    react(frames.end());
    return broken_ ? kExitFailed : kExitOk;
  }

 private:
  struct Running {
    std::string key;
    std::atomic<bool> stop = false, done = false;
    std::thread thread;
  };

  void react(const std::vector<McpFrames::Frame>& frames) {
    for (const auto& frame : frames) {
      McpReaction reaction = server_.take(frame);
      if (reaction.call) start(*std::move(reaction.call));
      if (!reaction.reply.empty()) write_line(reaction.reply);
      for (Running& one : running_) {
        if (!one.done && one.key == reaction.cancelled) one.stop = true;
      }
    }
  }

  void start(McpCall call) {
    running_.remove_if([](Running& one) {
      if (!one.done) return false;
      one.thread.join();
      return true;
    });
    Running& one = running_.emplace_back();
    one.key = call.key;
    one.thread = std::thread([this, &one, call = std::move(call)] {
      const std::string line = server_.finish(call.key, ask_daemon(bound_, call, one.stop));
      if (!line.empty()) write_line(line);
      one.done = true;
    });
  }

  void write_line(std::string line) {
    line.push_back('\n');
    const std::lock_guard lock(out_);
    std::string_view rest = line;
    while (!rest.empty() && !broken_) {
      const ssize_t put = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) {
        broken_ = true;
        return;
      }
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
  }

  McpServer& server_;
  const Bound bound_;
  std::mutex out_;
  std::atomic<bool> broken_ = false;
  std::list<Running> running_;
};

// "clawmark,wc" → the families; error for one that does not exist.
Result<std::vector<std::string>> families_of(std::string_view list) {
  std::vector<std::string> all, out;
  for (const McpTool& tool : mcp_tools()) {
    if (all.empty() || all.back() != tool.family) all.push_back(tool.family);
  }
  if (list.empty()) return all;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const std::string name(trim(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (std::find(all.begin(), all.end(), name) == all.end()) {
      return make_error(ErrorKind::kInvalid, "mcp", "bad_family",
                        "--families takes clawmark, wc and rc, separated by commas");
    }
    out.push_back(name);
  }
  return out;
}

int serve_mcp(Session& session, const std::string& family_list) {
  json::object eyes = session.with_eyes({});
  const std::string as = get_string(eyes, "as");
  if (as.empty()) {
    return session.fail(make_error(
        ErrorKind::kInvalid, "mcp", "no_as",
        "say whose memory this is: --as owner, agent, a person (telegram:101), group:KEY or "
        "session:KEY"));
  }
  const std::string agent = get_string(eyes, "agent");
  if (const auto sight = sight_as(agent.empty() ? "main" : agent, as);
      !sight.ok() && (!agent.empty() || !as.starts_with("agent:"))) {
    return session.fail(sight.error());
  }
  const auto families = families_of(family_list);
  if (!families.ok()) return session.fail(families.error());
  Bound bound{session.config().socket, std::move(eyes)};
  if (!is_listening(bound.socket)) {
    std::fprintf(stderr, "clawmark: no daemon listens on %s yet; calls say so until one does\n",
                 bound.socket.c_str());
  }
  McpServer server(CLAWMARK_VERSION, *families);
  return Loop(server, std::move(bound)).run();
}

}  // namespace

void add_mcp(Registry& registry) {
  auto families = std::make_shared<std::string>();
  Arguments& arguments = registry.add(
      "mcp", "serve the tools to another program (Model Context Protocol over stdio); needs --as",
      [families](Session& session) { return serve_mcp(session, *families); });
  arguments.text("--families", *families, "which tools: clawmark, wc, rc (default all)", false);
}

}  // namespace clawmark
