#include "serve/body_reader.h"

#include <chrono>

namespace clawmark {
namespace {
constexpr std::size_t kJobsMax = 64;  // more are waiting than will be answered in time
}  // namespace

struct BodyReader::Job {
  std::vector<Seq> messages;
  BodyAnswer answer;
  bool done = false, given_up = false;
  std::condition_variable ready;
};

BodyReader::BodyReader(Readers& readers, BodyStore& bodies)
    : readers_(readers), bodies_(bodies), thread_([this] { run(); }) {}

BodyReader::~BodyReader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

BodyAnswer BodyReader::get(std::vector<Seq> messages, std::int64_t wait_ms) {
  BodyAnswer late;
  late.bodies.resize(messages.size());
  if (messages.empty()) return late;
  late.in_time = false;
  auto job = std::make_shared<Job>();
  job->messages = std::move(messages);
  std::unique_lock lock(mutex_);
  if (stop_ || jobs_.size() >= kJobsMax || wait_ms <= 0) return late;
  jobs_.push_back(job);
  changed_.notify_one();
  if (!job->ready.wait_for(lock, std::chrono::milliseconds(wait_ms),
                           [&] { return job->done || stop_; })) {
    job->given_up = true;
    return late;
  }
  return job->done ? std::move(job->answer) : late;
}

void BodyReader::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (stop_) {
      for (const auto& job : jobs_) job->ready.notify_all();
      return;
    }
    const auto job = jobs_.front();
    jobs_.pop_front();
    if (job->given_up) continue;
    lock.unlock();
    BodyAnswer answer;
    auto lease = readers_.lease();
    auto bodies = lease.ok() ? bodies_.get(**lease, job->messages)
                             : Result<std::vector<Body>>(std::move(lease).error());
    if (bodies.ok()) {
      answer.bodies = std::move(bodies).value();
    } else {
      answer.failure = bodies.error().stage + "/" + bodies.error().reason;
    }
    answer.bodies.resize(job->messages.size());
    lock.lock();
    job->answer = std::move(answer);
    job->done = true;
    job->ready.notify_all();
  }
}

}  // namespace clawmark
