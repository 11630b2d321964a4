#include "serve/body_reader.h"

#include <chrono>
#include <iterator>

namespace clawmark {
namespace {
constexpr std::size_t kJobsMax = 64;  // more are waiting than will be answered in time
// Texts asked for at once: opening a source costs as much as some texts, and who came meanwhile
// does not wait for it again.
constexpr std::size_t kTextsAtOnce = 64;
}  // namespace

struct BodyReader::Job {
  std::vector<BodyRequest> missing;
  std::vector<std::optional<std::string>> texts;  // of each
  bool done = false, given_up = false;
  std::condition_variable ready;
};

BodyReader::BodyReader(BodyStore& bodies) : bodies_(bodies), thread_([this] { run(); }) {}

BodyReader::~BodyReader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

BodyAnswer BodyReader::get(Database& db, std::span<const Seq> messages, std::int64_t wait_ms) {
  BodyAnswer out;
  auto stored = bodies_.stored(db, messages);
  if (!stored.ok()) {
    out.failure = stored.error().stage + "/" + stored.error().reason;
    out.bodies.resize(messages.size());
    return out;
  }
  out.bodies = std::move(stored->bodies);
  if (stored->missing.empty()) return out;
  auto job = std::make_shared<Job>();
  job->missing = std::move(stored->missing);
  out.in_time = ask(job, wait_ms);
  if (!out.in_time) return out;
  for (std::size_t k = 0; k < job->texts.size(); ++k) {
    if (job->texts[k]) {
      out.bodies[stored->places[k]] = {BodyState::kSource, *std::move(job->texts[k])};
    }
  }
  return out;
}

std::size_t BodyReader::waiting() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

// Whether the job was done in time; if not it belongs to the reader's thread.
bool BodyReader::ask(const std::shared_ptr<Job>& job, std::int64_t wait_ms) {
  std::unique_lock lock(mutex_);
  if (stop_ || jobs_.size() >= kJobsMax || wait_ms <= 0) return false;
  jobs_.push_back(job);
  changed_.notify_one();
  const bool over = job->ready.wait_for(lock, std::chrono::milliseconds(wait_ms),
                                        [&] { return job->done || stop_; });
  job->given_up = !job->done;
  return over && job->done;
}

// What to ask for next: the jobs that still wait, in order, as many as go together.
std::vector<std::shared_ptr<BodyReader::Job>> BodyReader::take() {
  std::vector<std::shared_ptr<Job>> out;
  std::size_t texts = 0;
  while (!jobs_.empty()) {
    const auto& next = jobs_.front();
    if (!next->given_up) {
      if (!out.empty() && texts + next->missing.size() > kTextsAtOnce) break;
      texts += next->missing.size();
      out.push_back(next);
    }
    jobs_.pop_front();
  }
  return out;
}

void BodyReader::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (stop_) {
      for (const auto& job : jobs_) job->ready.notify_all();
      return;
    }
    const auto jobs = take();
    if (jobs.empty()) continue;
    std::vector<BodyRequest> missing;
    for (const auto& job : jobs) {
      missing.insert(missing.end(), job->missing.begin(), job->missing.end());
    }
    lock.unlock();
    auto texts = bodies_.ask(missing);
    lock.lock();
    auto text = std::make_move_iterator(texts.begin());
    for (const auto& job : jobs) {
      const auto behind = text + static_cast<std::ptrdiff_t>(job->missing.size());
      job->texts.assign(text, behind);
      text = behind;
      job->done = true;
      job->ready.notify_all();
    }
  }
}

}  // namespace clawmark
