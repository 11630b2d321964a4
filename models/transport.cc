// The one translation unit that holds Beast's HTTP and TLS client. Everything runs on one strand.
//
// g++ 12: nothing but names and plain calls inside a co_await expression.

#include "models/transport.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <set>

#include "base/limits.h"
#include "base/utf8.h"
#include "models/endpoint.h"
#include "models/url.h"

namespace clawmark {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using tcp = asio::ip::tcp;
using Strand = asio::strand<asio::io_context::executor_type>;
using Timer = asio::steady_timer::rebind_executor<Strand>::other;
using TcpStream = beast::basic_stream<tcp, Strand>;
using TlsStream = beast::ssl_stream<TcpStream>;

constexpr int kInterimAnswersMax = 8;  // 100 Continue and the like before the answer

Error transport_error(std::string_view reason, std::string message) {
  return make_error(ErrorKind::kRetriable, "transport", std::string(reason), std::move(message));
}

// One send. Finished once, by whoever comes first: the answer, the deadline or cancel_all().
struct Call {
  Call(Strand strand, HttpRequest wanted, Transport::Done on_done)
      : request(std::move(wanted)), done(std::move(on_done)), resolver(strand), deadline(strand) {}

  HttpRequest request;
  Url url;
  Transport::Done done;
  tcp::resolver resolver;
  Timer deadline;
  std::function<void()> close_stream;  // set while the stream lives
  std::string_view stage = "resolve";
  std::string detail;  // what TLS says of a certificate
  bool finished = false;
};
using CallPtr = std::shared_ptr<Call>;

// Forgets the stream when the coroutine that owns it ends.
struct StreamGuard {
  explicit StreamGuard(Call& owner) : call(owner) {}
  ~StreamGuard() { call.close_stream = nullptr; }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  Call& call;
};

Error error_of(const Call& call, const boost::system::error_code& code) {
  std::string_view reason = call.stage;
  if (code == http::error::body_limit || code == http::error::header_limit) {
    reason = "too_big";
  } else if (code == beast::error::timeout) {
    reason = "timeout";
  }
  std::string message = std::string(reason) + " failed for " + shown_url(call.request.url) + ": ";
  message += reason == "too_big" ? "the answer is over the limit" : code.message();
  if (!call.detail.empty()) message += " (" + call.detail + ")";
  return transport_error(reason, std::move(message));
}

Result<http::request<http::string_body>> make_request(const Call& call) {
  http::request<http::string_body> request;
  request.version(11);
  request.method_string(call.request.method);
  request.target(call.url.target);
  request.set(http::field::host, call.url.host_header);
  request.set(http::field::user_agent, "clawmark");
  request.set(http::field::connection, "close");
  for (const auto& [name, value] : call.request.headers) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; };
    if (std::any_of(value.begin(), value.end(), control)) {
      return make_error(ErrorKind::kInvalid, "transport", "bad_header",
                        "the value of header " + name + " holds a control character");
    }
    request.set(name, value);
  }
  if (!call.url.credentials.empty() && request.find(http::field::authorization) == request.end()) {
    request.set(http::field::authorization, "Basic " + encode_base64(call.url.credentials));
  }
  request.body() = call.request.body;
  request.prepare_payload();
  return request;
}

HttpResponse to_plain(http::response<http::string_body> message) {
  HttpResponse response;
  response.status = static_cast<int>(message.result_int());
  for (const auto& field : message) {
    response.headers.emplace_back(
        lower_ascii({field.name_string().data(), field.name_string().size()}),
        std::string(field.value()));
  }
  response.body = std::move(message.body());
  return response;
}

using Endpoints = std::vector<tcp::endpoint>;

asio::awaitable<Endpoints, Strand> resolve(CallPtr call) {
  Endpoints endpoints;
  boost::system::error_code no_literal;
  const auto address = asio::ip::make_address(call->url.host, no_literal);
  if (!no_literal) {  // needs no resolver, whose thread cannot be interrupted
    endpoints.emplace_back(address, static_cast<unsigned short>(std::stoi(call->url.port)));
    co_return endpoints;
  }
  const auto found = co_await call->resolver.async_resolve(call->url.host, call->url.port,
                                                           asio::use_awaitable_t<Strand>());
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  co_return endpoints;
}

// Tries each address in turn, each with its share of the time: one dead address must not eat it
// all.
asio::awaitable<void, Strand> connect(CallPtr call, TcpStream& stream, Endpoints endpoints) {
  call->stage = "connect";
  const auto addresses = static_cast<std::int64_t>(std::max<std::size_t>(endpoints.size(), 1));
  const std::chrono::milliseconds share(
      std::max<std::int64_t>(call->request.timeout_ms, 1) / addresses + 1);
  for (std::size_t nth = 0; nth < endpoints.size(); ++nth) {
    boost::system::error_code failed;
    try {
      stream.expires_after(share);
      co_await stream.async_connect(endpoints[nth], asio::use_awaitable_t<Strand>());
    } catch (const boost::system::system_error& error) {
      failed = error.code();
    }
    if (!failed) break;
    if (call->finished || nth + 1 == endpoints.size()) throw boost::system::system_error(failed);
    stream.close();
  }
  stream.expires_never();  // from here on the call's own deadline counts
}

template <class Stream>
asio::awaitable<HttpResponse, Strand> exchange(CallPtr call, Stream& stream) {
  call->stage = "closed";
  auto request = make_request(*call);
  http::request<http::string_body> message = std::move(request).value();
  co_await http::async_write(stream, message, asio::use_awaitable_t<Strand>());
  beast::flat_buffer buffer;
  for (int nth = 0;; ++nth) {
    http::response_parser<http::string_body> parser;
    parser.body_limit(kModelAnswerMax);
    co_await http::async_read(stream, buffer, parser, asio::use_awaitable_t<Strand>());
    const bool interim = parser.get().result_int() < 200 && nth < kInterimAnswersMax;
    if (interim) continue;
    http::response<http::string_body> answer = parser.release();
    co_return to_plain(std::move(answer));
  }
}

}  // namespace

class TransportCore : public std::enable_shared_from_this<TransportCore> {
 public:
  TransportCore(asio::io_context& io, const TransportOptions& options)
      : strand_(asio::make_strand(io)), tls_(ssl::context::tls_client) {
    SSL_CTX_set_min_proto_version(tls_.native_handle(), TLS1_2_VERSION);
    tls_.set_verify_mode(options.verify_tls ? ssl::verify_peer : ssl::verify_none);
    verify_ = options.verify_tls;
    boost::system::error_code failed;
    if (options.ca_file.empty()) {
      tls_.set_default_verify_paths(failed);
    } else {
      tls_.load_verify_file(options.ca_file, failed);
    }
    if (failed) ca_problem_ = "cannot read the certificates of " + options.ca_file;
  }

  void send(HttpRequest request, Transport::Done done) {
    auto call = std::make_shared<Call>(strand_, std::move(request), std::move(done));
    asio::post(strand_, [self = shared_from_this(), call] { self->start(call); });
  }

  void cancel_all() {
    asio::post(strand_, [self = shared_from_this()] {
      const std::set<CallPtr> pending = self->pending_;
      for (const CallPtr& call : pending) {
        self->finish(call, transport_error("cancelled", "the request was cancelled"));
      }
    });
  }

 private:
  void start(const CallPtr& call) {
    pending_.insert(call);
    auto url = parse_url(call->request.url);
    if (!url.ok()) return finish(call, url.error());
    call->url = std::move(url).value();
    if (const auto request = make_request(*call); !request.ok()) {
      return finish(call, request.error());
    }
    if (call->url.is_https && !ca_problem_.empty()) {
      return finish(call, transport_error("tls", ca_problem_));
    }
    call->deadline.expires_after(
        std::chrono::milliseconds(std::max<std::int64_t>(call->request.timeout_ms, 1)));
    call->deadline.async_wait([self = shared_from_this(), call](boost::system::error_code stopped) {
      if (stopped) return;
      self->finish(
          call,
          transport_error("timeout", "no answer from " + shown_url(call->request.url) + " within " +
                                         std::to_string(call->request.timeout_ms) + " ms"));
    });
    asio::co_spawn(strand_, run(shared_from_this(), call), asio::detached);
  }

  static asio::awaitable<void, Strand> run(std::shared_ptr<TransportCore> self, CallPtr call) {
    std::optional<Error> error;
    try {
      HttpResponse response = co_await self->talk(call);
      self->finish(call, std::move(response));
    } catch (const boost::system::system_error& failed) {
      error = error_of(*call, failed.code());
    } catch (const std::exception& failed) {
      error = transport_error("closed", std::string("broken answer: ") + failed.what());
    }
    if (error) self->finish(call, *std::move(error));
  }

  asio::awaitable<HttpResponse, Strand> talk(CallPtr call) {
    Endpoints endpoints = co_await resolve(call);
    // The deadline may have passed while the resolver sat in the system's own call.
    if (call->finished) throw boost::system::system_error(asio::error::operation_aborted);
    StreamGuard guard(*call);
    if (!call->url.is_https) {
      TcpStream stream(strand_);
      call->close_stream = [&stream] { stream.close(); };
      co_await connect(call, stream, std::move(endpoints));
      HttpResponse response = co_await exchange(call, stream);
      co_return response;
    }
    TlsStream stream(strand_, tls_);
    TcpStream& lowest = beast::get_lowest_layer(stream);
    call->close_stream = [&lowest] { lowest.close(); };
    co_await connect(call, lowest, std::move(endpoints));
    prepare_tls(*call, stream);
    co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable_t<Strand>());
    HttpResponse response = co_await exchange(call, stream);
    co_return response;
  }

  // SNI (names only), host name and chain verification.
  void prepare_tls(Call& call, TlsStream& stream) const {
    call.stage = "tls";
    boost::system::error_code no_literal;
    asio::ip::make_address(call.url.host, no_literal);
    if (no_literal) SSL_set_tlsext_host_name(stream.native_handle(), call.url.host.c_str());
    if (!verify_) return;
    const ssl::host_name_verification verify_host(call.url.host);
    stream.set_verify_callback([&call, verify_host](bool good, ssl::verify_context& context) {
      const bool named = verify_host(good, context);
      const int code = X509_STORE_CTX_get_error(context.native_handle());
      if (!good && code != X509_V_OK) {
        call.detail = X509_verify_cert_error_string(code);
      } else if (!named) {
        call.detail = "the certificate is for another host";
      }
      return named;
    });
  }

  void finish(const CallPtr& call, Result<HttpResponse> result) {
    if (call->finished) return;
    call->finished = true;
    pending_.erase(call);
    call->deadline.cancel();
    call->resolver.cancel();
    if (call->close_stream) call->close_stream();
    asio::post(strand_, [done = std::move(call->done), outcome = std::move(result)]() mutable {
      done(std::move(outcome));
    });
  }

  Strand strand_;
  ssl::context tls_;
  bool verify_ = true;
  std::string ca_problem_;
  std::set<CallPtr> pending_;
};

namespace {

class AsioTransport final : public Transport {
 public:
  AsioTransport(asio::io_context& io, const TransportOptions& options)
      : core_(std::make_shared<TransportCore>(io, options)) {}
  ~AsioTransport() override { core_->cancel_all(); }
  AsioTransport(const AsioTransport&) = delete;
  AsioTransport& operator=(const AsioTransport&) = delete;

  void send(HttpRequest request, Done done) override {
    core_->send(std::move(request), std::move(done));
  }
  void cancel_all() override { core_->cancel_all(); }

 private:
  std::shared_ptr<TransportCore> core_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(boost::asio::io_context& io,
                                          const TransportOptions& options) {
  return std::make_unique<AsioTransport>(io, options);
}

}  // namespace clawmark
