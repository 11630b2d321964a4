#include "models/endpoint.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/secrets.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kWordsShown = 160;    // bytes of a server's own words in an error
constexpr std::size_t kWordsLooked = 4096;  // bytes of an error body that are looked at

struct UrlParts {
  std::string_view scheme_host;  // "https://user:pw@host:1"
  std::string_view path;         // "/v1"
  std::string_view query;        // "?x=1"
};

UrlParts split_url(std::string_view url) {
  url = url.substr(0, url.find('#'));
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t query = std::min(url.find('?', host), url.size());
  const std::size_t path = std::min(url.find('/', host), query);
  return {url.substr(0, path), url.substr(path, query - path), url.substr(query)};
}

// "v1", "v1beta", "v2alpha1".
bool is_version(std::string_view segment) {
  if (segment.size() < 2 || (segment[0] != 'v' && segment[0] != 'V')) return false;
  std::size_t digits = 1;
  while (digits < segment.size() && segment[digits] >= '0' && segment[digits] <= '9') ++digits;
  const std::string_view rest = segment.substr(digits);
  return digits > 1 && (rest.empty() || rest.starts_with("beta") || rest.starts_with("alpha"));
}

bool holds_version(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    if (is_version(path.substr(0, end))) return true;
    path.remove_prefix(end);
  }
  return false;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  if (what.size() < 2) return;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// What stands between '://' and '@' of the authority.
std::string_view url_credentials(std::string_view url) {
  const std::string_view head = split_url(url).scheme_host;
  const std::size_t scheme = head.find("://");
  const std::size_t at = head.rfind('@');
  if (scheme == std::string_view::npos || at == std::string_view::npos) return {};
  return head.substr(scheme + 3, at - scheme - 3);
}

// Passages in quotes are as good as always an echo of the input.
std::string without_quoted(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool opens =
        c == '"' || c == '`' ||
        (c == '\'' && (at == 0 || !((text[at - 1] | 0x20) >= 'a' && (text[at - 1] | 0x20) <= 'z')));
    const std::size_t close = opens ? text.find(c, at + 1) : std::string_view::npos;
    if (close != std::string_view::npos && close - at > 40) {
      out += "[…]";
      at = close + 1;
    } else {
      out.push_back(c);
      ++at;
    }
  }
  return out;
}

std::string message_of(const json::value& value) {
  if (value.is_string()) return std::string(view(value.get_string()));
  if (value.is_array() && !value.get_array().empty()) return message_of(value.get_array().front());
  if (!value.is_object()) return {};
  for (const std::string_view name : {"error", "message", "detail", "msg", "error_msg"}) {
    if (const json::value* inner = find(value, name)) {
      if (std::string found = message_of(*inner); !found.empty()) return found;
    }
  }
  return {};
}

// The server's own words about an error, or the start of the body.
std::string error_text(const HttpResponse& response) {
  const std::string_view body = prefix_bytes(response.body, kWordsLooked);
  if (auto parsed = parse_json(response.body.size() < (64u << 10) ? response.body : body);
      parsed.ok()) {
    if (std::string found = message_of(*parsed); !found.empty()) return found;
    return {};
  }
  return to_valid_utf8(body);
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool looks_like_html(const HttpResponse& response) {
  const std::string_view body = trim(response.body);
  return header(response, "content-type").find("html") != std::string_view::npos ||
         starts_with_ci(body, "<!doctype") || starts_with_ci(body, "<html") ||
         (body.starts_with("<") && body.find("</") != std::string_view::npos);
}

std::string status_words(int status, std::string_view remedy, std::string words) {
  std::string message = "endpoint answered " + std::to_string(status);
  if (!remedy.empty()) message.append(" (").append(remedy).append(")");
  if (!words.empty()) message.append(": ").append(words);
  return message;
}

std::optional<std::int64_t> retry_after_of(const HttpResponse& response) {
  const auto server_now = parse_http_date(header(response, "date"));
  return parse_retry_after(header(response, "retry-after"), server_now.value_or(TimeMs{}));
}

// A refusal that speaks of the set-up: no input is to blame for it.
bool blames_configuration(std::string_view lower_words) {
  return holds_any(lower_words, {"api key", "api_key", "apikey", "unauthorized", "authentication",
                                 "unknown model", "model not found", "does not exist",
                                 "no such model", "invalid model", "billing", "quota", "credit"});
}

}  // namespace

std::string endpoint_url(std::string_view base, std::string_view leaf) {
  const UrlParts parts = split_url(base);
  std::string_view path = parts.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  std::string url(parts.scheme_host);
  url.append(path);
  if (!path.ends_with(std::string("/").append(leaf))) {
    if (!holds_version(path)) url.append("/v1");
    url.append("/").append(leaf);
  }
  return url.append(parts.query);
}

std::string shown_url(std::string_view url) {
  const UrlParts parts = split_url(url);
  const std::string_view credentials = url_credentials(url);
  std::string shown(parts.scheme_host);
  if (!credentials.empty()) shown.erase(shown.find("://") + 3, credentials.size() + 1);
  return shown.append(parts.path);
}

HttpRequest json_request(const EndpointOptions& options, std::string_view leaf, std::string body) {
  HttpRequest request;
  request.url = endpoint_url(options.url, leaf);
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  if (!options.api_key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + options.api_key);
  }
  request.body = std::move(body);
  request.timeout_ms = options.timeout_ms;
  return request;
}

std::string_view header(const HttpResponse& response, std::string_view lower_case_name) {
  for (const auto& [name, value] : response.headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

std::string safe_words(std::string_view server_text, const EndpointOptions& options) {
  std::string words = to_valid_utf8(prefix_bytes(server_text, kWordsLooked));
  const std::string_view credentials = url_credentials(options.url);
  replace_all(words, options.api_key, "[secret]");
  replace_all(words, credentials, "[secret]");
  if (const std::size_t colon = credentials.find(':'); colon != std::string_view::npos) {
    replace_all(words, credentials.substr(colon + 1), "[secret]");
  }
  words = collapse_space(redact_secrets(without_quoted(words)));
  return std::string(prefix_bytes(words, kWordsShown));
}

std::optional<TooLong> too_long_of(std::string_view server_text) {
  const std::string text = lower_ascii(prefix_bytes(server_text, kWordsLooked));
  const bool says = holds_any(
      text, {"too large to process", "too long", "context length", "context size", "context window",
             "maximum input length", "sequence length", "token limit", "input is too large",
             "input length exceeds", "max_tokens_per_request",
             "exceeds the maximum number of tokens", "too many tokens", "must have less than"});
  if (!says) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] < '0' || text[at] > '9') {
      ++at;
      continue;
    }
    std::int64_t value = 0;
    for (; at < text.size() && ((text[at] >= '0' && text[at] <= '9') || text[at] == ','); ++at) {
      if (text[at] != ',' && value < 100'000'000) value = value * 10 + (text[at] - '0');
    }
    if (value >= 16) numbers.push_back(value);
  }
  TooLong found;
  if (numbers.size() == 1) {
    const bool is_given = holds_any(text, {"tokens) is too", "tokens is too"});
    (is_given ? found.given_tokens : found.limit_tokens) = numbers.front();
  } else if (numbers.size() > 1) {
    found.limit_tokens = *std::min_element(numbers.begin(), numbers.end());
    found.given_tokens = *std::max_element(numbers.begin(), numbers.end());
  }
  return found;
}

bool names_parameter(const Result<HttpResponse>& response, std::string_view parameter) {
  if (!response.ok() || (response->status != 400 && response->status != 422)) return false;
  const std::string body = lower_ascii(prefix_bytes(response->body, kWordsLooked));
  return body.find(parameter) != std::string::npos;
}

std::optional<Error> failure_of(const Result<HttpResponse>& response, std::string_view stage,
                                const EndpointOptions& options) {
  if (!response.ok()) return response.error();
  const int status = response->status;
  if (status >= 200 && status < 300) return std::nullopt;
  const std::string text = error_text(*response);
  const std::string lower = lower_ascii(text);
  Error error =
      make_error(ErrorKind::kRetriable, std::string(stage), "http_" + std::to_string(status), "");
  std::string_view remedy;
  if (looks_like_html(*response)) remedy = "HTML: is there a proxy?";
  if (status == 401 || status == 403) {
    remedy = "check the API key";
  } else if (status == 404) {
    remedy = "check URL and model";
  } else if (status >= 300 && status < 400) {
    remedy = "redirects are not followed: set the final URL";
  } else if (status == 429 || status == 503) {
    error.retry_after_ms = retry_after_of(*response);
  } else if (const auto too_long = too_long_of(text); too_long && status != 408) {
    error.reason = "too_long";
  } else if (status == 400 || status == 413 || status == 422) {
    if (!blames_configuration(lower) && remedy.empty()) {
      error.kind = ErrorKind::kPoison;
      error.reason = "rejected";
    }
  } else if (status == 500 && holds_any(lower, {"nan", "unsupported value", "failed to encode"})) {
    error.kind = ErrorKind::kPoison;
    error.reason = "rejected";
  }
  error.message = status_words(status, remedy, safe_words(text, options));
  return error;
}

Error bad_body(const HttpResponse& response, std::string_view stage,
               const EndpointOptions& options) {
  const std::string words = safe_words(prefix_bytes(response.body, kWordsShown), options);
  const std::string status = std::to_string(response.status);
  if (looks_like_html(response)) {
    return make_error(
        ErrorKind::kRetriable, std::string(stage), "html",
        "endpoint answered HTML, is there a proxy? (status " + status + "): " + words);
  }
  return make_error(ErrorKind::kRetriable, std::string(stage), "bad_answer",
                    "endpoint answered no JSON object (status " + status +
                        "): " + (words.empty() ? "empty" : words));
}

}  // namespace clawmark
