#pragma once
// What the two endpoint models share: addresses, headers, and what an answer that is no answer
// means.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "models/model.h"

namespace clawmark {

// "https://host" + "embeddings" → "https://host/v1/embeddings". "/v1" is left out when the path
// already holds a version ("…/v1", "…/v1beta/openai"); a base that already ends in the leaf stays;
// a query stays.
std::string endpoint_url(std::string_view base, std::string_view leaf);
// The URL without credentials, query and fragment: fit to be shown and stored.
std::string shown_url(std::string_view url);

// A JSON request with the key as a header.
HttpRequest json_request(const EndpointOptions& options, std::string_view leaf, std::string body);

// RFC 9110 dates in their three forms.
std::optional<TimeMs> parse_http_date(std::string_view value);

std::string_view header(const HttpResponse& response, std::string_view lower_case_name);

// Takes secrets out of what a server said: known kinds, the key, credentials of the URL. At most
// 160 bytes, one line. Quoted passages go too, since servers echo their input.
std::string safe_words(std::string_view server_text, const EndpointOptions& options);

// Nothing for a status of 2xx; else the error as Embedder and Extractor promise it. `stage`:
// "embed" or "extract".
std::optional<Error> failure_of(const Result<HttpResponse>& response, std::string_view stage,
                                const EndpointOptions& options);
// The error for a body with a good status that is no JSON object: HTML, null, cut.
Error bad_body(const HttpResponse& response, std::string_view stage,
               const EndpointOptions& options);

// Whether a refusal (400, 422) names one of our optional parameters.
bool names_parameter(const Result<HttpResponse>& response, std::string_view parameter);

// The token limit that an error "too large" names; 0: it is one, without a number; nullopt: another
// error.
struct TooLong {
  std::int64_t limit_tokens = 0;
  std::int64_t given_tokens = 0;
};
std::optional<TooLong> too_long_of(std::string_view server_text);

}  // namespace clawmark
