#pragma once
// Embedders and extractors. Each plans a request and interprets an answer; I/O is the transport's.
// Built-in kinds answer at once. Model output is parsed tolerantly and trusted little.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace clawmark {

using Vector = std::vector<float>;

struct HttpRequest {
  std::string method = "POST";
  std::string
      url;  // absolute; http or https; may carry no credentials (they are moved to a header)
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::int64_t timeout_ms = 15'000;    // one total deadline: resolve, connect, TLS, write, read
  std::int64_t answer_tokens_max = 0;  // that an answer in words was allowed; 0: no words
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
};

// Which model made a vector: vectors of unlike models are never compared.
struct ModelId {
  std::string name;  // "builtin-static-1", "https://host/v1|bge-m3"
  int dims = 0;
  bool operator==(const ModelId&) const = default;
};

struct EmbedAnswer {
  std::vector<std::optional<Vector>>
      vectors;                 // one per text, unit length; nullopt: ask again alone
  std::size_t mismatched = 0;  // texts for which the server sent no vector, or two
};

// Errors of interpret(): retriable (5xx, timeout, HTML, 429 with retry_after_ms, 401/403 as
// "http_401": blocked until configuration changes but asked again), poison ("rejected", 400/413/422
// or 500 naming the input), retriable "too_long" with limit_tokens learnt.
class Embedder {
 public:
  virtual ~Embedder() = default;
  virtual ModelId model() const = 0;  // dims 0 until probed
  virtual bool is_local() const = 0;  // answers without a request
  virtual std::size_t batch_max() const = 0;
  virtual Result<std::vector<Vector>> embed_local(std::span<const std::string> texts) = 0;
  virtual HttpRequest plan(std::span<const std::string> texts) const = 0;
  virtual Result<EmbedAnswer> interpret(const Result<HttpResponse>& response,
                                        std::size_t expected) = 0;
  // How many bytes of one text the model takes, as configured or learnt.
  virtual std::size_t text_bytes_max() const = 0;
};

// One message as the extractor sees it: cleaned and redacted.
struct WindowMessage {
  std::int64_t message = 0;  // seq of message.observed
  std::string role;          // "user", "assistant", "toolResult"
  std::string sender;        // person id, empty when not known
  std::string speaker;       // name for people
  std::string text;
  TimeMs at;
  bool is_bot = false;  // the sender is a program; also told by a name that ends in "bot"
};

struct Evidence {
  std::int64_t message = 0;
  std::string quote;
};

struct ExtractedFact {
  std::string key, value;
  double confidence = 0;
  std::vector<Evidence> evidence;
  std::string subject;        // person id the fact is about
  std::string replaces;       // a value given up for it, in the speaker's words; may be empty
  TimeMs observed;            // time of the newest evidence
  std::optional<TimeMs> due;  // a resolved date in the fact, if any
  bool verified = false;
  std::string why;  // why not verified
};

struct Usage {
  std::int64_t input_tokens = 0, output_tokens = 0;
};

struct ExtractAnswer {
  std::vector<ExtractedFact> facts;
  std::size_t dropped = 0;  // malformed items
  bool cut = false;         // the answer was cut: whole items kept, the batch wants fewer messages
  Usage usage;
};

class Extractor {
 public:
  virtual ~Extractor() = default;
  virtual std::string model() const = 0;
  virtual std::string prompt_version() const = 0;
  virtual bool is_local() const = 0;
  virtual Result<ExtractAnswer> extract_local(std::span<const WindowMessage> window,
                                              std::string_view zone) = 0;
  virtual HttpRequest plan(std::span<const WindowMessage> window, std::string_view zone) const = 0;
  virtual Result<ExtractAnswer> interpret(const Result<HttpResponse>& response,
                                          std::span<const WindowMessage> window) const = 0;
};

// Evidence check: a quote must stand (white space and case folded) in the cited message, and that
// message be a person's; quotes that do not are taken out, and a fact without any is not verified.
// Nor is one whose value rests only on assistant or tool text (these never vouch for a user's
// fact), or names what nobody said. Sets `verified`, `why`, `observed`, `subject`. Extractors have
// called it on what they return; calling it again changes nothing.
void verify_evidence(std::span<ExtractedFact> facts, std::span<const WindowMessage> window);

struct EndpointOptions {
  std::string url;  // base; "/v1/…" is appended unless it already ends in a version path
  std::string model;
  std::string api_key;  // sent as Authorization: Bearer; never logged
  int dims = 0;         // asked for and checked; 0: whatever the probe finds
  std::int64_t timeout_ms = 15'000;
  std::string ca_file;  // empty: the system's
  bool verify_tls = true;
};

std::unique_ptr<Embedder> make_builtin_embedder();
// Weights from a file that models/data/make_sentence_encoder makes. Errors: as
// SentenceEncoder::load.
Result<std::unique_ptr<Embedder>> make_file_embedder(const std::string& path);
std::unique_ptr<Embedder> make_endpoint_embedder(const EndpointOptions& options);
std::unique_ptr<Extractor> make_builtin_extractor();
std::unique_ptr<Extractor> make_endpoint_extractor(const EndpointOptions& options);

// Splits a text into chunks of at most bytes_max bytes at sentence, else word, else code-point
// borders, never inside a grapheme where one fits. Concatenation gives back the text.
std::vector<std::string_view> split_text(std::string_view text, std::size_t bytes_max);

// Retry-After as seconds or HTTP date; nullopt for absent, negative or garbage; capped at
// kRetryAfterMaxMs.
std::optional<std::int64_t> parse_retry_after(std::string_view value, TimeMs now);

}  // namespace clawmark
