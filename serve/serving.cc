#include "serve/serving.h"

namespace clawmark {

Serving::Serving(ServingParts parts)
    : clock(*parts.clock),
      version(std::move(parts.version)),
      started(parts.clock->now()),
      writer(parts.writer),
      new_id(std::move(parts.new_id)),
      repl_program(std::move(parts.repl_program)),
      desk(std::move(parts.desk)),
      readers(std::move(parts.open_reader)),
      bodies(*parts.bodies),
      embedder(parts.embedder == nullptr
                   ? nullptr
                   : std::make_unique<QueryEmbedder>(*parts.embedder, parts.transport)),
      index(embedder == nullptr ? nullptr
                                : std::make_unique<IndexKeeper>(
                                      readers, clock, [this] { return embedder->model(); })),
      reranker(parts.transport == nullptr || parts.config->rerank_url.empty()
                   ? nullptr
                   : std::make_unique<QueryReranker>(parts.config->rerank_url, *parts.transport)),
      retrieval(clock, bodies, embedder.get(), index.get(), reranker.get()),
      config_(std::move(parts.config)) {}

std::shared_ptr<const Config> Serving::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

void Serving::set_config(std::shared_ptr<const Config> config) {
  const std::lock_guard lock(mutex_);
  config_ = std::move(config);
}

Handshake Serving::handshake() const {
  const std::lock_guard lock(mutex_);
  return handshake_;
}

void Serving::set_handshake(Handshake handshake) {
  const std::lock_guard lock(mutex_);
  handshake_ = std::move(handshake);
}

void Serving::count_refusal(Refusal refusal) {
  if (refusal == Refusal::kNone) return;
  metrics.count("clawmark_refusals_total", Metrics::label("reason", to_string(refusal)));
}

json::object protocol_object() {
  return {{"protocol", kProtocol}};
}

}  // namespace clawmark
