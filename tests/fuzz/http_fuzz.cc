#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "log/store.h"
#include "projections/rebuild.h"
#include "serve/api.h"
#include "tests/fuzz/targets.h"

namespace clawmark::fuzz {
namespace {

constexpr const char* kTargets[] = {"/v1/inject",
                                    "/v1/tools/clawmark_set",
                                    "/v1/tools/clawmark_search",
                                    "/v1/notify",
                                    "/v1/tools/clawmark_review",
                                    "/v1/tools/clawmark_forget",
                                    "/v1/hello",
                                    "/v1/status",
                                    "/metrics",
                                    "/v1/admin/events",
                                    "/v1/admin/search",
                                    "/v1/admin/inject",
                                    "/v1/admin/facts",
                                    "/v1/tools/nothing"};

// An empty store, served on a socket.
class Served {
 public:
  Served() {
    char name[] = "/tmp/clawmark-fuzz-XXXXXX";
    dir_ = ::mkdtemp(name);
    StoreOptions where;
    where.path = dir_ + "/clawmark.db";
    auto store = Store::open(where, clock_);
    require(store.ok(), "a store");
    const auto messages = make_messages_projection();
    const auto facts = make_facts_projection({});
    Projection* const list[] = {messages.get(), facts.get()};
    require(ensure_projections(store->db(), list).ok(), "its projections");
    ServingParts parts;
    auto config = std::make_shared<Config>();
    config->db_path = where.path;
    config->timezone = "UTC";
    parts.config = config;
    parts.clock = &clock_;
    parts.version = "0";
    parts.open_reader = [path = where.path] { return Store::open_read_only(path); };
    parts.new_id = [] { return std::string("00000000-0000-4000-8000-000000000000"); };
    serving_ = std::make_unique<Serving>(std::move(parts));
    HttpServerOptions options;
    options.socket_path = dir_ + "/s";
    options.threads = options.slow_threads = 1;
    auto server = HttpServer::start(
        options, [this](const HttpCall& call) { return answer_call(*serving_, call); });
    require(server.ok(), "a server");
    server_ = std::move(server).value();
  }
  ~Served() {
    server_->stop();
    std::filesystem::remove_all(dir_);
  }
  // What comes back for these bytes, until the server closes.
  std::string send(std::string_view bytes) {
    const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (dir_ + "/s").c_str(), sizeof address.sun_path - 1);
    require(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
            "the server still listens");
    (void)!::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(fd.get(), SHUT_WR);
    std::string answer;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(got));
    }
    return answer;
  }
  Serving& serving() { return *serving_; }

 private:
  std::string dir_;
  ManualClock clock_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace

// An even first byte: the rest are the bytes of a connection. Odd: it picks a target, the rest is
// the body.
void fuzz_http(std::string_view data) {
  static Served served;
  if (data.empty()) return;
  const auto first = static_cast<unsigned char>(data[0]);
  const std::string_view rest = data.substr(1);
  if (first % 2 == 0) {
    const std::string answer = served.send(rest);
    require(answer.empty() || answer.starts_with("HTTP/1.1 "), "an answer or nothing");
    return;
  }
  HttpCall call;
  call.target = kTargets[first / 2 % std::size(kTargets)];
  call.method = call.target == "/metrics" || call.target == "/v1/status" ? "GET" : "POST";
  call.body = std::string(rest);
  const HttpAnswer answer = answer_call(served.serving(), call);
  require(answer.status >= 200 && answer.status < 600, "a status");
  require(answer.status != 500, "no body is an error of ours");
  if (answer.content_type != "application/json") return;
  const auto parsed = parse_json(answer.body);
  require(parsed.ok() && parsed->is_object(), "a JSON object");
  require(get_int(parsed->get_object(), "protocol") == kProtocol, "the protocol's number");
}

}  // namespace clawmark::fuzz
