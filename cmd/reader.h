#pragma once
// The memory without a daemon, for commands that only look: a read-only connection, the built-in
// models, no writer.

#include <memory>

#include "base/clock.h"
#include "base/config.h"

#include "serve/http_server.h"
#include "serve/serving.h"
#include "workers/source_bodies.h"

namespace clawmark {

class Reader {
 public:
  explicit Reader(const Config& config);
  // The answer of the daemon's interface, worked out here.
  HttpAnswer answer(const HttpCall& call);

 private:
  SystemClock clock_;
  SourceBodies source_bodies_;
  BodyStore bodies_;
  std::unique_ptr<Embedder> embedder_;  // null: words only (an endpoint is not asked from here)
  std::unique_ptr<Serving> serving_;
};

}  // namespace clawmark
