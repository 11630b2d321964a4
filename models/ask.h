#pragma once
// One question to a language model, in the tongues of the providers: Anthropic's messages, OpenAI's
// chat completions (also OpenRouter's, and any compatible server's), Google's generateContent.
// Without streaming. Plans a request and interprets the answer; I/O is the transport's.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/model.h"

namespace clawmark {

enum class Provider { kAnthropic, kOpenai, kGoogle, kOpenrouter, kCompatible };
std::optional<Provider> provider_named(std::string_view name);  // "anthropic", "compatible", …
std::string_view to_string(Provider provider);
// The base URL of its service; empty: it has none of its own.
std::string_view provider_url(Provider provider);
// A cheap model of it; empty: the operator names one.
std::string_view provider_model(Provider provider);
// The variable in which its key is kept by custom: "ANTHROPIC_API_KEY", …
std::string_view provider_key_variable(Provider provider);

struct AskOptions {
  Provider provider = Provider::kAnthropic;
  std::string url;  // empty: the provider's own
  std::string model;
  std::string api_key;
  std::int64_t timeout_ms = 30'000;
  std::int64_t answer_tokens_max = 1024;
};

struct AskPrompt {
  std::string system, user;
};

struct AskAnswer {
  std::string text;
  Usage usage;
  std::optional<double> cost_usd;  // where the provider says it
  bool cut = false;                // at answer_tokens_max
};

HttpRequest plan_ask(const AskOptions& options, const AskPrompt& prompt);
// Errors: stage "ask"; as Embedder's for statuses (http_429 with retry_after_ms, http_529, …), and
// "refused" (poison) where the model or its filter gives no answer, "empty", "bad_answer".
Result<AskAnswer> interpret_ask(const AskOptions& options, const Result<HttpResponse>& response);

// The tokens a text is at most likely to have, by script: never far below what tokenizers count.
std::int64_t estimate_tokens(std::string_view text);
// The longest prefix of a text with at most so many tokens by that estimate.
std::string_view prefix_tokens(std::string_view text, std::int64_t tokens);
// How many tokens a model takes, question and answer together; by its name.
std::int64_t context_tokens(std::string_view model);

}  // namespace clawmark
