#pragma once
// An HTTP server on loopback that answers by a script: one request a connection.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace clawmark {

struct ScriptRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};
struct ScriptAnswer {
  int status = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool hang_up = false;
  std::size_t missing = 0;  // bytes of the body that are promised and never come
};

class ScriptServer {
 public:
  using Script = std::function<ScriptAnswer(const ScriptRequest&)>;
  explicit ScriptServer(Script script);
  ~ScriptServer();
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  std::string url() const;  // "http://127.0.0.1:PORT"
  int requests() const { return requests_; }
  int at_once_max() const { return at_once_max_; }

 private:
  void run();
  void serve(int fd);
  Script script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> requests_{0}, at_once_{0}, at_once_max_{0};
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::thread> connections_;
};

}  // namespace clawmark
