// clawmark web: the memory in a browser of this machine.

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/files.h"
#include "cmd/clawmark/outward.h"
#include "cmd/console_port.h"
#include "cmd/new_id.h"
#include "cmd/unix_client.h"
#include "cmd/web/web_page.h"
#include "serve/http_server.h"

namespace clawmark {
namespace {

constexpr std::int64_t kAnswerMs = 60'000;

struct Options {
  std::string db;
  std::int64_t port = 0;
};

int wait_for_the_end() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
  int signal = 0;
  ::sigwait(&set, &signal);
  return kExitOk;
}

void block_ends() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int serve_page(Session& session, const Options& options) {
  Config config = session.config();
  if (!options.db.empty()) config.db_path = options.db;
  const auto file = stat_file(config.db_path);
  const bool stored = file.has_value() && file->size > 0;
  if (!stored && (!options.db.empty() || !is_listening(config.socket))) {
    return session.fail(make_error(ErrorKind::kNotFound, "store", "missing",
                                   "there is no store at " + config.db_path +
                                       " yet: start clawmarkd once, or correct the path"));
  }
  block_ends();  // before there are threads
  ConsolePort port(std::move(config), !options.db.empty());
  const WebPage page([&port](const HttpCall& call) { return port.forward(call, kAnswerMs); },
                     session.with_eyes({}));
  HttpServerOptions server;
  server.tcp = TcpOptions{"127.0.0.1", static_cast<std::uint16_t>(options.port),
                          new_id() + new_id(), WebPage::is_open};
  const std::string token = server.tcp->token;
  const auto running =
      HttpServer::start(server, [&page](const HttpCall& call) { return page.answer(call); });
  if (!running.ok()) return session.fail(running.error());
  // Behind '#': a browser sends that part to nobody.
  const std::string url =
      "http://127.0.0.1:" + std::to_string((*running)->tcp_port()) + "/#token=" + token;
  if (session.globals().json) {
    std::printf("%s\n", to_text(json::object{{"url", url}}).c_str());
  } else {
    std::printf("Open in a browser on this machine (Ctrl-C ends it):\n%s\n", url.c_str());
  }
  std::fflush(stdout);
  const int code = wait_for_the_end();
  (*running)->stop();
  return code;
}

}  // namespace

void add_web(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("web", "look through the memory in a browser of this machine, until it is ended",
                   [options](Session& session) { return serve_page(session, *options); });
  arguments.text("--db", options->db,
                 "look at this store by itself, read only, without the service", false);
  arguments.number("--port", options->port, 0, 65535, "on 127.0.0.1; 0: any free one (default)");
}

}  // namespace clawmark
