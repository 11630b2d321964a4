#include "models/ask.h"

#include <array>
#include <charconv>

#include "base/guard.h"
#include "base/json.h"
#include "base/utf8.h"
#include "models/endpoint.h"
#include "models/usage.h"

namespace clawmark {
namespace {

constexpr char kStage[] = "ask";
constexpr double kCostMaxUsd = 100;            // of one answer; who says more is not believed
constexpr std::int64_t kCountMax = 1LL << 40;  // of tokens: sums stay numbers

struct ProviderRow {
  Provider provider;
  std::string_view name, url, model, key_variable;
};
constexpr std::array<ProviderRow, 5> kProviders = {{
    {Provider::kAnthropic, "anthropic", "https://api.anthropic.com", "claude-haiku-4-5",
     "ANTHROPIC_API_KEY"},
    {Provider::kOpenai, "openai", "https://api.openai.com", "gpt-4o-mini", "OPENAI_API_KEY"},
    {Provider::kGoogle, "google", "https://generativelanguage.googleapis.com/v1beta",
     "gemini-2.5-flash", "GOOGLE_API_KEY"},
    {Provider::kOpenrouter, "openrouter", "https://openrouter.ai/api", "anthropic/claude-haiku-4.5",
     "OPENROUTER_API_KEY"},
    {Provider::kCompatible, "compatible", "", "", "CLAWMARK_API_KEY"},
}};

const ProviderRow& row_of(Provider provider) {
  for (const ProviderRow& row : kProviders) {
    if (row.provider == provider) return row;
  }
  return kProviders.front();
}

EndpointOptions endpoint_of(const AskOptions& options) {
  EndpointOptions out;
  out.url = options.url.empty() ? std::string(provider_url(options.provider)) : options.url;
  out.model = options.model;
  out.api_key = options.api_key;
  out.timeout_ms = options.timeout_ms;
  return out;
}

Error ask_error(ErrorKind kind, std::string_view reason, std::string message) {
  return make_error(kind, kStage, std::string(reason), std::move(message));
}

// Models that think before they answer take neither a temperature nor the older name of the limit.
bool is_thinking_openai(std::string_view model) {
  const auto slash = model.rfind('/');
  if (slash != std::string_view::npos) model.remove_prefix(slash + 1);
  return model.starts_with("gpt-5") || model.starts_with("o1") || model.starts_with("o3") ||
         model.starts_with("o4");
}

json::object text_message(std::string_view role, const std::string& text) {
  return {{"role", role}, {"content", text}};
}

HttpRequest plan_anthropic(const AskOptions& options, const AskPrompt& prompt) {
  json::object body{{"model", options.model},
                    {"max_tokens", options.answer_tokens_max},
                    {"temperature", 0},
                    {"messages", json::array{text_message("user", prompt.user)}}};
  if (!prompt.system.empty()) body["system"] = prompt.system;
  EndpointOptions endpoint = endpoint_of(options);
  endpoint.api_key.clear();  // it has a header of its own
  HttpRequest request = json_request(endpoint, "messages", to_text(body));
  request.headers.emplace_back("x-api-key", options.api_key);
  request.headers.emplace_back("anthropic-version", "2023-06-01");
  return request;
}

HttpRequest plan_openai(const AskOptions& options, const AskPrompt& prompt) {
  json::array messages;
  if (!prompt.system.empty()) messages.push_back(text_message("system", prompt.system));
  messages.push_back(text_message("user", prompt.user));
  json::object body{{"model", options.model}, {"messages", std::move(messages)}};
  const bool thinks = is_thinking_openai(options.model);
  const bool newer = thinks || options.provider == Provider::kOpenai;
  body[newer ? "max_completion_tokens" : "max_tokens"] = options.answer_tokens_max;
  if (!thinks) body["temperature"] = 0;
  if (options.provider == Provider::kOpenrouter) body["usage"] = json::object{{"include", true}};
  return json_request(endpoint_of(options), "chat/completions", to_text(body));
}

HttpRequest plan_google(const AskOptions& options, const AskPrompt& prompt) {
  const auto parts = [](const std::string& text) {
    return json::array{json::object{{"text", text}}};
  };
  json::object body{
      {"contents", json::array{json::object{{"role", "user"}, {"parts", parts(prompt.user)}}}},
      {"generationConfig",
       json::object{{"temperature", 0}, {"maxOutputTokens", options.answer_tokens_max}}}};
  if (!prompt.system.empty()) {
    body["systemInstruction"] = json::object{{"parts", parts(prompt.system)}};
  }
  EndpointOptions endpoint = endpoint_of(options);
  endpoint.api_key.clear();
  // json_request() adds "/v1" where the path has no version, "/v1beta" is one.
  HttpRequest request =
      json_request(endpoint, "models/" + options.model + ":generateContent", to_text(body));
  request.headers.emplace_back("x-goog-api-key", options.api_key);
  return request;
}

const json::object* first_object(const json::object& body, std::string_view name) {
  const json::array* list = find_array(body, name);
  return list == nullptr || list->empty() ? nullptr : list->front().if_object();
}

// Texts of a list of parts, those left out that `skip` names.
std::string joined_texts(const json::array& parts, bool typed) {
  std::string out;
  for (const json::value& part : parts) {
    const auto* object = part.if_object();
    if (object == nullptr || get_bool(*object, "thought")) continue;
    if (typed && get_string(*object, "type", "text") != "text") continue;
    out += get_string(*object, "text");
  }
  return out;
}

// 0: a part of it cannot be true.
std::int64_t sum_of(const json::object& counts, std::initializer_list<std::string_view> names) {
  std::int64_t sum = 0;
  for (const std::string_view name : names) {
    const std::int64_t count = get_int(counts, name);
    if (count < 0 || count > kCountMax) return 0;
    sum += count;
  }
  return sum;
}

Usage told(std::int64_t input_tokens, std::int64_t output_tokens, std::string_view text) {
  return {plausible_question_tokens(input_tokens),
          plausible_tokens(output_tokens, text.size(), kUnseenAnswerMax)};
}

Result<AskAnswer> read_anthropic(const json::object& body) {
  AskAnswer out;
  if (const auto* content = find_array(body, "content")) out.text = joined_texts(*content, true);
  const std::string why = get_string(body, "stop_reason");
  out.cut = why == "max_tokens";
  if (why == "refusal") {
    return ask_error(ErrorKind::kPoison, "refused", "the model declined to answer");
  }
  if (const auto* usage = find_object(body, "usage")) {
    out.usage = told(
        sum_of(*usage, {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}),
        get_int(*usage, "output_tokens"), out.text);
  }
  return out;
}

Result<AskAnswer> read_openai(const json::object& body, const AskOptions& options) {
  AskAnswer out;
  // OpenRouter says some failures of the provider behind it with status 200.
  if (const auto* error = find_object(body, "error")) {
    const std::int64_t code = get_int(*error, "code", 502);
    return ask_error(ErrorKind::kRetriable, "http_" + std::to_string(code),
                     "endpoint answered " + std::to_string(code) + ": " +
                         safe_words(get_string(*error, "message"), endpoint_of(options)));
  }
  const auto* choice = first_object(body, "choices");
  const auto* message = choice == nullptr ? nullptr : find_object(*choice, "message");
  if (message == nullptr) {
    return ask_error(ErrorKind::kRetriable, "bad_answer", "the endpoint's answer has no choice");
  }
  if (const auto* parts = find_array(*message, "content")) {
    out.text = joined_texts(*parts, true);
  } else {
    out.text = get_string(*message, "content");
  }
  const std::string why = get_string(*choice, "finish_reason");
  out.cut = why == "length";
  const bool declined = !get_string(*message, "refusal").empty() || why == "content_filter";
  if (declined && out.text.empty()) {
    return ask_error(ErrorKind::kPoison, "refused", "the model declined to answer");
  }
  out.usage = usage_of(body, 0, out.text.size());
  if (const auto* usage = find_object(body, "usage")) {
    const double cost = get_double(*usage, "cost", -1);
    if (cost >= 0 && cost <= kCostMaxUsd) out.cost_usd = cost;
  }
  return out;
}

Result<AskAnswer> read_google(const json::object& body) {
  AskAnswer out;
  const auto* candidate = first_object(body, "candidates");
  const auto* feedback = find_object(body, "promptFeedback");
  if (candidate == nullptr) {
    const bool blocked = feedback != nullptr && !get_string(*feedback, "blockReason").empty();
    return blocked ? ask_error(ErrorKind::kPoison, "refused", "the provider's filter blocked it")
                   : ask_error(ErrorKind::kRetriable, "bad_answer", "the answer has no candidate");
  }
  const auto* content = find_object(*candidate, "content");
  const auto* parts = content == nullptr ? nullptr : find_array(*content, "parts");
  if (parts != nullptr) out.text = joined_texts(*parts, false);
  if (const auto* usage = find_object(body, "usageMetadata")) {
    out.usage = told(get_int(*usage, "promptTokenCount"),
                     sum_of(*usage, {"candidatesTokenCount", "thoughtsTokenCount"}), out.text);
  }
  const std::string why = get_string(*candidate, "finishReason");
  out.cut = why == "MAX_TOKENS";
  if (out.text.empty() && (why == "SAFETY" || why == "RECITATION" || why == "PROHIBITED_CONTENT")) {
    return ask_error(ErrorKind::kPoison, "refused", "the provider's filter blocked the answer");
  }
  return out;
}

// Google says when to come again in the body: "retryDelay": "30s".
std::optional<std::int64_t> google_retry_ms(const HttpResponse& response) {
  const auto parsed = parse_json(response.body);
  const auto* body = parsed.ok() ? parsed->if_object() : nullptr;
  const auto* error = body == nullptr ? nullptr : find_object(*body, "error");
  const auto* details = error == nullptr ? nullptr : find_array(*error, "details");
  if (details == nullptr) return std::nullopt;
  for (const json::value& detail : *details) {
    const auto* object = detail.if_object();
    if (object == nullptr) continue;
    std::string delay = get_string(*object, "retryDelay");
    if (delay.empty() || delay.back() != 's') continue;
    delay.pop_back();
    double seconds = 0;
    const auto got = std::from_chars(delay.data(), delay.data() + delay.size(), seconds);
    if (got.ec == std::errc() && seconds >= 0 && seconds < 3600) {
      return static_cast<std::int64_t>(seconds * 1000);
    }
  }
  return std::nullopt;
}

// Tokens of one code point, by script, times 100.
int token_hundredths(char32_t c) {
  if (c < 0x80) return 33;                                    // a little over three letters a token
  if (c < 0x0250) return 55;                                  // Latin with marks
  if (c < 0x0600) return 60;                                  // Greek, Cyrillic, Hebrew
  if (c < 0x0E00) return 90;                                  // Arabic, scripts of India
  if (c < 0x2E80) return 110;                                 // Thai, Georgian, symbols
  if (c < 0xD7B0 || (c >= 0xF900 && c < 0xFB00)) return 130;  // Chinese, Japanese, Korean
  return 250;                                                 // emoji and rare scripts
}

}  // namespace

std::optional<Provider> provider_named(std::string_view name) {
  for (const ProviderRow& row : kProviders) {
    if (row.name == name) return row.provider;
  }
  return std::nullopt;
}
std::string_view to_string(Provider provider) {
  return row_of(provider).name;
}
std::string_view provider_url(Provider provider) {
  return row_of(provider).url;
}
std::string_view provider_model(Provider provider) {
  return row_of(provider).model;
}
std::string_view provider_key_variable(Provider provider) {
  return row_of(provider).key_variable;
}

HttpRequest plan_ask(const AskOptions& options, const AskPrompt& asked) {
  const AskPrompt prompt{asked.system, own_call(asked.user)};
  switch (options.provider) {
    case Provider::kAnthropic:
      return plan_anthropic(options, prompt);
    case Provider::kGoogle:
      return plan_google(options, prompt);
    default:
      return plan_openai(options, prompt);
  }
}

Result<AskAnswer> interpret_ask(const AskOptions& options, const Result<HttpResponse>& response) {
  const EndpointOptions endpoint = endpoint_of(options);
  if (auto failure = failure_of(response, kStage, endpoint)) {
    if (options.provider == Provider::kGoogle && response.ok() && !failure->retry_after_ms) {
      failure->retry_after_ms = google_retry_ms(*response);
    }
    return *std::move(failure);
  }
  const auto parsed = parse_json(response->body);
  const auto* body = parsed.ok() ? parsed->if_object() : nullptr;
  if (body == nullptr) return bad_body(*response, kStage, endpoint);
  auto answer = options.provider == Provider::kAnthropic ? read_anthropic(*body)
                : options.provider == Provider::kGoogle  ? read_google(*body)
                                                         : read_openai(*body, options);
  if (!answer.ok()) return answer;
  answer->text = std::string(trim(to_valid_utf8(answer->text)));
  if (answer->text.empty()) {
    return ask_error(ErrorKind::kRetriable, "empty", "the model answered without a word");
  }
  return answer;
}

std::int64_t estimate_tokens(std::string_view text) {
  std::int64_t hundredths = 0;
  for (std::size_t at = 0; at < text.size();) {
    hundredths += token_hundredths(next_code_point(text, at));
  }
  return (hundredths + 99) / 100;
}

std::string_view prefix_tokens(std::string_view text, std::int64_t tokens) {
  std::int64_t hundredths = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    hundredths += token_hundredths(next_code_point(text, at));
    if (hundredths > tokens * 100) return text.substr(0, here);
  }
  return text;
}

std::int64_t context_tokens(std::string_view model) {
  const auto slash = model.rfind('/');
  if (slash != std::string_view::npos) model.remove_prefix(slash + 1);
  struct Row {
    std::string_view prefix;
    std::int64_t tokens;
  };
  static constexpr Row kKnown[] = {
      {"claude", 200'000}, {"gemini", 1'000'000}, {"gpt-4.1", 1'000'000},
      {"gpt-4o", 128'000}, {"gpt-5", 272'000},    {"o4", 200'000},
      {"o3", 200'000},     {"deepseek", 64'000},  {"mistral", 32'000}};
  for (const Row& row : kKnown) {
    if (model.starts_with(row.prefix)) return row.tokens;
  }
  return 8'192;  // of a model that nobody knows
}

}  // namespace clawmark
