#include "cmd/unix_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/clock.h"
#include "base/files.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kAnswerMax = 64u << 20;
constexpr std::int64_t kStopMs = 100;  // between two looks whether the answer is still wanted

Error socket_error(ErrorKind kind, const char* reason, std::string message) {
  return make_error(kind, "socket", reason, std::move(message));
}

Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return socket_error(ErrorKind::kInvalid, "path_too_long",
                        path + " is longer than a socket path may be (107 bytes)");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return socket_error(ErrorKind::kRetriable, "closed", std::strerror(errno));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EACCES || errno == EPERM) {
      return socket_error(ErrorKind::kInvalid, "forbidden",
                          path + " belongs to another user; run as the user of clawmarkd");
    }
    return socket_error(ErrorKind::kNotFound, "absent", "no daemon listens on " + path);
  }
  return fd;
}

class Deadline {
 public:
  Deadline(std::int64_t timeout_ms, const std::atomic<bool>* stop)
      : end_ms_(clock_.steady_ms() + timeout_ms), stop_(stop) {}
  // Error: retriable "timeout" with `late`, or "stopped".
  Status wait(int fd, short events, const char* late) const {
    const std::int64_t slice_ms = stop_ == nullptr ? 1 << 30 : kStopMs;
    for (;;) {
      if (stop_ != nullptr && *stop_) {
        return socket_error(ErrorKind::kRetriable, "stopped", "the answer is not wanted any more");
      }
      const std::int64_t left = end_ms_ - clock_.steady_ms();
      if (left <= 0) return socket_error(ErrorKind::kRetriable, "timeout", late);
      pollfd poller{fd, events, 0};
      if (::poll(&poller, 1, static_cast<int>(std::min(left, slice_ms))) > 0) return Ok{};
    }
  }

 private:
  SystemClock clock_;
  std::int64_t end_ms_;
  const std::atomic<bool>* stop_;
};

Status send_all(const Fd& fd, std::string_view data, const Deadline& deadline) {
  while (!data.empty()) {
    CLAWMARK_TRY(deadline.wait(fd.get(), POLLOUT, "the daemon takes no request"));
    const ssize_t sent = ::send(fd.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) {
      return socket_error(ErrorKind::kRetriable, "closed", "the daemon closed the connection");
    }
    data.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Ok{};
}

Result<std::string> receive_all(const Fd& fd, const Deadline& deadline) {
  std::string out;
  char buffer[16384];
  for (;;) {
    CLAWMARK_TRY(deadline.wait(fd.get(), POLLIN, "the daemon did not answer in time"));
    const ssize_t got = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return socket_error(ErrorKind::kRetriable, "closed", std::strerror(errno));
    if (got == 0) return out;
    out.append(buffer, static_cast<std::size_t>(got));
    if (out.size() > kAnswerMax) {
      return socket_error(ErrorKind::kRetriable, "answer", "the answer is too big");
    }
  }
}

Result<std::string> join_chunks(std::string_view rest) {
  std::string body;
  for (;;) {
    const auto end = rest.find("\r\n");
    std::size_t size = 0;
    const auto parsed =
        std::from_chars(rest.data(), rest.data() + std::min(end, rest.size()), size, 16);
    if (end == std::string_view::npos || parsed.ec != std::errc() || rest.size() < end + 4 + size) {
      return socket_error(ErrorKind::kRetriable, "answer", "the answer was cut short");
    }
    if (size == 0) return body;
    body.append(rest.substr(end + 2, size));
    rest.remove_prefix(end + 2 + size + 2);
  }
}

Result<UnixAnswer> parse_answer(std::string_view text) {
  const auto head_end = text.find("\r\n\r\n");
  UnixAnswer answer;
  if (head_end == std::string_view::npos || !text.starts_with("HTTP/1.1 ") ||
      std::from_chars(text.data() + 9, text.data() + 12, answer.status).ec != std::errc()) {
    return socket_error(ErrorKind::kRetriable, "answer", "what answers there does not speak HTTP");
  }
  const std::string head = lower_ascii(text.substr(0, head_end));
  const std::string_view rest = text.substr(head_end + 4);
  if (head.find("\r\ntransfer-encoding: chunked") != std::string::npos) {
    CLAWMARK_ASSIGN(answer.body, join_chunks(rest));
    return answer;
  }
  constexpr std::string_view kLength = "\r\ncontent-length:";
  if (const auto at = head.find(kLength); at != std::string::npos) {
    const auto digits = trim(std::string_view(head).substr(at + kLength.size(), 20));
    std::size_t length = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (rest.size() < length) {
      return socket_error(ErrorKind::kRetriable, "answer", "the answer was cut short");
    }
    answer.body = rest.substr(0, length);
    return answer;
  }
  answer.body = rest;
  return answer;
}

}  // namespace

bool is_listening(const std::string& socket_path) {
  return connect_to(socket_path).ok();
}

Result<UnixAnswer> unix_request(const std::string& socket_path, std::string_view method,
                                std::string_view target, std::string_view body,
                                std::int64_t timeout_ms, const std::atomic<bool>* stop) {
  CLAWMARK_ASSIGN(const Fd fd, connect_to(socket_path));
  const Deadline deadline(timeout_ms, stop);
  std::string request;
  request.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: clawmark\r\n");
  request.append("Connection: close\r\nContent-Type: application/json\r\nContent-Length: ");
  request.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
  CLAWMARK_TRY(send_all(fd, request, deadline));
  CLAWMARK_ASSIGN(const std::string text, receive_all(fd, deadline));
  return parse_answer(text);
}

}  // namespace clawmark
