#pragma once
// An OpenAI-compatible model server on loopback, scripted: by default it embeds a text as a vector
// made of its hash, and extracts a fact from each person's message "remember KEY = VALUE". A test
// may answer otherwise. One thread per connection; plain HTTP/1.1, one request each.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark::reliability {

struct ServerAnswer {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string raw;       // not empty: these bytes instead of an HTTP answer
  bool hang_up = false;  // no answer at all
};

// What the default script says to a request.
ServerAnswer scripted_answer(std::string_view path, std::string_view body);

class ModelServer {
 public:
  using Script = std::function<ServerAnswer(std::string_view path, std::string_view body)>;
  explicit ModelServer(Script script = scripted_answer);
  ~ModelServer();
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;

  std::string url() const;  // "http://127.0.0.1:PORT/v1"
  std::int64_t requests() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace clawmark::reliability
