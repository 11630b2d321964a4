#include "serve/beside.h"

#include <utility>

namespace clawmark {

Beside::Beside() : thread_([this] { run(); }) {}

Beside::~Beside() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  given_.notify_one();
  thread_.join();
}

void Beside::both(const std::function<void()>& half, const std::function<void()>& own) {
  if (!begin(half)) {
    half();
    own();
    return;
  }
  // The other thread uses what belongs to the caller: nobody leaves before it has ended.
  std::exception_ptr thrown;
  try {
    own();
  } catch (...) {
    thrown = std::current_exception();
  }
  const std::exception_ptr beside = wait();
  if (thrown) std::rethrow_exception(thrown);
  if (beside) std::rethrow_exception(beside);
}

bool Beside::begin(const std::function<void()>& half) {
  {
    const std::lock_guard lock(mutex_);
    if (half_ != nullptr) return false;
    half_ = &half;
    done_ = false;
  }
  given_.notify_one();
  return true;
}

std::exception_ptr Beside::wait() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return done_; });
  half_ = nullptr;
  return std::exchange(thrown_, nullptr);
}

void Beside::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    given_.wait(lock, [this] { return stop_ || (half_ != nullptr && !done_); });
    if (stop_) return;
    const auto* half = half_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*half)();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = thrown;
    done_ = true;
    ended_.notify_one();
  }
}

}  // namespace clawmark
