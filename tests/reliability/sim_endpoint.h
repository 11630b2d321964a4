#pragma once
// A model server as it is on bad days: weather that changes by the seed, and texts that it can
// never stomach. It answers real request bodies with real bytes, for the real interpreters.

#include <set>
#include <string>

#include "models/model.h"
#include "workers/backoff.h"

namespace clawmark::reliability {

enum class Weather {
  kGood,
  kSlow,
  kBase64,
  kReordered,     // right, but in another order, told by index
  kTooMany,       // 429 with a Retry-After of any form, or none
  kUnauthorized,  // 401
  kBroken,        // 500, 502, 503
  kHtml,          // a login page, status 200
  kNull,          // JSON null, status 200
  kNan,           // vectors of NaN; a completion without content
  kShortCount,    // one vector too few; no choices
  kWrongLength,   // vectors of half the length; prose instead of JSON
  kCut,           // half of the bytes; a completion that ends at its token limit
  kSilent,        // accepts, and never answers: the total deadline ends it
  kRefused,       // nobody listens
  kCount
};

struct Reply {
  Result<HttpResponse> response;
  std::int64_t latency_ms = 0;
  std::int64_t quiet_ms = 0;  // the server's wish, as it may be taken: 0: none
};

class SimEndpoint {
 public:
  explicit SimEndpoint(std::uint64_t seed) : random_(seed) {}
  Reply answer(const HttpRequest& request, TimeMs now);

  Weather weather = Weather::kGood;
  std::size_t text_bytes_max = 0;  // a longer text is too long for the model; 0: any
  static constexpr std::string_view kPoison = "POISON", kStuck = "STUCK";

  static constexpr int kDims = 8;
  // The vector that a text must have.
  static Vector vector_of(std::string_view text);

 private:
  Reply good(const HttpRequest& request);
  Reply too_many(TimeMs now);
  HttpResponse embeddings(const std::vector<std::string>& texts);
  HttpResponse completion(const std::string& request);

  Random random_;
};

}  // namespace clawmark::reliability
