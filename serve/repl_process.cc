#include "serve/repl_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/limits_history.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr int kChildSocket = 3;
constexpr std::size_t kFrameHead = 4;

Error failed(std::string reason, std::string message) {
  return make_error(ErrorKind::kRetriable, "repl", std::move(reason), std::move(message));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close_now() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// The child, until it is dead: killed and waited for whatever happens.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() { (void)kill_now(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  // The wait status of one that ends by itself, or is made to.
  int end() {
    for (int tries = 0; pid_ > 0 && tries < kReplReapTries; ++tries) {
      if (::waitpid(pid_, &status_, WNOHANG) > 0) pid_ = -1;
      if (pid_ > 0) ::poll(nullptr, 0, kReplReapMs);
    }
    return kill_now();
  }
  int kill_now() {
    if (pid_ <= 0) return status_;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status_;
  }

 private:
  pid_t pid_;
  int status_ = 0;
};

// One descriptor, no environment but the zone, the root folder, a process group of its own.
Result<pid_t> spawn(const std::string& program, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  for (const int fd : {0, 1, 2}) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, socket, kChildSocket);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kChildSocket + 1);
  ::posix_spawn_file_actions_addchdir_np(&actions, "/");
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = "clawmark-repl", zone = "TZ=UTC";
  std::array<char*, 2> arguments = {name.data(), nullptr};
  std::array<char*, 2> environment = {zone.data(), nullptr};
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(),
                                 environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (code != 0) {
    return make_error(ErrorKind::kFatal, "repl", "no_program",
                      "clawmark-repl cannot be started: install it beside clawmarkd");
  }
  return pid;
}

// Frames over a socket that is never waited on longer than said.
class Wire {
 public:
  Wire(int socket, const Clock& clock, const ReplOptions& options)
      : socket_(socket), clock_(clock), options_(options), start_(clock.steady_ms()) {}

  // false: late, gone or broken; `late()` says which.
  bool send(std::string_view payload) {
    std::string frame(kFrameHead, '\0');
    for (std::size_t i = 0; i < kFrameHead; ++i) {
      frame[i] = static_cast<char>(payload.size() >> (8 * i) & 0xFF);
    }
    frame += payload;
    for (std::size_t at = 0; at < frame.size();) {
      if (!ready(POLLOUT)) return false;
      const ssize_t put =
          ::send(socket_, frame.data() + at, frame.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (put <= 0) return false;
      at += static_cast<std::size_t>(put);
    }
    return true;
  }

  std::optional<std::string> receive() {
    std::string head;
    if (!read(head, kFrameHead)) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 0; i < kFrameHead; ++i) {
      size |= static_cast<std::size_t>(static_cast<unsigned char>(head[i])) << (8 * i);
    }
    std::string payload;
    if (size > kReplFrameMax || !read(payload, size)) return std::nullopt;
    return payload;
  }

  bool late() const { return late_; }
  std::int64_t left_ms() const {
    return std::max<std::int64_t>(0, start_ + options_.wall_ms - clock_.steady_ms());
  }

 private:
  bool read(std::string& into, std::size_t size) {
    std::array<char, 1 << 16> buffer;
    while (into.size() < size) {
      if (!ready(POLLIN)) return false;
      const ssize_t got =
          ::recv(socket_, buffer.data(), std::min(buffer.size(), size - into.size()), MSG_DONTWAIT);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return false;
      into.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return true;
  }

  bool ready(short what) {
    pollfd wait{socket_, what, 0};
    for (;;) {
      const auto ms = std::min(options_.think_ms, left_ms());
      const int found = ::poll(&wait, 1, static_cast<int>(ms));
      if (found < 0 && errno == EINTR) continue;
      late_ = found == 0;
      return found > 0;
    }
  }

  int socket_;
  const Clock& clock_;
  const ReplOptions& options_;
  std::int64_t start_;
  bool late_ = false;
};

std::string reply_to(const json::object& call, const ReplHost& host) {
  const std::string name = get_string(call, "name");
  const auto params = parse_json(get_string(call, "params"));
  if (!params.ok() || !params->is_object()) {
    return to_text(json::object{{"error", "the parameters are no JSON"}});
  }
  auto answer = host(name, params->get_object());
  json::object reply;
  if (answer.ok()) {
    reply["value"] = std::move(answer).value();
  } else {
    reply["error"] = answer.error().message;
  }
  std::string text = to_text(reply);
  if (text.size() > kReplFrameMax) {
    return to_text(json::object{{"error", "the answer is too large: ask for less"}});
  }
  return text;
}

void take_result(const json::object& done, ReplOutcome& out) {
  const std::string output = to_valid_utf8(get_string(done, "output"));
  out.output = std::string(prefix_code_points(output, kReplOutputMax));
  out.output_cut = get_bool(done, "cut") || out.output.size() < output.size();
  out.error = std::string(prefix_code_points(to_valid_utf8(get_string(done, "error")), 1000));
  out.stopped = get_bool(done, "stopped");
  if (const auto text = get_optional_string(done, "final")) {
    if (auto value = parse_json(*text); value.ok()) out.final = std::move(value).value();
  }
}

// How a child that said nothing more ended.
std::string epitaph(bool late, int status) {
  if (late) return "stopped: the code took too long";
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGXCPU) return "stopped: the code used too much processor time";
    if (signal == SIGSYS) return "stopped: the code asked the system for what it may not";
    return "stopped: the code broke its process, most likely out of memory";
  }
  // Exit codes of cmd/clawmark-repl/main.cc.
  if (WEXITSTATUS(status) == 3) {
    return "stopped before it began: this system does not let its process be walled in (seccomp, "
           "resource limits)";
  }
  if (WEXITSTATUS(status) == 4) return "stopped before it began: the engine does not start";
  return "stopped: the code ended its process";
}

}  // namespace

Result<ReplOutcome> run_repl(const ReplOptions& options, const Clock& clock, std::string_view code,
                             const ReplHost& host) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return failed("socket", "no socket for the script's process");
  }
  const Descriptor ours(pair[0]);
  Descriptor theirs(pair[1]);
  CLAWMARK_ASSIGN(const pid_t pid, spawn(options.program, theirs.get()));
  Child child(pid);
  theirs.close_now();
  Wire wire(ours.get(), clock, options);
  ReplOutcome out;
  const auto stop = [&](std::string why) {
    out.stopped = true;
    out.error = std::move(why);
    return out;
  };
  bool up = wire.send(to_text(json::object{{"code", code}, {"cpu_ms", options.cpu_ms}}));
  while (up) {
    const auto frame = wire.receive();
    if (!frame) break;
    const auto parsed = parse_json(*frame);
    if (!parsed.ok() || !parsed->is_object()) return stop("stopped: the script's process broke");
    const auto& message = parsed->get_object();
    if (get_string(message, "type") == "done") {
      take_result(message, out);
      return out;
    }
    if (++out.calls > kReplCallsMax) {
      return stop("stopped: more than " + std::to_string(kReplCallsMax) + " questions");
    }
    const std::string reply = reply_to(message, host);
    if (wire.left_ms() == 0) return stop("stopped: the code took too long");
    up = wire.send(reply);
  }
  // The socket closes before its process is gone; how it went says why.
  const bool late = wire.late();
  return stop(epitaph(late, late ? child.kill_now() : child.end()));
}

}  // namespace clawmark
