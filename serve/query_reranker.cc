#include "serve/query_reranker.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "models/reranker.h"

namespace clawmark {
namespace {

// Kept alive by an answer that comes too late.
struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  RerankScores answer;
};

}  // namespace

RerankScores QueryReranker::rerank(const std::string& query, const std::vector<std::string>& texts,
                                   std::int64_t wait_ms) const {
  if (texts.size() < 2) return {};
  if (wait_ms <= 0) return {{}, "rerank_timeout"};
  auto waiting = std::make_shared<Waiting>();
  transport_.send(plan_rerank(url_, query, texts, wait_ms),
                  [waiting, url = url_, count = texts.size()](Result<HttpResponse> response) {
                    auto scores = interpret_rerank(response, url, count);
                    const std::lock_guard lock(waiting->mutex);
                    if (scores.ok()) {
                      waiting->answer.scores = std::move(scores).value();
                    } else {
                      waiting->answer.degraded = "rerank_" + scores.error().reason;
                    }
                    waiting->done = true;
                    waiting->changed.notify_all();
                  });
  std::unique_lock lock(waiting->mutex);
  if (!waiting->changed.wait_for(lock, std::chrono::milliseconds(wait_ms),
                                 [&] { return waiting->done; })) {
    return {{}, "rerank_timeout"};
  }
  return waiting->answer;
}

}  // namespace clawmark
