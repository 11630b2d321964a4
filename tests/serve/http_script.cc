#include "http_script.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

#include "base/utf8.h"

namespace clawmark {
namespace {

ScriptRequest parse(const std::string& head) {
  ScriptRequest out;
  std::istringstream lines(head);
  lines >> out.method >> out.path;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    out.headers[lower_ascii(line.substr(0, colon))] = std::string(trim(line.substr(colon + 1)));
  }
  return out;
}

}  // namespace

ScriptServer::ScriptServer(Script script) : script_(std::move(script)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener_, 32), 0);
  EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

ScriptServer::~ScriptServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
  for (std::thread& connection : connections_) connection.join();
}

std::string ScriptServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

void ScriptServer::run() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    connections_.emplace_back([this, fd] { serve(fd); });
  }
}

void ScriptServer::serve(int fd) {
  std::string all;
  char buffer[8192];
  std::size_t head = std::string::npos, wanted = std::string::npos;
  ScriptRequest request;
  while (all.size() < wanted) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    all.append(buffer, static_cast<std::size_t>(got));
    if (head != std::string::npos) continue;
    head = all.find("\r\n\r\n");
    if (head != std::string::npos) {
      request = parse(all.substr(0, head));
      const std::string length = request.headers["content-length"];
      wanted = head + 4 + (length.empty() ? 0 : std::stoul(length));
    }
  }
  if (head != std::string::npos) {
    request.body = all.substr(head + 4);
    const int now = ++at_once_;
    int most = at_once_max_;
    while (now > most && !at_once_max_.compare_exchange_weak(most, now)) {
    }
    ++requests_;
    const ScriptAnswer answer = script_(request);
    --at_once_;
    if (!answer.hang_up) {
      std::string text = "HTTP/1.1 " + std::to_string(answer.status) +
                         " X\r\nContent-Type: application/json\r\nConnection: close\r\n";
      for (const auto& [name, value] : answer.headers) text += name + ": " + value + "\r\n";
      text += "Content-Length: " + std::to_string(answer.body.size() + answer.missing) +
              "\r\n\r\n" + answer.body;
      for (std::size_t at = 0; at < text.size();) {
        const ssize_t put = ::send(fd, text.data() + at, text.size() - at, MSG_NOSIGNAL);
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
      }
    }
  }
  ::close(fd);
}

}  // namespace clawmark
