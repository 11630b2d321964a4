#pragma once
// Two halves of one request's work at the same time.

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace clawmark {

// One thread that takes the other half. While it has somebody else's the caller does both itself,
// so nobody waits for another request.
class Beside {
 public:
  Beside();
  ~Beside();
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  // Returns when both have ended. What either throws is thrown here, that of `own` first.
  void both(const std::function<void()>& half, const std::function<void()>& own);

 private:
  bool begin(const std::function<void()>& half);
  std::exception_ptr wait();
  void run();

  std::mutex mutex_;
  std::condition_variable given_, ended_;
  const std::function<void()>* half_ = nullptr;  // given and not taken back yet
  bool done_ = false, stop_ = false;
  std::exception_ptr thrown_;
  std::thread thread_;
};

}  // namespace clawmark
