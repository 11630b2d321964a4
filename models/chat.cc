#include "models/chat.h"

#include <algorithm>

#include "base/guard.h"
#include "base/utf8.h"
#include "models/usage.h"

namespace clawmark {
namespace {

constexpr int kAnswerTokensMax = 16'000;

// The answer's text: a string, or a list of parts with text.
std::string content_of(const json::object& message) {
  const json::value* content = find(message, "content");
  if (content == nullptr) return {};
  if (content->is_string()) return std::string(view(content->get_string()));
  std::string joined;
  if (content->is_array()) {
    for (const json::value& part : content->get_array()) {
      if (part.is_object()) joined += get_string(part.get_object(), "text");
    }
  }
  return joined;
}

}  // namespace

Usage chat_usage(const json::object& body, std::size_t question_bytes) {
  std::size_t answer_bytes = 0;
  const json::array* choices = find_array(body, "choices");
  if (choices != nullptr && !choices->empty() && choices->front().is_object()) {
    const json::object* message = find_object(choices->front().get_object(), "message");
    if (message != nullptr) answer_bytes = content_of(*message).size();
  }
  return usage_of(body, question_bytes, answer_bytes);
}

Chat::Chat(EndpointOptions options, std::string stage, int answer_tokens)
    : options_(std::move(options)), stage_(std::move(stage)), answer_tokens_(answer_tokens) {}

std::string Chat::name() const {
  return shown_url(options_.url) + "|" + options_.model;
}

HttpRequest Chat::request(std::string_view system, std::string_view user, bool as_json) const {
  json::object first{{"role", "system"}, {"content", system}};
  json::object second{{"role", "user"}, {"content", own_call(user)}};
  json::object body{{"model", options_.model},
                    {"messages", json::array{std::move(first), std::move(second)}},
                    {"stream", false}};
  body[old_max_tokens_ ? "max_tokens" : "max_completion_tokens"] = answer_tokens_.load();
  if (ask_temperature_) body["temperature"] = 0;
  if (as_json && ask_json_) body["response_format"] = json::object{{"type", "json_object"}};
  HttpRequest request = json_request(options_, "chat/completions", to_text(body));
  request.answer_tokens_max = answer_tokens_;
  return request;
}

// Servers that refuse a parameter of ours do without it from then on.
std::optional<Error> Chat::learn_from(const Result<HttpResponse>& response) const {
  struct Quirk {
    std::string_view parameter;
    std::atomic<bool>& flag;
  };
  const std::array<Quirk, 3> quirks = {{{"max_completion_tokens", old_max_tokens_},
                                        {"response_format", ask_json_},
                                        {"temperature", ask_temperature_}}};
  for (const Quirk& quirk : quirks) {
    if (names_parameter(response, quirk.parameter) && quirk.flag.exchange(false)) {
      return make_error(ErrorKind::kRetriable, stage_, "parameter_refused",
                        "endpoint refuses a parameter (" + std::string(quirk.parameter) +
                            "): asked without it now");
    }
  }
  return std::nullopt;
}

Error Chat::no_answer(bool cut, std::string_view what) const {
  std::string message = "the model gave no answer: " + std::string(what);
  if (cut) {
    // Its thinking ate the allowance: the next try gets a larger one.
    answer_tokens_ = std::min(answer_tokens_ * 2, kAnswerTokensMax);
    message += "; it was cut, the next try may take " + std::to_string(answer_tokens_) + " tokens";
  }
  return make_error(ErrorKind::kRetriable, stage_, "empty_answer", std::move(message));
}

Result<ChatReply> Chat::read(const Result<HttpResponse>& response) const {
  if (auto learnt = learn_from(response)) return *std::move(learnt);
  if (auto error = failure_of(response, stage_, options_)) return *std::move(error);
  const auto parsed = parse_json(response->body);
  if (!parsed.ok() || !parsed->is_object()) return bad_body(*response, stage_, options_);
  const json::object& body = parsed->get_object();
  const json::array* choices = find_array(body, "choices");
  if (choices == nullptr) return bad_body(*response, stage_, options_);
  if (choices->empty() || !choices->front().is_object()) return no_answer(false, "no choices");
  const json::object& choice = choices->front().get_object();
  const std::string finish = get_string(choice, "finish_reason");
  if (finish == "content_filter") {
    return make_error(ErrorKind::kPoison, stage_, "content_filter",
                      "the provider's filter refused these messages");
  }
  const bool cut = finish == "length";
  const json::object* message = find_object(choice, "message");
  if (message == nullptr) return no_answer(cut, "no message");
  ChatReply reply{content_of(*message), cut, chat_usage(body, 0)};
  if (trim(reply.content).empty()) {
    const bool thought = !get_string(*message, "reasoning_content").empty() ||
                         !get_string(*message, "reasoning").empty();
    return no_answer(cut, thought ? "only thinking" : "empty content");
  }
  return reply;
}

}  // namespace clawmark
