#pragma once
// Message texts within a deadline. The vault is read where one asks; a source may be locked or slow
// (another program's database), so it is asked on a thread of its own, and no prompt ever waits for
// it longer than it wants.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "log/body_store.h"

namespace clawmark {

struct BodyAnswer {
  std::vector<Body> bodies;  // in the order asked; kGone what a source did not give in time
  bool in_time = true;
  std::string failure;  // not empty: the store or a source could not be read
};

class BodyReader {
 public:
  // `bodies` must outlive it; sources are asked through it from this reader's thread only.
  explicit BodyReader(BodyStore& bodies);
  ~BodyReader();
  BodyReader(const BodyReader&) = delete;
  BodyReader& operator=(const BodyReader&) = delete;

  BodyAnswer get(Database& db, std::span<const Seq> messages, std::int64_t wait_ms);
  std::size_t waiting() const;  // those that are not being answered yet

 private:
  struct Job;
  bool ask(const std::shared_ptr<Job>& job, std::int64_t wait_ms);
  std::vector<std::shared_ptr<Job>> take();  // with the mutex held
  void run();
  BodyStore& bodies_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clawmark
