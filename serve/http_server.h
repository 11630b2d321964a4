#pragma once
// HTTP/1.1 on a Unix socket, and on loopback TCP when asked for. Network and templates stay behind
// these structs.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/result.h"

namespace clawmark {

struct HttpCall {
  std::string method;                                        // "GET"
  std::string target;                                        // path and query, as sent
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
};

// Runs on a pool thread, several at once. An exception becomes a 500 without its text.
using HttpHandler = std::function<HttpAnswer(const HttpCall&)>;

struct TcpOptions {
  std::string address = "127.0.0.1";  // loopback only
  std::uint16_t port = 0;             // 0: any free one
  std::string token;                  // Authorization: Bearer <token>; may not be empty
  // Set where a page of ours is served: GET of these targets needs no token (they hold nothing of
  // anybody), and what the page itself asks is let in (tcp_rules.h).
  std::function<bool(std::string_view target)> is_open = nullptr;
};

struct HttpServerOptions {
  std::string socket_path;  // empty: none
  std::optional<TcpOptions> tcp;
  std::size_t threads = 4;       // for calls that answer soon
  std::size_t slow_threads = 2;  // for those that `is_slow` picks by their target
  std::function<bool(std::string_view target)> is_slow;
  std::size_t connections_max = 128;
  std::size_t header_bytes_max = kRequestHeaderMax;
  std::size_t body_bytes_max = kRequestBodyMax;
  std::int64_t request_ms = 5'000;  // from first byte to last of one request
  std::int64_t idle_ms = 120'000;   // between requests of a connection
  std::int64_t write_ms = 10'000;
  std::int64_t stop_ms = 3'000;  // stop() waits so long for answers under way
};

struct HttpServerCounts {
  std::uint64_t accepted = 0, refused = 0;  // connections; refused: over the cap
  std::uint64_t requests = 0, bad_requests = 0, timeouts = 0;
  std::size_t open = 0;
};

class HttpServer {
 public:
  // Listens at once. Socket mode 0600; a socket file of a dead process is replaced, a living one is
  // a conflict "in_use". Errors: invalid (path too long, no token, not loopback), retriable (bind).
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   HttpHandler handler);
  virtual ~HttpServer() = default;
  // No new connection or request; answers under way are sent, then all is closed and the socket
  // file removed.
  virtual void stop() = 0;
  virtual std::uint16_t tcp_port() const = 0;  // 0: no TCP
  virtual HttpServerCounts counts() const = 0;
};

}  // namespace clawmark
