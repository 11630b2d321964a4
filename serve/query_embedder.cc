#include "serve/query_embedder.h"

#include <chrono>
#include <condition_variable>

#include "base/hash.h"
#include "base/secrets.h"
#include "base/utf8.h"

namespace clawmark {
namespace {
constexpr std::size_t kCacheMax = 512;
constexpr std::size_t kQueryBytesMax = 1600;
}  // namespace

// Kept alive by answers under way. Texts are kept as hashes only.
struct QueryEmbedder::Shared {
  Embedder& embedder;
  Transport* transport;
  std::mutex mutex;
  std::condition_variable changed;
  std::list<std::pair<Hash256, Vector>> cache;  // newest first

  const Vector* find(const Hash256& key) {
    for (auto it = cache.begin(); it != cache.end(); ++it) {
      if (it->first != key) continue;
      cache.splice(cache.begin(), cache, it);
      return &cache.front().second;
    }
    return nullptr;
  }
  void keep(const Hash256& key, Vector vector) {
    cache.emplace_front(key, std::move(vector));
    if (cache.size() > kCacheMax) cache.pop_back();
  }
};

QueryEmbedder::QueryEmbedder(Embedder& embedder, Transport* transport)
    : shared_(new Shared{embedder, transport, {}, {}, {}}) {}

ModelId QueryEmbedder::model() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->embedder.model();
}

std::vector<Vector> QueryEmbedder::embed_local(const std::vector<std::string>& texts) {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->embedder.is_local()) return {};
  auto vectors = shared_->embedder.embed_local(texts);
  return vectors.ok() ? std::move(vectors).value() : std::vector<Vector>{};
}

QueryVector QueryEmbedder::embed(const std::string& full_text, std::int64_t wait_ms) {
  Shared& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  const std::size_t bytes_max = std::min(kQueryBytesMax, shared.embedder.text_bytes_max());
  const std::string text(prefix_bytes(full_text, bytes_max));
  // As the texts that it is compared with were embedded: nothing secret leaves this machine.
  const std::vector<std::string> texts = {shared.embedder.is_local() ? text : redact_secrets(text)};
  if (shared.embedder.is_local()) {
    auto vectors = shared.embedder.embed_local(texts);
    if (!vectors.ok()) return {{}, "embedding_" + vectors.error().reason};
    return {vectors->empty() ? Vector{} : std::move(vectors->front()), {}};
  }
  const Hash256 key = sha256(shared.embedder.model().name + '\n' + text);
  if (const Vector* known = shared.find(key)) return {*known, {}};
  if (shared.transport == nullptr) return {{}, "embedding_off"};

  HttpRequest request = shared.embedder.plan(texts);
  request.timeout_ms =
      std::max<std::int64_t>(wait_ms, 1) * 4;  // a late answer still fills the cache
  auto done = std::make_shared<std::optional<std::string>>();  // the failure; empty: well
  lock.unlock();
  shared.transport->send(std::move(request),
                         [keep = shared_, key, done](Result<HttpResponse> response) {
                           const std::lock_guard held(keep->mutex);
                           auto answer = keep->embedder.interpret(response, 1);
                           if (answer.ok() && !answer->vectors.empty() && answer->vectors.front()) {
                             keep->keep(key, std::move(*answer->vectors.front()));
                             *done = "";
                           } else {
                             *done = answer.ok() ? "no_vector" : answer.error().reason;
                           }
                           keep->changed.notify_all();
                         });
  lock.lock();
  if (!shared.changed.wait_for(lock, std::chrono::milliseconds(wait_ms),
                               [&] { return done->has_value(); })) {
    return {{}, "embedding_timeout"};
  }
  if (!(*done)->empty()) return {{}, "embedding_" + **done};
  const Vector* vector = shared.find(key);
  return vector == nullptr ? QueryVector{{}, "embedding_timeout"} : QueryVector{*vector, {}};
}

}  // namespace clawmark
