#include "cmd/reader.h"

#include "base/logging.h"
#include "cmd/new_id.h"
#include "cmd/patience.h"
#include "cmd/source_options.h"
#include "log/store.h"
#include "serve/api.h"

namespace clawmark {
namespace {

std::unique_ptr<Embedder> own_embedder(const Config& config) {
  if (!config.embedding_url.empty()) return nullptr;
  if (config.encoder_file.empty()) return make_builtin_embedder();
  auto embedder = make_file_embedder(config.encoder_file);
  if (embedder.ok()) return std::move(embedder).value();
  log_warning("reader", describe(embedder.error()));
  return nullptr;
}

}  // namespace

Reader::Reader(const Config& config)
    : source_bodies_(
          [options = source_options(config), this] { return discover_sources(options, clock_); },
          clock_),
      bodies_(Retention::kReference, &source_bodies_),
      embedder_(own_embedder(config)) {
  ServingParts parts;
  parts.config = std::make_shared<const Config>(config);
  parts.clock = &clock_;
  parts.version = CLAWMARK_VERSION;
  parts.open_reader = [path = config.db_path] { return Store::open_read_only(path); };
  parts.bodies = &bodies_;
  parts.embedder = embedder_.get();
  parts.new_id = new_id;
  serving_ = std::make_unique<Serving>(std::move(parts));
}

HttpAnswer Reader::answer(const HttpCall& call) {
  // Nothing is built on the request path; a single question builds its index first.
  if (serving_->index && call.target != "/v1/status") {
    if (const auto status = serving_->index->refresh(); !status.ok()) {
      log_warning("index", describe(status.error()));
    }
  }
  return answer_patiently(*serving_, call);
}

}  // namespace clawmark
