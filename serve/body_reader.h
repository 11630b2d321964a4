#pragma once
// Message texts within a deadline. A source may be locked or slow (another program's database); the
// wait is on a thread of its own, so that no prompt ever waits for it longer than it wants.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "log/body_store.h"
#include "serve/readers.h"

namespace clawmark {

struct BodyAnswer {
  std::vector<Body> bodies;  // in the order asked; all kGone when not in time
  bool in_time = true;
  std::string failure;  // not empty: the store or a source could not be read
};

class BodyReader {
 public:
  // Both must outlive it. `bodies` is used from this reader's thread only.
  BodyReader(Readers& readers, BodyStore& bodies);
  ~BodyReader();
  BodyReader(const BodyReader&) = delete;
  BodyReader& operator=(const BodyReader&) = delete;

  BodyAnswer get(std::vector<Seq> messages, std::int64_t wait_ms);

 private:
  struct Job;
  void run();
  Readers& readers_;
  BodyStore& bodies_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clawmark
