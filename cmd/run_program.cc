#include "cmd/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/files.h"

extern char** environ;

namespace clawmark {
namespace {

constexpr std::size_t kOutputMax = 256u << 10;

std::vector<std::string> environment_with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string entry = *at;
    if (!more.contains(entry.substr(0, entry.find('=')))) out.push_back(entry);
  }
  for (const auto& [name, value] : more) {
    std::string entry = name;
    out.push_back(entry.append("=").append(value));
  }
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Reads until the other end closes. False: time is up.
bool read_all(int fd, std::int64_t timeout_ms, std::string& out) {
  const SystemClock clock;
  const std::int64_t end = clock.steady_ms() + timeout_ms;
  std::array<char, 4096> buffer;
  for (;;) {
    pollfd wanted{fd, POLLIN, 0};
    const std::int64_t left = end - clock.steady_ms();
    if (left <= 0) return false;
    if (::poll(&wanted, 1, static_cast<int>(left)) < 0 && errno == EINTR) continue;
    if (wanted.revents == 0) return false;
    const auto count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) return true;
    const std::size_t room = kOutputMax - std::min(kOutputMax, out.size());
    out.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  }
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string candidate = join_path(rest.substr(0, colon), name);
    const auto file = stat_file(candidate);
    if (file && file->is_regular && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  return {};
}

Result<ProgramOutcome> run_program(const std::vector<std::string>& argv,
                                   const std::map<std::string, std::string>& environment,
                                   std::int64_t timeout_ms) {
  const std::string program = find_program(argv.front());
  if (program.empty()) {
    return make_error(ErrorKind::kNotFound, "program", "absent", argv.front() + " is not on PATH");
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return make_error(ErrorKind::kFatal, "program", "start", std::strerror(errno));
  }
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, writing.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, writing.get(), 2);
  std::vector<std::string> arguments = argv, variables = environment_with(environment);
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, program.c_str(), &actions, nullptr,
                                 pointers_to(arguments).data(), pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return make_error(ErrorKind::kFatal, "program", "start", std::strerror(code));
  writing = Fd();
  ProgramOutcome out;
  const bool ended = read_all(reading.get(), timeout_ms, out.output);
  if (!ended) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    return make_error(
        ErrorKind::kRetriable, "program", "timeout",
        argv.front() + " did not end within " + std::to_string(timeout_ms / 1000) + " s");
  }
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return out;
}

std::string command_text(const std::vector<std::string>& argv) {
  std::string out;
  for (const auto& word : argv) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-./:=@%+,") == std::string::npos;
    if (!out.empty()) out += ' ';
    if (plain) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

}  // namespace clawmark
