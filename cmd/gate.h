#pragma once
// Between the socket and who answers: while the service is set up anew the socket listens on, and
// what is asked waits for its answer instead of being refused.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "serve/http_server.h"

namespace clawmark {

class Gate {
 public:
  // Any thread. Waits until somebody answers, at most kGateWaitMs; then 503.
  HttpAnswer call(const HttpCall& call);

  void open(HttpHandler handler);
  // Returns when no call is with the handler any more. Further calls wait.
  void close();
  // For good: whoever waits or comes is answered 503 at once. Calls under way go on.
  void turn_away();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const HttpHandler> handler_;
  int inside_ = 0;
  bool shut_ = false;
};

// The socket, for the life of the process.
class Door {
 public:
  ~Door();
  // Listens at `options.socket_path` and lets `handler` answer. A socket that is already listened
  // on is kept; one of another path is left.
  Status open(const HttpServerOptions& options, HttpHandler handler);
  void close() { gate_.close(); }
  void turn_away() { gate_.turn_away(); }
  void shut();  // waits for answers under way
  bool listening() const { return server_ != nullptr; }

 private:
  Gate gate_;
  std::string path_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace clawmark
