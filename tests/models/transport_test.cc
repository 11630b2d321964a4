// The transport against real servers of this process, on loopback: plain sockets, and TLS with a
// throw-away CA.

#include "models/transport.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <thread>

#include "base/files.h"
#include "base/limits.h"

namespace clawmark {
namespace {

using testing::HasSubstr;
using testing::Not;

// One accepted connection, plain or TLS.
class Peer {
 public:
  Peer(int fd, SSL* ssl) : fd_(fd), ssl_(ssl) {}
  ~Peer() {
    if (ssl_ != nullptr) SSL_free(ssl_);
    close(fd_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Up to the end of the headers, and the body that content-length promises.
  std::string read_request() {
    std::string all;
    char buffer[4096];
    std::size_t wanted = std::string::npos;
    while (all.size() < wanted) {
      const int n = ssl_ != nullptr ? SSL_read(ssl_, buffer, sizeof buffer)
                                    : static_cast<int>(recv(fd_, buffer, sizeof buffer, 0));
      if (n <= 0) break;
      all.append(buffer, static_cast<std::size_t>(n));
      const std::size_t head = all.find("\r\n\r\n");
      const std::size_t length = all.find("Content-Length: ");
      if (head != std::string::npos) {
        wanted = head + 4 +
                 (length < head ? static_cast<std::size_t>(std::stoi(all.substr(length + 16))) : 0);
      }
    }
    return all;
  }
  bool write(std::string_view text) {
    while (!text.empty()) {
      const int n = ssl_ != nullptr
                        ? SSL_write(ssl_, text.data(), static_cast<int>(text.size()))
                        : static_cast<int>(send(fd_, text.data(), text.size(), MSG_NOSIGNAL));
      if (n <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // Waits until the other side hangs up, or so long.
  bool gone_within(int ms) {
    pollfd p{fd_, POLLRDHUP, 0};
    return poll(&p, 1, ms) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }

 private:
  int fd_;
  SSL* ssl_;
};

// Serves one connection after another on a thread until it is destroyed.
class Server {
 public:
  explicit Server(std::function<void(Peer&)> serve, SSL_CTX* tls = nullptr)
      : serve_(std::move(serve)), tls_(tls) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Server() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  std::string url(std::string_view host = "127.0.0.1", std::string_view path = "/v1/x") const {
    return std::string(tls_ != nullptr ? "https://" : "http://") + std::string(host) + ":" +
           std::to_string(port_) + std::string(path);
  }
  int connections() const { return connections_; }

 private:
  void run() {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      ++connections_;
      SSL* ssl = nullptr;
      if (tls_ != nullptr) {
        ssl = SSL_new(tls_);
        SSL_set_fd(ssl, fd);
        if (SSL_accept(ssl) != 1) {
          Peer refused(fd, ssl);
          continue;
        }
      }
      Peer peer(fd, ssl);
      serve_(peer);
    }
  }
  std::function<void(Peer&)> serve_;
  SSL_CTX* tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::thread thread_;
};

std::string answer(std::string_view body, std::string_view head = "HTTP/1.1 200 OK") {
  return std::string(head) +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

Result<HttpResponse> send_one(const std::string& url, std::int64_t timeout_ms = 20'000,
                              const TransportOptions& options = {}, std::string body = "{}") {
  boost::asio::io_context io;
  const auto transport = make_transport(io, options);
  std::optional<Result<HttpResponse>> result;
  int calls = 0;
  HttpRequest request;
  request.url = url;
  request.body = std::move(body);
  request.timeout_ms = timeout_ms;
  transport->send(std::move(request), [&](Result<HttpResponse> got) {
    ++calls;
    result = std::move(got);
  });
  io.run();
  EXPECT_EQ(calls, 1);
  return std::move(*result);
}

std::string reason_of(const Result<HttpResponse>& result) {
  return result.ok() ? "status " + std::to_string(result->status) : result.error().reason;
}

TEST(Transport, sends_the_body_and_gives_back_status_headers_and_body) {
  std::string seen;
  Server server([&](Peer& peer) {
    seen = peer.read_request();
    peer.write(answer("{\"a\":1}"));
  });
  const auto result = send_one(server.url(), 20'000, {}, "{\"q\":\"\xC3\xA9\"}");
  ASSERT_TRUE(result.ok()) << describe(result.error());
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->body, "{\"a\":1}");
  EXPECT_THAT(result->headers,
              testing::Contains(testing::Pair("content-type", "application/json")));
  EXPECT_THAT(seen,
              testing::AllOf(HasSubstr("POST /v1/x HTTP/1.1"), HasSubstr("{\"q\":\"\xC3\xA9\"}"),
                             HasSubstr("Host: 127.0.0.1:")));
}

TEST(Transport, reads_chunked_answers_interim_answers_and_those_that_end_with_the_connection) {
  Server chunked([](Peer& peer) {
    peer.read_request();
    peer.write(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
        "chunked\r\n\r\n3\r\nabc\r\n");
    peer.write("2\r\nde\r\n0\r\n\r\n");
  });
  const auto result = send_one(chunked.url());
  ASSERT_TRUE(result.ok()) << describe(result.error());
  EXPECT_EQ(result->body, "abcde");
  Server open_end([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\n\r\nto the end");
  });
  EXPECT_EQ(send_one(open_end.url())->body, "to the end");
}

TEST(Transport, C169_credentials_of_the_url_travel_in_a_header_and_never_in_an_error) {
  std::string seen;
  Server server([&](Peer& peer) {
    seen = peer.read_request();
    peer.write(answer("{}"));
  });
  std::string url = server.url();
  url.insert(7, "user:pw@");
  ASSERT_TRUE(send_one(url).ok());
  EXPECT_THAT(seen, HasSubstr("Authorization: Basic dXNlcjpwdw=="));
  EXPECT_THAT(seen.substr(0, seen.find("\r\n")), Not(HasSubstr("pw")));
  const auto refused = send_one("http://user:hunter2@127.0.0.1:9/v1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, "connect");
  EXPECT_EQ(refused.error().kind, ErrorKind::kRetriable);
  EXPECT_THAT(describe(refused.error()),
              testing::AllOf(Not(HasSubstr("hunter2")), HasSubstr("127.0.0.1:9")));
}

TEST(Transport, unknown_host_fails_to_resolve) {
  const auto result = send_one("http://no-such-host.invalid/");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().reason, testing::AnyOf("resolve", "timeout"));
}

TEST(Transport, silent_server_times_out) {
  Server server([](Peer& peer) {
    peer.read_request();
    peer.gone_within(60'000);
  });
  EXPECT_EQ(reason_of(send_one(server.url(), 200)), "timeout");
}

TEST(Transport, C052_one_byte_at_a_time_times_out_at_the_total_deadline) {
  std::atomic<bool> hung_up = false;
  {
    Server server([&](Peer& peer) {
      peer.read_request();
      peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
      for (int i = 0; i < 100'000 && !hung_up; ++i)
        hung_up = !peer.write("x") || peer.gone_within(10);
    });
    EXPECT_EQ(reason_of(send_one(server.url(), 400)), "timeout");
  }
  EXPECT_TRUE(hung_up);
}

TEST(Transport, cut_answer_is_an_error_and_no_short_body) {
  Server server([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":");
  });
  EXPECT_EQ(reason_of(send_one(server.url())), "closed");
  Server nothing([](Peer& peer) { peer.read_request(); });
  EXPECT_EQ(reason_of(send_one(nothing.url())), "closed");
  Server noise([](Peer& peer) {
    peer.read_request();
    peer.write("SSH-2.0-OpenSSH_9.2\r\n");
  });
  EXPECT_EQ(reason_of(send_one(noise.url())), "closed");
}

TEST(Transport, huge_answer_is_refused) {
  Server said([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx");
    peer.gone_within(60'000);
  });
  EXPECT_EQ(reason_of(send_one(said.url())), "too_big");
  Server endless([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(1u << 20, 'x');
    while (peer.write(block)) {
    }
  });
  EXPECT_EQ(reason_of(send_one(endless.url())), "too_big");
}

TEST(Transport, redirect_is_handed_back_and_not_followed) {
  Server target([](Peer& peer) { peer.write(answer("{}")); });
  Server server([&](Peer& peer) {
    peer.read_request();
    peer.write(answer("", "HTTP/1.1 302 Found\r\nLocation: " + target.url()));
  });
  EXPECT_EQ(reason_of(send_one(server.url())), "status 302");
  EXPECT_EQ(target.connections(), 0);
}

TEST(Transport, headers_cannot_be_smuggled) {
  boost::asio::io_context io;
  const auto transport = make_transport(io, {});
  std::optional<Result<HttpResponse>> result;
  HttpRequest request;
  request.url = "http://127.0.0.1:9/";
  request.headers = {{"X-A", "1\r\nX-B: 2"}};
  transport->send(std::move(request), [&](Result<HttpResponse> got) { result = std::move(got); });
  io.run();
  EXPECT_EQ(result->error().reason, "bad_header");
}

TEST(Transport, cancel_all_ends_every_pending_send) {
  Server server([](Peer& peer) { peer.gone_within(60'000); });
  boost::asio::io_context io;
  const auto transport = make_transport(io, {});
  std::vector<std::string> reasons;
  for (int i = 0; i < 3; ++i) {
    HttpRequest request;
    request.url = server.url();
    request.timeout_ms = 600'000;
    transport->send(std::move(request),
                    [&](const Result<HttpResponse>& got) { reasons.push_back(reason_of(got)); });
  }
  io.poll();
  transport->cancel_all();
  io.run();
  EXPECT_THAT(reasons, testing::ElementsAre("cancelled", "cancelled", "cancelled"));
}

TEST(Transport, may_be_destroyed_while_a_send_is_pending) {
  Server server([](Peer& peer) { peer.gone_within(60'000); });
  boost::asio::io_context io;
  auto transport = make_transport(io, {});
  int calls = 0;
  HttpRequest request;
  request.url = server.url();
  request.timeout_ms = 600'000;
  transport->send(std::move(request), [&](const Result<HttpResponse>&) { ++calls; });
  io.poll();
  transport.reset();
  io.run();
  EXPECT_EQ(calls, 1);
}

// A certificate with its key; without an issuer it signs itself and is a CA.
struct Certificate {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> x509;
};

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate make_certificate(const std::string& name, const std::string& alternatives,
                             const Certificate* issuer) {
  Certificate made;
  made.key.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  made.x509.reset(X509_new(), X509_free);
  X509* const x509 = made.x509.get();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), issuer == nullptr ? 1 : 2);
  X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
  X509_set_pubkey(x509, made.key.get());
  X509_NAME* subject = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  const Certificate& signer = issuer == nullptr ? made : *issuer;
  X509_set_issuer_name(x509, X509_get_subject_name(signer.x509.get()));
  add_extension(x509, signer.x509.get(), NID_basic_constraints,
                issuer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
  if (!alternatives.empty())
    add_extension(x509, signer.x509.get(), NID_subject_alt_name, alternatives);
  X509_sign(x509, signer.key.get(), EVP_sha256());
  return made;
}

class TransportTls : public testing::Test {
 protected:
  void SetUp() override {
    ca_ = make_certificate("Throw-away CA", "", nullptr);
    folder_ = testing::TempDir() + "clawmark-tls-" + std::to_string(getpid());
    ASSERT_TRUE(make_private_dir(folder_).ok());
    ca_file_ = write_pem(ca_, "ca.pem");
    other_file_ = write_pem(make_certificate("Other CA", "", nullptr), "other.pem");
  }
  std::string write_pem(const Certificate& certificate, const std::string& name) {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate.x509.get());
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    const std::string path = join_path(folder_, name);
    EXPECT_TRUE(
        write_file_atomic(path, std::string_view(bytes, static_cast<std::size_t>(size))).ok());
    BIO_free(bio);
    return path;
  }
  SSL_CTX* context_for(const std::string& alternatives) {
    const Certificate leaf = make_certificate("leaf", alternatives, &ca_);
    contexts_.emplace_back(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX* const context = contexts_.back().get();
    SSL_CTX_use_certificate(context, leaf.x509.get());
    SSL_CTX_use_PrivateKey(context, leaf.key.get());
    return context;
  }
  static void serve(Peer& peer) {
    peer.read_request();
    peer.write(answer("{\"tls\":true}"));
  }
  Certificate ca_;
  std::vector<std::shared_ptr<SSL_CTX>> contexts_;
  std::string folder_, ca_file_, other_file_;
};

TEST_F(TransportTls, right_ca_and_host_are_accepted) {
  Server server(serve, context_for("DNS:localhost,IP:127.0.0.1"));
  const auto by_name = send_one(server.url("localhost"), 20'000, {ca_file_, true});
  ASSERT_TRUE(by_name.ok()) << describe(by_name.error());
  EXPECT_EQ(by_name->body, "{\"tls\":true}");
  const auto by_address = send_one(server.url("127.0.0.1"), 20'000, {ca_file_, true});
  EXPECT_TRUE(by_address.ok()) << describe(by_address.error());
}

TEST_F(TransportTls, unknown_ca_is_refused) {
  Server server(serve, context_for("DNS:localhost,IP:127.0.0.1"));
  EXPECT_EQ(reason_of(send_one(server.url(), 20'000, {other_file_, true})), "tls");
  const auto by_system = send_one(server.url(), 20'000, {"", true});
  ASSERT_FALSE(by_system.ok());
  EXPECT_EQ(by_system.error().reason, "tls");
  EXPECT_THAT(by_system.error().message, HasSubstr("certificate"));
}

TEST_F(TransportTls, wrong_host_is_refused) {
  Server server(serve, context_for("DNS:elsewhere.example"));
  const auto result = send_one(server.url("localhost"), 20'000, {ca_file_, true});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason, "tls");
  EXPECT_THAT(result.error().message, HasSubstr("another host"));
  EXPECT_EQ(reason_of(send_one(server.url("127.0.0.1"), 20'000, {ca_file_, true})), "tls");
}

TEST_F(TransportTls, verification_can_be_switched_off) {
  Server server(serve, context_for("DNS:elsewhere.example"));
  EXPECT_EQ(reason_of(send_one(server.url(), 20'000, {"", false})), "status 200");
}

TEST_F(TransportTls, unreadable_ca_file_and_plain_server_are_tls_errors) {
  EXPECT_EQ(reason_of(send_one("https://127.0.0.1:9/", 20'000,
                               {join_path(folder_, "missing.pem"), true})),
            "tls");
  Server plain([](Peer& peer) { peer.write("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  std::string url = plain.url();
  url.replace(0, 4, "https");
  EXPECT_EQ(reason_of(send_one(url, 20'000, {ca_file_, true})), "tls");
}

TEST_F(TransportTls, silence_in_the_handshake_times_out) {
  Server silent([](Peer& peer) { peer.gone_within(60'000); });
  std::string url = silent.url();
  url.replace(0, 4, "https");
  EXPECT_EQ(reason_of(send_one(url, 200, {ca_file_, true})), "timeout");
}

}  // namespace
}  // namespace clawmark
