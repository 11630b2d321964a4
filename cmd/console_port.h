#pragma once
// The daemon's interface for programs that people look through: asked of the daemon while one
// listens, else worked out here, read only. Calls may come from several threads.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/config.h"
#include "base/json.h"
#include "base/result.h"
#include "serve/http_server.h"

namespace clawmark {

class Reader;

class ConsolePort {
 public:
  // `store_only`: never asks the daemon.
  ConsolePort(Config config, bool store_only);
  ~ConsolePort();

  // As it came, with its status. Errors: of the socket, but for a daemon that is absent.
  Result<HttpAnswer> forward(const HttpCall& call, std::int64_t timeout_ms,
                             const std::atomic<bool>* stop = nullptr);
  // The answer's members; what the interface refused is an error.
  Result<json::object> ask(std::string_view method, std::string_view target,
                           const json::object& body, std::int64_t timeout_ms,
                           const std::atomic<bool>* stop = nullptr);
  const Config& config() const { return config_; }

 private:
  const Config config_;
  const bool store_only_;
  std::mutex mutex_;  // of the reader
  std::unique_ptr<Reader> reader_;
};

// Members of an answer, or the error that it tells. Its stage is "api".
Result<json::object> parse_api_answer(int status, std::string_view body);

}  // namespace clawmark
