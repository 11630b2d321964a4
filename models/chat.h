#pragma once
// One question to a server that speaks OpenAI's POST /v1/chat/completions, and its answer as text.

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "models/endpoint.h"
#include "models/model.h"

namespace clawmark {

struct ChatReply {
  std::string content;
  bool cut = false;  // it ran out of tokens
  Usage usage;
};

// What the server says that its answer took, as far as it can be true (usage.h).
Usage chat_usage(const json::object& body, std::size_t question_bytes);

// Learns from what a server refuses; safe to use from the writer's thread only.
class Chat {
 public:
  Chat(EndpointOptions options, std::string stage, int answer_tokens = 2000);
  std::string name() const;  // "https://host/v1|model"
  // `as_json`: ask the server to answer in JSON and nothing else.
  HttpRequest request(std::string_view system, std::string_view user, bool as_json) const;
  // Errors as of Extractor::interpret().
  Result<ChatReply> read(const Result<HttpResponse>& response) const;
  // An answer that holds nothing usable. Cut: the next try gets a larger allowance.
  Error no_answer(bool cut, std::string_view what) const;

 private:
  std::optional<Error> learn_from(const Result<HttpResponse>& response) const;

  EndpointOptions options_;
  std::string stage_;
  // What the server taught: parameters that it refuses, and how many tokens its thinking takes.
  mutable std::atomic<bool> ask_json_{true}, ask_temperature_{true}, old_max_tokens_{true};
  mutable std::atomic<int> answer_tokens_;
};

}  // namespace clawmark
