#pragma once
// The providers of language models that questions go to, as scripts of a server on loopback.

#include <string>

#include "http_script.h"
#include "world.h"

namespace clawmark {

inline json::object body_of(const ScriptRequest& request) {
  return must(parse_json(request.body)).as_object();
}
inline ScriptAnswer refuse(const std::string& why) {
  return {400, R"({"error":{"message":")" + why + "\"}}", {}, false};
}
inline bool has_key(const ScriptRequest& request, const std::string& name,
                    const std::string& value) {
  const auto found = request.headers.find(name);
  return found != request.headers.end() && found->second == value;
}

// --- The providers, each as strict as the real one where it matters --------------------------

struct ProviderSays {
  std::string text = "Mollie [m1]";
  std::int64_t input = 900, output = 30;
};

inline ScriptAnswer anthropic(const ScriptRequest& request, const ProviderSays& said) {
  if (request.path != "/v1/messages" || request.method != "POST") return {404, "{}", {}, false};
  if (!has_key(request, "x-api-key", "k-test")) {
    return {
        401,
        R"({"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}})",
        {},
        false};
  }
  if (!has_key(request, "anthropic-version", "2023-06-01"))
    return refuse("anthropic-version: header is required");
  const auto body = body_of(request);
  if (get_int(body, "max_tokens") < 1) return refuse("max_tokens: Field required");
  for (const auto& message : *find_array(body, "messages")) {
    if (get_string(message.as_object(), "role") == "system") return refuse("role system");
  }
  return {200,
          to_text(json::object{
              {"id", "msg_01"},
              {"type", "message"},
              {"role", "assistant"},
              {"model", get_string(body, "model")},
              {"content", json::array{json::object{{"type", "text"}, {"text", said.text}}}},
              {"stop_reason", "end_turn"},
              {"stop_sequence", nullptr},
              {"usage", json::object{{"input_tokens", said.input - 100},
                                     {"cache_read_input_tokens", 100},
                                     {"cache_creation_input_tokens", 0},
                                     {"output_tokens", said.output}}}}),
          {},
          false};
}

inline ScriptAnswer openai(const ScriptRequest& request, const ProviderSays& said, bool router,
                           const char* path) {
  if (request.path != path) return {404, "{}", {}, false};
  if (!has_key(request, "authorization", "Bearer k-test")) {
    return {
        401,
        R"({"error":{"message":"Incorrect API key provided: k-test","type":"invalid_request_error"}})",
        {},
        false};
  }
  const auto body = body_of(request);
  if (get_string(find_array(body, "messages")->front().as_object(), "role") != "system") {
    return refuse("first message");
  }
  json::object usage{{"prompt_tokens", said.input},
                     {"completion_tokens", said.output},
                     {"total_tokens", said.input + said.output}};
  if (router) {
    if (find_object(body, "usage") == nullptr) return refuse("usage");
    usage["cost"] = 0.0123;
  }
  return {
      200,
      to_text(json::object{
          {"id", "chatcmpl-1"},
          {"object", "chat.completion"},
          {"model", get_string(body, "model")},
          {"choices", json::array{json::object{{"index", 0},
                                               {"finish_reason", "stop"},
                                               {"message", json::object{{"role", "assistant"},
                                                                        {"content", said.text},
                                                                        {"refusal", nullptr}}}}}},
          {"usage", std::move(usage)}}),
      {},
      false};
}

inline ScriptAnswer google(const ScriptRequest& request, const ProviderSays& said) {
  if (request.path != "/v1beta/models/gemini-2.5-flash:generateContent")
    return {404, "{}", {}, false};
  if (!has_key(request, "x-goog-api-key", "k-test")) {
    return {400,
            R"({"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}})",
            {},
            false};
  }
  const auto body = body_of(request);
  if (find_object(body, "systemInstruction") == nullptr) return refuse("systemInstruction");
  if (find_array(body, "contents") == nullptr || body.contains("model"))
    return refuse("Unknown name");
  return {
      200,
      to_text(json::object{
          {"candidates",
           json::array{json::object{
               {"content",
                json::object{{"role", "model"},
                             {"parts", json::array{json::object{{"thought", true}, {"text", "hm"}},
                                                   json::object{{"text", said.text}}}}}},
               {"finishReason", "STOP"},
               {"index", 0}}}},
          {"usageMetadata", json::object{{"promptTokenCount", said.input},
                                         {"candidatesTokenCount", said.output - 10},
                                         {"thoughtsTokenCount", 10}}}}),
      {},
      false};
}

}  // namespace clawmark
