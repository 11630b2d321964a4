#include "serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

namespace clawmark {
namespace {

class Client {
 public:
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // One answer: headers and as many bytes as Content-Length says; empty when closed before.
  std::string answer() {
    for (;;) {
      const auto end = kept_.find("\r\n\r\n");
      if (end != std::string::npos) {
        const auto at = kept_.find("Content-Length: ");
        const std::size_t length = at < end ? std::stoul(kept_.substr(at + 16)) : 0;
        if (kept_.size() >= end + 4 + length) {
          std::string out = kept_.substr(0, end + 4 + length);
          kept_.erase(0, end + 4 + length);
          return out;
        }
      }
      char buffer[65536];
      const auto n = ::recv(fd_, buffer, sizeof(buffer), 0);
      if (n <= 0) return {};
      kept_.append(buffer, static_cast<std::size_t>(n));
    }
  }
  std::string ask(std::string_view bytes) {
    send(bytes);
    return answer();
  }

 private:
  int fd_;
  bool connected_ = false;
  std::string kept_;
};

std::string get(const std::string& target, const std::string& more = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}
std::string post(const std::string& target, const std::string& body) {
  return "POST " + target +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// Lets handlers wait until the test says so.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for(int n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= n; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

class Http : public ::testing::Test {
 protected:
  Http() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "clawmark-http-XXXXXX").string();
    dir_ = ::mkdtemp(pattern.data());
    options.socket_path = dir_ + "/s.sock";
  }
  ~Http() override {
    server.reset();
    std::filesystem::remove_all(dir_);
  }
  void start() {
    auto made = HttpServer::start(options, [this](const HttpCall& call) {
      ++handled;
      if (call.target == "/wait" || call.target == "/slow") gate.wait();
      if (call.target == "/throw") throw std::runtime_error("secret text");
      return HttpAnswer{200, "application/json", call.method + " " + call.target + " " + call.body};
    });
    ASSERT_TRUE(made.ok()) << describe(made.error());
    server = std::move(made).value();
  }
  std::string dir_;
  HttpServerOptions options;
  std::atomic<int> handled{0};
  Gate gate;
  std::unique_ptr<HttpServer> server;
};

TEST_F(Http, answers_and_keeps_the_connection) {
  start();
  Client client(options.socket_path);
  for (int i = 0; i < 20; ++i) {
    const std::string answer = client.ask(post("/echo", "hello " + std::to_string(i)));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(answer.ends_with("POST /echo hello " + std::to_string(i)));
  }
  EXPECT_EQ(server->counts().accepted, 1U);
}

TEST_F(Http, pipelined_requests_are_answered_in_order) {
  start();
  Client client(options.socket_path);
  client.send(get("/1") + get("/2") + post("/3", "x"));
  EXPECT_TRUE(client.answer().ends_with("GET /1 "));
  EXPECT_TRUE(client.answer().ends_with("GET /2 "));
  EXPECT_TRUE(client.answer().ends_with("POST /3 x"));
}

TEST_F(Http, C173_only_its_user_can_open_the_socket) {
  start();
  struct stat info{};
  ASSERT_EQ(::stat(options.socket_path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(Http, a_dead_socket_is_replaced_and_a_living_one_is_not) {
  {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    options.socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ::close(fd);
  }
  start();
  const auto second = HttpServer::start(options, [](const HttpCall&) { return HttpAnswer{}; });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().reason, "in_use");
  EXPECT_TRUE(Client(options.socket_path).ask(get("/")).starts_with("HTTP/1.1 200"))
      << "the first one lives on";
}

TEST_F(Http, a_file_that_is_no_socket_is_never_removed) {
  std::ofstream(options.socket_path) << "precious";
  const auto made = HttpServer::start(options, [](const HttpCall&) { return HttpAnswer{}; });
  EXPECT_EQ(made.error().reason, "not_a_socket");
  EXPECT_TRUE(std::filesystem::exists(options.socket_path));
}

TEST_F(Http, a_path_that_no_socket_can_have_names_the_remedy) {
  options.socket_path = dir_ + "/" + std::string(120, 'x');
  const auto made = HttpServer::start(options, [](const HttpCall&) { return HttpAnswer{}; });
  EXPECT_EQ(made.error().reason, "path_too_long");
  EXPECT_NE(made.error().message.find("CLAWMARK_SOCKET"), std::string::npos);
}

TEST_F(Http, oversized_bodies_and_headers_are_refused_and_seen) {
  start();
  Client said(options.socket_path);
  EXPECT_TRUE(said.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
                  .starts_with("HTTP/1.1 413"));
  Client sent(options.socket_path);
  EXPECT_TRUE(sent.ask(post("/", std::string(2u << 20, 'x'))).starts_with("HTTP/1.1 413"));
  Client chunked(options.socket_path);
  chunked.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 40; ++i) chunked.send("10000\r\n" + std::string(0x10000, 'y') + "\r\n");
  EXPECT_TRUE(chunked.answer().starts_with("HTTP/1.1 413"));
  Client header(options.socket_path);
  EXPECT_TRUE(header.ask(get("/", "X: " + std::string(64u << 10, 'h') + "\r\n"))
                  .starts_with("HTTP/1.1 431"));
  EXPECT_EQ(handled, 0);
  EXPECT_TRUE(Client(options.socket_path)
                  .ask(post("/", std::string(1u << 20, 'x')))
                  .starts_with("HTTP/1.1 200"));
}

TEST_F(Http, garbage_gets_a_400_and_harms_nobody) {
  start();
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9), std::string("GET\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string(3000, '\0'),
        std::string("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello")}) {
    Client client(options.socket_path);
    EXPECT_TRUE(client.ask(garbage).starts_with("HTTP/1.1 400")) << garbage;
    EXPECT_TRUE(client.answer().empty()) << "closed after it";
  }
  EXPECT_TRUE(Client(options.socket_path).ask(get("/")).starts_with("HTTP/1.1 200"));
}

TEST_F(Http, a_request_that_never_ends_is_cut_off) {
  options.request_ms = 50;
  start();
  Client slow(options.socket_path);
  slow.send("GET / HTTP/1.1\r\nHost");
  EXPECT_TRUE(slow.answer().empty());
  Client half(options.socket_path);
  half.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhal");
  EXPECT_TRUE(half.answer().empty());
  // Counted just after the close that the client sees; a test that hangs here has lost one.
  while (server->counts().timeouts < 2) std::this_thread::yield();
}

TEST_F(Http, an_idle_connection_is_closed_in_time) {
  options.idle_ms = 30;
  start();
  Client idle(options.socket_path);
  EXPECT_TRUE(idle.answer().empty());
}

TEST_F(Http, connections_over_the_cap_are_refused_and_places_come_free_again) {
  options.connections_max = 3;
  start();
  {
    Client a(options.socket_path), b(options.socket_path), c(options.socket_path);
    for (Client* client : {&a, &b, &c}) EXPECT_FALSE(client->ask(get("/")).empty());
    Client d(options.socket_path);
    EXPECT_TRUE(d.ask(get("/")).empty());
    EXPECT_EQ(server->counts().refused, 1U);
  }
  std::string answer;
  while (answer.empty()) answer = Client(options.socket_path).ask(get("/"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200"));
}

TEST_F(Http, many_clients_at_once_all_get_their_own_answers) {
  start();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 24; ++t) {
    threads.emplace_back([&, t] {
      Client client(options.socket_path);
      for (int i = 0; i < 25; ++i) {
        const std::string word = std::to_string(t) + "." + std::to_string(i);
        if (client.ask(post("/e", word)).ends_with("POST /e " + word)) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 600);
}

TEST_F(Http, a_handler_that_throws_is_a_500_without_its_text) {
  start();
  const std::string answer = Client(options.socket_path).ask(get("/throw"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 500"));
  EXPECT_EQ(answer.find("secret"), std::string::npos);
}

TEST_F(Http, slow_calls_do_not_hold_up_quick_ones) {
  options.threads = 1;
  options.slow_threads = 1;
  options.is_slow = [](std::string_view target) { return target == "/slow"; };
  start();
  Client slow(options.socket_path), slow2(options.socket_path);
  slow.send(get("/slow"));
  slow2.send(get("/slow"));
  gate.wait_for(1);
  EXPECT_TRUE(Client(options.socket_path).ask(get("/quick")).starts_with("HTTP/1.1 200"));
  gate.open();
  EXPECT_TRUE(slow.answer().starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(slow2.answer().starts_with("HTTP/1.1 200"));
}

TEST_F(Http, stop_sends_the_answers_under_way_and_closes_the_rest) {
  start();
  Client busy(options.socket_path), idle(options.socket_path);
  EXPECT_FALSE(idle.ask(get("/")).empty());
  busy.send(get("/wait"));
  gate.wait_for(1);
  std::thread stopper([this] { server->stop(); });
  EXPECT_TRUE(idle.answer().empty()) << "idle connections are closed at once";
  gate.open();
  EXPECT_TRUE(busy.answer().starts_with("HTTP/1.1 200"));
  stopper.join();
  EXPECT_FALSE(std::filesystem::exists(options.socket_path));
  EXPECT_FALSE(Client(options.socket_path).connected());
}

TEST_F(Http, stop_does_not_wait_for_ever) {
  options.stop_ms = 50;
  start();
  Client busy(options.socket_path);
  busy.send(get("/wait"));
  gate.wait_for(1);
  std::thread stopper([this] { server->stop(); });
  EXPECT_TRUE(busy.answer().empty()) << "closed when the time was over";
  gate.open();
  stopper.join();
}

TEST_F(Http, clients_that_go_away_in_mid_call_harm_nobody) {
  start();
  for (int i = 0; i < 30; ++i) {
    Client client(options.socket_path);
    client.send(i % 2 == 0 ? get("/echo") : "POST / HTTP/1.1\r\nContent-Le");
  }
  EXPECT_TRUE(Client(options.socket_path).ask(get("/")).starts_with("HTTP/1.1 200"));
}

TEST_F(Http, C173_tcp_wants_a_token_a_local_name_and_no_web_page) {
  options.tcp = TcpOptions{"127.0.0.1", 0, "0123456789abcdef-token"};
  start();
  const auto status = [&](const std::string& head) {
    return Client(server->tcp_port()).ask("GET / HTTP/1.1\r\n" + head + "\r\n").substr(9, 3);
  };
  const std::string token = "Authorization: Bearer 0123456789abcdef-token\r\n";
  EXPECT_EQ(status("Host: 127.0.0.1\r\n" + token), "200");
  EXPECT_EQ(status("Host: localhost:8080\r\n" + token), "200");
  EXPECT_EQ(status("Host: 127.0.0.1\r\n"), "401");
  EXPECT_EQ(status("Host: 127.0.0.1\r\nAuthorization: Bearer wrong\r\n"), "401");
  EXPECT_EQ(status("Host: 127.0.0.1\r\nAuthorization: Bearer 0123456789abcdef-toke\r\n"), "401");
  EXPECT_EQ(status("Host: evil.example\r\n" + token), "421");
  EXPECT_EQ(status(token), "421");
  EXPECT_EQ(status("Host: localhost\r\nOrigin: http://evil.example\r\n" + token), "403");
  EXPECT_EQ(status("Host: localhost\r\nOrigin: null\r\n" + token), "403");
  EXPECT_EQ(handled, 2);
}

TEST_F(Http, tcp_is_refused_without_a_token_or_off_loopback) {
  options.tcp = TcpOptions{"127.0.0.1", 0, ""};
  EXPECT_EQ(HttpServer::start(options, {}).error().reason, "no_token");
  options.tcp = TcpOptions{"0.0.0.0", 0, "0123456789abcdef-token"};
  EXPECT_EQ(HttpServer::start(options, {}).error().reason, "not_loopback");
}

}  // namespace
}  // namespace clawmark
