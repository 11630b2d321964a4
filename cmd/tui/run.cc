#include "cmd/tui/run.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "cmd/tui/curses_terminal.h"

namespace clawmark::tui {
namespace {

constexpr std::int64_t kTickMs = 5'000;
constexpr std::int64_t kAskMs = 30'000;
constexpr std::int64_t kChangeMs = 120'000;
constexpr std::size_t kThreads = 2;  // a slow answer does not hold up all others

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, signal);
  return set;
}

// Asks behind the screen; `fd` is readable when answers wait.
class Asker {
 public:
  struct Answer {
    std::uint64_t id;
    Result<json::object> answer;
  };
  explicit Asker(ConsolePort& port) : port_(port), fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    // Signals are for the thread that shows.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { work(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Asker() {
    stop_ = true;
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  int fd() const { return fd_.get(); }
  void ask(std::vector<Ask> asks) {
    const std::lock_guard lock(mutex_);
    for (Ask& one : asks) asks_.push_back(std::move(one));
    wake_.notify_all();
  }
  std::vector<Answer> take() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);
    const std::lock_guard lock(mutex_);
    return std::exchange(answers_, {});
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !asks_.empty(); });
      if (stop_) return;
      const Ask one = std::move(asks_.front());
      asks_.pop_front();
      lock.unlock();
      const bool slow = one.request.target == "/v1/admin/forget" ||
                        one.request.target == "/v1/admin/parked_retry";
      auto answer = port_.ask(one.request.method, one.request.target, one.request.body,
                              slow ? kChangeMs : kAskMs, &stop_);
      lock.lock();
      answers_.push_back({one.id, std::move(answer)});
      const std::uint64_t more = 1;
      [[maybe_unused]] const ssize_t put = ::write(fd_.get(), &more, sizeof more);
    }
  }

  ConsolePort& port_;
  const Fd fd_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Ask> asks_;
  std::vector<Answer> answers_;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

class Loop {
 public:
  Loop(CursesTerminal& terminal, ConsolePort& port, ModelOptions options)
      : terminal_(terminal), model_(std::move(options)), asker_(port) {
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Loop() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  int run() {
    model_.resize(terminal_.rows(), terminal_.columns());
    asker_.ask(model_.start());
    std::int64_t ticked = clock_.steady_ms();
    while (!model_.done()) {
      terminal_.show(model_.draw());
      if (const int signal = wait(ticked + kTickMs - clock_.steady_ms()); signal != 0) {
        return signal;
      }
      if (terminal_.closed()) return SIGHUP;
      for (auto& [id, answer] : asker_.take()) asker_.ask(model_.answered(id, std::move(answer)));
      if (clock_.steady_ms() - ticked >= kTickMs) {
        ticked = clock_.steady_ms();
        asker_.ask(model_.tick());
      }
    }
    return 0;
  }

 private:
  // For a key, an answer, a change of size or a signal, whose number it gives.
  int wait(std::int64_t at_most_ms) {
    pollfd fds[] = {
        {STDIN_FILENO, POLLIN, 0}, {asker_.fd(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    ::poll(fds, 3, static_cast<int>(std::max<std::int64_t>(at_most_ms, 0)));
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      return static_cast<int>(info.ssi_signo);
    }
    if ((fds[0].revents & (POLLHUP | POLLERR)) != 0) return SIGHUP;
    while (const auto key = terminal_.read(model_.typing())) {
      model_.resize(terminal_.rows(), terminal_.columns());
      if (key->kind == Key::Kind::kOther) continue;  // another size, most likely
      asker_.ask(model_.key(*key));
      if (model_.done()) break;
    }
    return 0;
  }

  CursesTerminal& terminal_;
  Model model_;
  Asker asker_;
  SystemClock clock_;
  Fd signals_;
  sigset_t before_{};
};

}  // namespace

Result<int> run(ConsolePort& port, ModelOptions options) {
  CLAWMARK_ASSIGN(const auto terminal, CursesTerminal::open());
  return Loop(*terminal, port, std::move(options)).run();
}

}  // namespace clawmark::tui
