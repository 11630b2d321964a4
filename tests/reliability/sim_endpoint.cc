#include "tests/reliability/sim_endpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"

namespace clawmark::reliability {
namespace {

HttpResponse http(int status, std::string body, std::string type = "application/json") {
  HttpResponse response;
  response.status = status;
  response.headers = {{"content-type", std::move(type)}};
  response.body = std::move(body);
  return response;
}

Error failed(const char* reason) {
  return make_error(ErrorKind::kRetriable, "transport", reason, "no answer");
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (int shift = 18; shift >= 0; shift -= 6) out.push_back(kDigits[bits >> shift & 63]);
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  out.replace(out.size() - padding, padding, std::string(padding, '='));
  return out;
}

json::value as_json(const Vector& vector, bool encoded) {
  if (encoded) {
    std::string bytes(vector.size() * 4, '\0');
    std::memcpy(bytes.data(), vector.data(), bytes.size());
    return json::value(base64(bytes));
  }
  json::array out;
  for (const float x : vector) out.emplace_back(static_cast<double>(x));
  return out;
}

}  // namespace

Vector SimEndpoint::vector_of(std::string_view text) {
  std::uint64_t bits = fnv1a(text);
  Vector vector;
  double squares = 0;
  for (int i = 0; i < kDims; ++i) {
    vector.push_back(static_cast<float>(1 + (bits >> (8 * i) & 255)));
    squares += static_cast<double>(vector.back()) * static_cast<double>(vector.back());
  }
  for (float& x : vector) x = static_cast<float>(static_cast<double>(x) / std::sqrt(squares));
  return vector;
}

HttpResponse SimEndpoint::embeddings(const std::vector<std::string>& texts) {
  if (text_bytes_max > 0) {
    for (const auto& text : texts) {
      if (text.size() <= text_bytes_max) continue;
      return http(500, R"({"error":{"message":"input ()" + std::to_string(text.size() / 4) +
                           " tokens) is too large to process\"}}");
    }
  }
  json::array data;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Vector vector = vector_of(texts[i]);
    if (weather == Weather::kWrongLength) vector.resize(kDims / 2);
    if (weather == Weather::kShortCount && i + 1 == texts.size()) break;
    data.push_back(
        json::object{{"index", i}, {"embedding", as_json(vector, weather == Weather::kBase64)}});
  }
  if (weather == Weather::kReordered) std::reverse(data.begin(), data.end());
  std::string body = to_text(json::object{{"data", std::move(data)}});
  if (weather == Weather::kNan) {
    body = R"({"data":[)";
    for (std::size_t i = 0; i < texts.size(); ++i) {
      body += (i == 0 ? "" : ",") + std::string(R"({"index":)") + std::to_string(i) +
              R"(,"embedding":[NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN]})";
    }
    body += "]}";
  }
  return http(200, std::move(body));
}

// Facts, or the world model's prose and JSON, or a summary: told by what the prompt asks for.
HttpResponse SimEndpoint::completion(const std::string& request) {
  if (weather == Weather::kShortCount) return http(200, R"({"choices":[]})");
  std::string text = R"({"facts":[]})", finish = "stop";
  if (request.find(R"(\"facts\")") == std::string::npos) {
    text = "They talked.\n";
    if (request.find(R"(\"nodes\")") != std::string::npos) {
      text += R"({"state":"","nodes":[],"edges":[],"episodes":[],"merge":[]})";
    }
  }
  if (weather == Weather::kNan) text.clear();
  if (weather == Weather::kWrongLength) text = "I could not find anything of note.";
  if (weather == Weather::kCut) {
    text = R"({"facts":[{"key":"pref.a","value":"b"},{"key":"rent","value":"1,2)";
    finish = "length";
  }
  json::object message{{"role", "assistant"}, {"content", text}};
  json::object choice{{"finish_reason", finish}, {"message", std::move(message)}};
  return http(200, to_text(json::object{{"choices", json::array{std::move(choice)}}}));
}

Reply SimEndpoint::good(const HttpRequest& request) {
  Reply reply{http(400, "{}"), 20 + random_.below(200), 0};
  const auto parsed = parse_json(request.body);
  if (!parsed.ok() || !parsed->is_object()) return reply;
  std::vector<std::string> texts;
  if (const auto* input = find_array(parsed->get_object(), "input")) {
    for (const auto& text : *input) texts.emplace_back(view(text.get_string()));
  }
  if (request.body.find(kStuck) != std::string::npos) {
    return {failed("timeout"), request.timeout_ms, 0};
  }
  if (request.body.find(kPoison) != std::string::npos) {
    reply.response = http(500, R"({"error":"failed to encode response: unsupported value: NaN"})");
    if (texts.empty()) reply.response = http(400, R"({"error":{"message":"bad input"}})");
    return reply;
  }
  HttpResponse response = texts.empty() ? completion(request.body) : embeddings(texts);
  if (weather == Weather::kCut && !texts.empty() && response.status == 200)
    response.body.resize(response.body.size() / 2);
  reply.response = std::move(response);
  if (weather == Weather::kSlow) reply.latency_ms = 1000 + random_.below(13'000);
  return reply;
}

Reply SimEndpoint::too_many(TimeMs) {
  HttpResponse response = http(429, R"({"error":{"message":"rate limit"}})");
  std::int64_t quiet_ms = 0;
  switch (random_.below(5)) {
    case 0: {
      const auto seconds = 1 + random_.below(120);
      response.headers.emplace_back("retry-after", std::to_string(seconds));
      quiet_ms = seconds * 1000;
      break;
    }
    case 1:
      response.headers.emplace_back("retry-after", "86400");
      quiet_ms = kRetryAfterMaxMs;
      break;
    case 2:
      response.headers.emplace_back("retry-after", "-5");
      break;
    case 3:
      response.headers.emplace_back("retry-after", "soon");
      break;
    default:
      break;
  }
  return {std::move(response), 30, quiet_ms};
}

Reply SimEndpoint::answer(const HttpRequest& request, TimeMs now) {
  constexpr int kStatuses[] = {500, 502, 503};
  switch (weather) {
    case Weather::kTooMany:
      return too_many(now);
    case Weather::kUnauthorized:
      return {http(401, R"({"error":{"message":"bad key"}})"), 30, 0};
    case Weather::kBroken:
      return {http(kStatuses[random_.below(3)], "upstream failed", "text/plain"), 100, 0};
    case Weather::kHtml:
      return {http(200, "<!DOCTYPE html><title>Sign in</title>", "text/html"), 50, 0};
    case Weather::kNull:
      return {http(200, "null"), 20, 0};
    case Weather::kSilent:
      return {failed("timeout"), request.timeout_ms, 0};
    case Weather::kRefused:
      return {failed("connect"), 1, 0};
    default:
      return good(request);
  }
}

}  // namespace clawmark::reliability
