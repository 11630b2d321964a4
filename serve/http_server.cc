// The one translation unit that instantiates Beast's server side. Callbacks, not coroutines: g++ 12
// miscompiles some of those.
#include "serve/http_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <set>
#include <thread>

#include "base/logging.h"
#include "base/utf8.h"
#include "serve/socket_file.h"
#include "serve/tcp_rules.h"

namespace clawmark {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Stream = beast::basic_stream<asio::generic::stream_protocol, asio::any_io_executor>;
using std::chrono::milliseconds;

constexpr std::size_t kDrainBytesMax =
    8u << 20;  // read and dropped after a refusal, so that it is seen
constexpr std::int64_t kDrainMs = 1'000;

HttpAnswer error_answer(int status, std::string_view code, std::string_view message) {
  std::string body = R"({"protocol":1,"error":{"code":")";
  body.append(code).append(R"(","message":")").append(message).append(R"("}})");
  return {status, "application/json", std::move(body), {}};
}

class Server;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Server& server, asio::generic::stream_protocol::socket socket, bool tcp)
      : server_(server), stream_(std::move(socket)), tcp_(tcp) {}
  void wait_for_request();
  void stop();   // closes when idle, else after the answer
  void close();  // now

 private:
  void on_first_bytes(beast::error_code error, std::size_t bytes);
  void read_request();
  void on_request(beast::error_code error);
  void dispatch();
  void answer(HttpAnswer answer, bool keep);
  void on_written(beast::error_code error, bool keep);
  void drain();
  std::optional<HttpAnswer> refuse() const;

  Server& server_;
  Stream stream_;
  const bool tcp_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::size_t drained_ = 0;
  enum class State { kIdle, kReading, kHandling, kWriting, kClosed } state_ = State::kIdle;
  bool stopping_ = false;
};

class Server final : public HttpServer {
 public:
  Server(const HttpServerOptions& options, HttpHandler handler)
      : options_(options),
        handler_(std::move(handler)),
        pool_(std::max<std::size_t>(options.threads, 1)),
        slow_pool_(std::max<std::size_t>(options.slow_threads, 1)) {}
  ~Server() override { stop(); }

  Status listen();
  void run() {
    thread_ = std::thread([this] { io_.run(); });
  }
  void stop() override;
  std::uint16_t tcp_port() const override { return tcp_port_; }
  HttpServerCounts counts() const override {
    return {accepted.load(),     refused.load(),  requests.load(),
            bad_requests.load(), timeouts.load(), open.load()};
  }

  const HttpServerOptions& options() const { return options_; }
  HttpAnswer handle(const HttpCall& call) const {
    try {
      return handler_(call);
    } catch (const std::exception&) {
      log_error("http", "a handler threw; the call got a 500");
      return error_answer(500, "internal", "the daemon met a bug; see its log");
    }
  }
  asio::thread_pool& pool_for(std::string_view target) {
    return options_.is_slow && options_.is_slow(target) ? slow_pool_ : pool_;
  }
  void forget(const std::shared_ptr<Session>& session) {
    if (sessions_.erase(session) != 0) --open;
    if (stopping_ && sessions_.empty()) stop_timer_.cancel();
  }

  std::atomic<std::uint64_t> accepted{0}, refused{0}, requests{0}, bad_requests{0}, timeouts{0};
  std::atomic<std::size_t> open{0};

 private:
  Status listen_unix();
  Status listen_tcp();
  template <class Acceptor>
  void accept(Acceptor& acceptor, bool tcp);
  void begin_stop();

  const HttpServerOptions options_;
  const HttpHandler handler_;
  asio::io_context io_{1};
  asio::local::stream_protocol::acceptor unix_acceptor_{io_};
  asio::ip::tcp::acceptor tcp_acceptor_{io_};
  asio::steady_timer stop_timer_{io_};
  asio::steady_timer retry_timer_{io_};
  asio::thread_pool pool_, slow_pool_;
  std::set<std::shared_ptr<Session>> sessions_;
  std::thread thread_;
  std::atomic<bool> stopped_{false};
  bool stopping_ = false;  // on the network thread
  std::uint16_t tcp_port_ = 0;
  ino_t socket_inode_ = 0;
};

// --- Session, all on the network thread
// -----------------------------------------------------------

void Session::wait_for_request() {
  state_ = State::kIdle;
  if (stopping_) return close();
  if (buffer_.size() > 0) return read_request();  // pipelined
  stream_.expires_after(milliseconds(server_.options().idle_ms));
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            self->on_first_bytes(error, bytes);
                          });
}

void Session::on_first_bytes(beast::error_code error, std::size_t bytes) {
  if (error) return close();
  buffer_.commit(bytes);
  read_request();
}

void Session::read_request() {
  state_ = State::kReading;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(server_.options().header_bytes_max));
  parser_->body_limit(server_.options().body_bytes_max);
  stream_.expires_after(milliseconds(server_.options().request_ms));
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](beast::error_code error, std::size_t) {
                     self->on_request(error);
                   });
}

void Session::on_request(beast::error_code error) {
  if (!error) return dispatch();
  if (error == beast::error::timeout) {
    ++server_.timeouts;
    return close();
  }
  if (error == http::error::body_limit) {
    ++server_.bad_requests;
    return answer(error_answer(413, "too_large", "the body is over the limit"), false);
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    ++server_.bad_requests;
    return answer(error_answer(431, "header_too_large", "the headers are over the limit"), false);
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category()) {
    return close();
  }
  ++server_.bad_requests;
  answer(error_answer(400, "bad_request", "this is no HTTP/1.1 request"), false);
}

std::optional<HttpAnswer> Session::refuse() const {
  if (!tcp_) return std::nullopt;
  const auto& request = parser_->get();
  const auto header = [&](const auto& field) {
    const auto value = request[field];
    return std::string_view(value.data(), value.size());
  };
  const auto view = [](const auto& text) { return std::string_view(text.data(), text.size()); };
  return refuse_tcp(
      *server_.options().tcp, server_.tcp_port(),
      {view(request.method_string()), view(request.target()), header(http::field::host),
       header(http::field::origin), header("Sec-Fetch-Site"), header(http::field::authorization)});
}

void Session::dispatch() {
  ++server_.requests;
  const bool keep = parser_->keep_alive();
  if (auto refusal = refuse()) {
    ++server_.bad_requests;
    return answer(std::move(*refusal), false);
  }
  state_ = State::kHandling;
  stream_.expires_never();
  auto request = parser_->release();
  auto call = std::make_shared<HttpCall>();
  call->method = std::string(request.method_string());
  call->target = std::string(request.target());
  for (const auto& field : request) {
    call->headers.emplace_back(
        lower_ascii(std::string_view(field.name_string().data(), field.name_string().size())),
        std::string(field.value()));
  }
  call->body = std::move(request.body());
  asio::post(server_.pool_for(call->target), [self = shared_from_this(), call, keep] {
    auto result = std::make_shared<HttpAnswer>(self->server_.handle(*call));
    asio::post(self->stream_.get_executor(),
               [self, result, keep] { self->answer(std::move(*result), keep); });
  });
}

void Session::answer(HttpAnswer answer, bool keep) {
  if (state_ == State::kClosed) return;
  state_ = State::kWriting;
  keep = keep && !stopping_;
  response_ = {};
  response_.version(11);
  response_.result(static_cast<unsigned>(answer.status));
  response_.set(http::field::content_type, answer.content_type);
  response_.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : answer.headers) response_.set(name, value);
  response_.keep_alive(keep);
  response_.body() = std::move(answer.body);
  response_.prepare_payload();
  stream_.expires_after(milliseconds(server_.options().write_ms));
  http::async_write(stream_, response_,
                    [self = shared_from_this(), keep](beast::error_code error, std::size_t) {
                      self->on_written(error, keep);
                    });
}

void Session::on_written(beast::error_code error, bool keep) {
  if (error) {
    if (error == beast::error::timeout) ++server_.timeouts;
    return close();
  }
  if (keep && !stopping_) return wait_for_request();
  beast::error_code ignored;
  stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  stream_.expires_after(milliseconds(kDrainMs));
  drain();
}

// Closing with unread bytes would reset the connection before the peer has read the answer.
void Session::drain() {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(64u << 10),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            self->drained_ += bytes;
                            if (error || self->drained_ > kDrainBytesMax) return self->close();
                            self->drain();
                          });
}

void Session::stop() {
  stopping_ = true;
  if (state_ == State::kIdle || state_ == State::kReading) close();
}

void Session::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  stream_.cancel();
  beast::error_code ignored;
  stream_.socket().close(ignored);
  server_.forget(shared_from_this());
}

// --- Server
// ---------------------------------------------------------------------------------------

Error bind_error(const std::string& where, const beast::error_code& error) {
  return make_error(ErrorKind::kRetriable, "http", "bind",
                    "cannot listen at " + where + ": " + error.message());
}

Status Server::listen_unix() {
  const std::string& path = options_.socket_path;
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return make_error(ErrorKind::kInvalid, "http", "path_too_long",
                      "a socket path has at most 107 bytes; set CLAWMARK_SOCKET to a shorter one");
  }
  CLAWMARK_TRY(clear_stale_socket(path));
  beast::error_code error;
  unix_acceptor_.open(asio::local::stream_protocol(), error);
  // Linux gives the file the mode of the descriptor: it is never open to others, not even for a
  // moment.
  if (!error && ::fchmod(unix_acceptor_.native_handle(), 0600) != 0) {
    error = {errno, boost::system::system_category()};
  }
  if (!error) unix_acceptor_.bind(asio::local::stream_protocol::endpoint(path), error);
  if (error) return bind_error(path, error);
  struct stat info{};
  if (::chmod(path.c_str(), 0600) == 0 && ::stat(path.c_str(), &info) == 0) {
    socket_inode_ = info.st_ino;
  }
  unix_acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return bind_error(path, error);
  accept(unix_acceptor_, false);
  return Ok{};
}

Status Server::listen_tcp() {
  const TcpOptions& tcp = *options_.tcp;
  beast::error_code error;
  const auto address = asio::ip::make_address(tcp.address, error);
  if (error || !address.is_loopback()) {
    return make_error(ErrorKind::kInvalid, "http", "not_loopback",
                      "TCP is served on a loopback address only (127.0.0.1 or ::1)");
  }
  if (tcp.token.size() < 16) {
    return make_error(ErrorKind::kInvalid, "http", "no_token",
                      "TCP needs a token of at least 16 characters");
  }
  const asio::ip::tcp::endpoint endpoint(address, tcp.port);
  tcp_acceptor_.open(endpoint.protocol(), error);
  if (!error) tcp_acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) tcp_acceptor_.bind(endpoint, error);
  if (!error) tcp_acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return bind_error(tcp.address, error);
  tcp_port_ = tcp_acceptor_.local_endpoint().port();
  accept(tcp_acceptor_, true);
  return Ok{};
}

Status Server::listen() {
  if (!options_.socket_path.empty()) CLAWMARK_TRY(listen_unix());
  if (options_.tcp) CLAWMARK_TRY(listen_tcp());
  return Ok{};
}

template <class Acceptor>
void Server::accept(Acceptor& acceptor, bool tcp) {
  acceptor.async_accept([this, &acceptor, tcp](beast::error_code error, auto socket) {
    if (error == asio::error::operation_aborted || stopping_) return;
    if (error) {  // out of descriptors, most likely: breathe
      retry_timer_.expires_after(milliseconds(100));
      retry_timer_.async_wait([this, &acceptor, tcp](beast::error_code stopped) {
        if (!stopped) accept(acceptor, tcp);
      });
      return;
    }
    ++accepted;
    if (sessions_.size() >= options_.connections_max) {
      ++refused;
      beast::error_code ignored;
      socket.close(ignored);
    } else {
      auto session = std::make_shared<Session>(
          *this, asio::generic::stream_protocol::socket(std::move(socket)), tcp);
      sessions_.insert(session);
      ++open;
      session->wait_for_request();
    }
    accept(acceptor, tcp);
  });
}

void Server::begin_stop() {
  stopping_ = true;
  beast::error_code ignored;
  unix_acceptor_.close(ignored);
  tcp_acceptor_.close(ignored);
  retry_timer_.cancel();
  const auto sessions = sessions_;
  for (const auto& session : sessions) session->stop();
  if (sessions_.empty()) return;
  stop_timer_.expires_after(milliseconds(options_.stop_ms));
  stop_timer_.async_wait([this](beast::error_code) {
    const auto left = sessions_;
    for (const auto& session : left) session->close();
  });
}

void Server::stop() {
  if (stopped_.exchange(true)) return;
  if (thread_.joinable()) {
    asio::post(io_, [this] { begin_stop(); });
    thread_.join();
  }
  pool_.join();
  slow_pool_.join();
  struct stat info{};
  if (socket_inode_ != 0 && ::stat(options_.socket_path.c_str(), &info) == 0 &&
      info.st_ino == socket_inode_) {
    ::unlink(options_.socket_path.c_str());
  }
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      HttpHandler handler) {
  auto server = std::make_unique<Server>(options, std::move(handler));
  CLAWMARK_TRY(server->listen());
  server->run();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace clawmark
