#include "tests/cmd/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "base/files.h"

namespace clawmark::support {
namespace {

std::string program_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string() + "/" + program;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Process::Process(const std::string& program, std::vector<std::string> arguments,
                 Environment environment) {
  const std::string path = program_path(program);
  std::vector<std::string> argv{path}, env;
  for (auto& argument : arguments) argv.push_back(std::move(argument));
  for (const auto& [name, value] : environment) env.push_back(name + "=" + value);
  auto argv_pointers = pointers(argv), env_pointers = pointers(env);
  // Made here: the child may be killed before it does anything.
  const auto made = [](const std::string& name) {
    return ::open(name.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
  };
  const Fd out(made(dir_ / "out")), err(made(dir_ / "err"));
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  dup2(out.get(), 1);
  dup2(err.get(), 2);
  const int null = ::open("/dev/null", O_RDONLY);
  dup2(null, 0);
  execve(path.c_str(), argv_pointers.data(), env_pointers.data());
  _exit(127);
}

Process::~Process() {
  if (!ended_) {
    signal(SIGKILL);
    wait();
  }
}

void Process::signal(int number) {
  ::kill(pid_, number);
}

bool Process::is_running() {
  if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

Outcome Process::wait() {
  if (!ended_) waitpid(pid_, &status_, 0);
  ended_ = true;
  Outcome outcome;
  outcome.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  outcome.out = out();
  outcome.err = err();
  return outcome;
}

Outcome run(const std::string& program, std::vector<std::string> arguments,
            Process::Environment environment) {
  return Process(program, std::move(arguments), std::move(environment)).wait();
}

Outcome in_shell(const std::string& command) {
  return run("/bin/sh", {"-c", "exec 2>&1; " + command}, {{"PATH", "/usr/bin:/bin"}});
}

void let_run(std::int64_t ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

bool eventually(const std::function<bool()>& condition) {
  const SystemClock clock;
  const std::int64_t end_ms = clock.steady_ms() + kMinuteMs;
  while (clock.steady_ms() < end_ms) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return condition();
}

}  // namespace clawmark::support
