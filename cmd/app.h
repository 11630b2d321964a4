#pragma once
// Everything that owns a store, put together from a configuration: store, models, pipeline,
// serving. Used by the daemon (with threads and a socket) and by commands that write without a
// daemon (without).

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/config.h"
#include "base/result.h"
#include "cmd/gate.h"
#include "serve/http_server.h"
#include "serve/serving.h"
#include "workers/pipeline.h"

namespace clawmark {

// Prices of prices.json, which come before the list (price_of). Of a file that cannot be used:
// none.
PriceTable own_prices();

class App {
 public:
  // Takes the store's lock for its life. `holder` is what the lock file says, such as "clawmarkd".
  // Errors of Store::open.
  static Result<std::unique_ptr<App>> open(const Config& config, std::string_view holder);
  ~App();

  // Workers and index, then answers at the door. An inert configuration only answers, and says so.
  Status start(Door& door);
  // < 5 s. What is asked from now on waits at the door; the slice at hand ends; nothing is lost.
  void stop();
  // Every loop has moved lately, and the socket answers.
  bool beats(std::int64_t within_ms);
  void look_now();

  // Reads all there is, without threads, and derives everything. `slice` is called between two
  // pieces of work.
  Result<DrainReport> run_once(const std::function<bool()>& slice);

  HttpAnswer answer(const HttpCall& call);
  Serving& serving();
  Pipeline& pipeline();
  // Why it is inert: of the configuration, or of what it names and cannot be used. Empty: it is
  // not.
  const std::vector<std::string>& problems() const;
  bool inert() const { return !problems().empty(); }

 private:
  struct State;
  explicit App(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace clawmark
