// Any server that speaks OpenAI's POST /v1/chat/completions.

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "base/json.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "models/answer_parser.h"
#include "models/endpoint.h"
#include "models/evidence.h"
#include "models/extract_prompt.h"
#include "models/fact_key.h"
#include "models/model.h"

namespace clawmark {
namespace {

constexpr int kAnswerTokensFirst = 2000;
constexpr int kAnswerTokensMax = 16'000;
constexpr double kConfidenceUnsaid = 0.8;  // of an item without one

Error extract_error(std::string_view reason, std::string message) {
  return make_error(ErrorKind::kRetriable, "extract", std::string(reason), std::move(message));
}

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

// Two different keys of one answer that the rule maps to one: the one that was legal as written
// stays, the others are dropped rather than merged.
class KeyGuard {
 public:
  std::optional<std::string> admit(const std::string& raw) {
    auto legal = normal_fact_key(raw);
    if (!legal) return std::nullopt;
    const auto [at, fresh] = owners_.emplace(*legal, raw);
    if (!fresh && at->second != raw) return std::nullopt;
    return legal;
  }
  void prefer(const std::string& raw) {
    if (const auto legal = normal_fact_key(raw); legal && *legal == raw) owners_[*legal] = raw;
  }

 private:
  std::map<std::string, std::string> owners_;  // legal key → as the model wrote it
};

std::optional<ExtractedFact> to_fact(const ParsedFact& item, KeyGuard& keys) {
  ExtractedFact fact;
  const auto key = keys.admit(item.key);
  if (!key || holds_secret(item.key)) return std::nullopt;
  fact.key = *key;
  fact.value = redact_secrets(trim(item.value));
  if (fact.value.empty() || count_code_points(fact.value) > kFactValueMax) return std::nullopt;
  fact.confidence = item.confidence.value_or(kConfidenceUnsaid);
  for (const ParsedEvidence& evidence : item.evidence) {
    fact.evidence.push_back({evidence.message.value_or(0), redact_secrets(evidence.quote)});
  }
  if (!item.due.empty()) {
    std::string due = item.due;
    if (const std::size_t gap = due.find(" +"); gap != std::string::npos) due.erase(gap, 1);
    if (const std::size_t gap = due.find(" -"); gap != std::string::npos) due.erase(gap, 1);
    fact.due = parse_iso(due);
  }
  return fact;
}

Usage usage_of(const json::object& body) {
  Usage usage;
  if (const json::object* counts = find_object(body, "usage")) {
    usage.input_tokens = get_int(*counts, "prompt_tokens");
    usage.output_tokens = get_int(*counts, "completion_tokens");
  }
  return usage;
}

class EndpointExtractor final : public Extractor {
 public:
  explicit EndpointExtractor(EndpointOptions options) : options_(std::move(options)) {}

  std::string model() const override { return shown_url(options_.url) + "|" + options_.model; }
  std::string prompt_version() const override { return std::string(kPromptVersion); }
  bool is_local() const override { return false; }

  Result<ExtractAnswer> extract_local(std::span<const WindowMessage>, std::string_view) override {
    return make_error(ErrorKind::kFatal, "extract", "not_local", "this extractor asks an endpoint");
  }

  HttpRequest plan(std::span<const WindowMessage> window, std::string_view zone) const override;
  Result<ExtractAnswer> interpret(const Result<HttpResponse>& response,
                                  std::span<const WindowMessage> window) const override;

 private:
  std::optional<Error> learn_from(const Result<HttpResponse>& response) const;
  Error no_answer(const json::object* choice, std::string_view what) const;
  Result<ExtractAnswer> read_choice(const json::object& choice, Usage usage,
                                    std::span<const WindowMessage> window) const;

  EndpointOptions options_;
  // What the server taught: parameters that it refuses, and how many tokens its thinking takes.
  mutable std::atomic<bool> ask_json_{true}, ask_temperature_{true}, old_max_tokens_{true};
  mutable std::atomic<int> answer_tokens_{kAnswerTokensFirst};
};

HttpRequest EndpointExtractor::plan(std::span<const WindowMessage> window,
                                    std::string_view zone) const {
  json::object system{{"role", "system"}, {"content", extract_instructions(zone)}};
  json::object user{{"role", "user"}, {"content", transcript_block(window, zone)}};
  json::object body{{"model", options_.model},
                    {"messages", json::array{std::move(system), std::move(user)}},
                    {"stream", false}};
  body[old_max_tokens_ ? "max_tokens" : "max_completion_tokens"] = answer_tokens_.load();
  if (ask_temperature_) body["temperature"] = 0;
  if (ask_json_) body["response_format"] = json::object{{"type", "json_object"}};
  return json_request(options_, "chat/completions", to_text(body));
}

// Servers that refuse a parameter of ours do without it from then on.
std::optional<Error> EndpointExtractor::learn_from(const Result<HttpResponse>& response) const {
  struct Quirk {
    std::string_view parameter;
    std::atomic<bool>& flag;
  };
  const std::array<Quirk, 3> quirks = {{{"max_completion_tokens", old_max_tokens_},
                                        {"response_format", ask_json_},
                                        {"temperature", ask_temperature_}}};
  for (const Quirk& quirk : quirks) {
    if (names_parameter(response, quirk.parameter) && quirk.flag.exchange(false)) {
      return extract_error("parameter_refused", "endpoint refuses a parameter (" +
                                                    std::string(quirk.parameter) +
                                                    "): asked without it now");
    }
  }
  return std::nullopt;
}

Error EndpointExtractor::no_answer(const json::object* choice, std::string_view what) const {
  const std::string finish = choice == nullptr ? "" : get_string(*choice, "finish_reason");
  std::string message = "the model gave no answer: " + std::string(what);
  if (finish == "length") {
    // Its thinking ate the allowance: the next try gets a larger one.
    answer_tokens_ = std::min(answer_tokens_ * 2, kAnswerTokensMax);
    message += "; it was cut, the next try may take " + std::to_string(answer_tokens_) + " tokens";
  }
  return extract_error("empty_answer", std::move(message));
}

Result<ExtractAnswer> EndpointExtractor::interpret(const Result<HttpResponse>& response,
                                                   std::span<const WindowMessage> window) const {
  if (auto learnt = learn_from(response)) return *std::move(learnt);
  if (auto error = failure_of(response, "extract", options_)) return *std::move(error);
  const auto parsed = parse_json(response->body);
  if (!parsed.ok() || !parsed->is_object()) return bad_body(*response, "extract", options_);
  const json::object& body = parsed->get_object();
  const json::array* choices = find_array(body, "choices");
  if (choices == nullptr) return bad_body(*response, "extract", options_);
  if (choices->empty() || !choices->front().is_object()) return no_answer(nullptr, "no choices");
  return read_choice(choices->front().get_object(), usage_of(body), window);
}

Result<ExtractAnswer> EndpointExtractor::read_choice(const json::object& choice, Usage usage,
                                                     std::span<const WindowMessage> window) const {
  const std::string finish = get_string(choice, "finish_reason");
  if (finish == "content_filter") {
    return make_error(ErrorKind::kPoison, "extract", "content_filter",
                      "the provider's filter refused these messages");
  }
  const json::object* message = find_object(choice, "message");
  if (message == nullptr) return no_answer(&choice, "no message");
  const std::string content = content_of(*message);
  if (trim(content).empty()) {
    const bool thought = !get_string(*message, "reasoning_content").empty() ||
                         !get_string(*message, "reasoning").empty();
    return no_answer(&choice, thought ? "only thinking" : "empty content");
  }
  const ParsedAnswer parsed = parse_answer(content);
  if (!parsed.found) return no_answer(&choice, "no JSON list of facts in it");

  ExtractAnswer answer;
  answer.usage = usage;
  answer.cut = parsed.cut || finish == "length";
  answer.dropped = parsed.dropped;
  KeyGuard keys;
  for (const ParsedFact& item : parsed.facts) keys.prefer(item.key);
  for (const ParsedFact& item : parsed.facts) {
    auto fact = answer.facts.size() < kFactsPerAnswerMax ? to_fact(item, keys) : std::nullopt;
    if (!fact) {
      ++answer.dropped;
      continue;
    }
    find_evidence(*fact, window);
    answer.facts.push_back(*std::move(fact));
  }
  verify_evidence(answer.facts, window);
  return answer;
}

}  // namespace

std::unique_ptr<Extractor> make_endpoint_extractor(const EndpointOptions& options) {
  return std::make_unique<EndpointExtractor>(options);
}

}  // namespace clawmark
