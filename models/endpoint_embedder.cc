// Any server that speaks OpenAI's POST /v1/embeddings.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "models/endpoint.h"
#include "models/model.h"

namespace clawmark {
namespace {

constexpr std::size_t kBatchMax = 64;
constexpr std::size_t kTextBytesMin =
    200;                                // a learnt limit never goes below: then it is another fault
constexpr double kBytesPerToken = 2.5;  // low for English, so that the next try fits
constexpr int kDimsMax = 65'536;

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<std::uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<std::uint32_t>(c - 'a') + 26;
    } else if (c >= '0' && c <= '9') {
      value = static_cast<std::uint32_t>(c - '0') + 52;
    } else if (c == '+' || c == '-') {
      value = 62;
    } else if (c == '/' || c == '_') {
      value = 63;
    } else if (c == '=' || c == '\n' || c == '\r') {
      continue;
    } else {
      return std::nullopt;
    }
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xFF));
    }
  }
  return out;
}

// Some servers write NaN and Infinity, which are no JSON: they become null, outside of strings.
std::string without_nan(std::string_view body) {
  std::string out;
  out.reserve(body.size());
  bool in_string = false;
  for (std::size_t at = 0; at < body.size();) {
    if (in_string) {
      if (body[at] == '\\' && at + 1 < body.size()) out.push_back(body[at++]);
      in_string = body[at] != '"';
      out.push_back(body[at++]);
      continue;
    }
    std::string_view rest = body.substr(at);
    bool replaced = false;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN", "-NaN", "nan"}) {
      if (!rest.starts_with(word)) continue;
      out.append("null");
      at += word.size();
      replaced = true;
      break;
    }
    if (replaced) continue;
    in_string = body[at] == '"';
    out.push_back(body[at++]);
  }
  return out;
}

struct Decoded {
  Vector values;       // as sent
  bool finite = true;  // false: NaN, null or infinite among them
};

// Numbers or base64 of little-endian float32; nullopt: neither.
std::optional<Decoded> decode_vector(const json::value& embedding) {
  Decoded decoded;
  if (embedding.is_string()) {
    const auto bytes = decode_base64(view(embedding.get_string()));
    if (!bytes || bytes->size() % 4 != 0) return std::nullopt;
    for (std::size_t at = 0; at < bytes->size(); at += 4) {
      std::uint32_t bits = 0;
      for (int byte = 3; byte >= 0; --byte) {
        bits =
            bits << 8 | static_cast<unsigned char>((*bytes)[at + static_cast<std::size_t>(byte)]);
      }
      decoded.values.push_back(std::bit_cast<float>(bits));
    }
  } else if (embedding.is_array()) {
    decoded.values.reserve(embedding.get_array().size());
    for (const json::value& item : embedding.get_array()) {
      if (!item.is_number()) decoded.finite = false;
      decoded.values.push_back(item.is_number() ? item.to_number<float>() : 0.0f);
    }
  } else {
    return std::nullopt;
  }
  for (const float x : decoded.values) decoded.finite = decoded.finite && std::isfinite(x);
  return decoded;
}

// False for the zero vector, which has no direction.
bool make_unit(Vector& vector) {
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * static_cast<double>(x);
  if (!(squares > 0) || !std::isfinite(squares)) return false;
  const double scale = 1 / std::sqrt(squares);
  for (float& x : vector) x = static_cast<float>(static_cast<double>(x) * scale);
  return true;
}

class EndpointEmbedder final : public Embedder {
 public:
  explicit EndpointEmbedder(EndpointOptions options)
      : options_(std::move(options)), dims_(options_.dims) {}

  ModelId model() const override { return {shown_url(options_.url) + "|" + options_.model, dims_}; }
  bool is_local() const override { return false; }
  std::size_t batch_max() const override { return kBatchMax; }
  std::size_t text_bytes_max() const override { return text_bytes_max_; }

  Result<std::vector<Vector>> embed_local(std::span<const std::string>) override {
    return make_error(ErrorKind::kFatal, "embed", "not_local", "this embedder asks an endpoint");
  }

  HttpRequest plan(std::span<const std::string> texts) const override;
  Result<EmbedAnswer> interpret(const Result<HttpResponse>& response,
                                std::size_t expected) override;

 private:
  std::optional<Error> learn_from(const Result<HttpResponse>& response);
  void learn_limit(const TooLong& too_long);
  Result<EmbedAnswer> read_data(const json::array& data, std::size_t expected);
  Error wrong_length(std::size_t got) const;

  EndpointOptions options_;
  std::atomic<int> dims_;
  std::atomic<std::size_t> text_bytes_max_{kChunkBytes};
  mutable std::atomic<std::size_t> longest_planned_{0};
  std::atomic<bool> ask_dimensions_{true}, ask_format_{true};
};

HttpRequest EndpointEmbedder::plan(std::span<const std::string> texts) const {
  json::array input;
  std::size_t longest = 0;
  for (const std::string& text : texts) {
    longest = std::max(longest, text.size());
    input.emplace_back(to_valid_utf8(text));
  }
  longest_planned_ = longest;
  json::object body{{"model", options_.model}, {"input", std::move(input)}};
  if (ask_format_) body["encoding_format"] = "float";
  if (options_.dims > 0 && ask_dimensions_) body["dimensions"] = options_.dims;
  return json_request(options_, "embeddings", to_text(body));
}

void EndpointEmbedder::learn_limit(const TooLong& too_long) {
  const std::size_t current = text_bytes_max_;
  const std::size_t planned = longest_planned_ == 0 ? current : longest_planned_.load();
  double limit = static_cast<double>(std::min(planned, current)) / 2;
  if (too_long.limit_tokens > 0 && too_long.given_tokens > too_long.limit_tokens) {
    limit = static_cast<double>(planned) * 0.9 * static_cast<double>(too_long.limit_tokens) /
            static_cast<double>(too_long.given_tokens);
  } else if (too_long.limit_tokens > 0) {
    limit = std::min(limit * 2, static_cast<double>(too_long.limit_tokens) * kBytesPerToken);
  }
  // Always shorter than what was refused, so that nothing is sent again as it was.
  const auto learnt = std::min(static_cast<std::size_t>(limit), planned > 1 ? planned - 1 : 1);
  text_bytes_max_ = std::min(current, std::max(learnt, kTextBytesMin));
}

// Servers that refuse a parameter of ours do without it from then on.
std::optional<Error> EndpointEmbedder::learn_from(const Result<HttpResponse>& response) {
  const auto refused = [](std::string_view name) {
    return make_error(ErrorKind::kRetriable, "embed", "parameter_refused",
                      "endpoint refuses the parameter '" + std::string(name) + "': left out now");
  };
  const bool says_dimensions =
      names_parameter(response, "dimensions") || names_parameter(response, "matryoshka");
  if (says_dimensions && options_.dims > 0 && ask_dimensions_.exchange(false)) {
    return refused("dimensions");
  }
  if (names_parameter(response, "encoding_format") && ask_format_.exchange(false)) {
    return refused("encoding_format");
  }
  return std::nullopt;
}

Error EndpointEmbedder::wrong_length(std::size_t got) const {
  return make_error(ErrorKind::kRetriable, "embed", "wrong_length",
                    "asked for vectors of " + std::to_string(dims_) + " numbers, got " +
                        std::to_string(got) + ": check model and embedding_dim");
}

Result<EmbedAnswer> EndpointEmbedder::interpret(const Result<HttpResponse>& response,
                                                std::size_t expected) {
  if (auto learnt = learn_from(response)) return *std::move(learnt);
  if (auto error = failure_of(response, "embed", options_)) {
    if (error->reason == "too_long") {
      learn_limit(too_long_of(response->body).value_or(TooLong{}));
      error->message += "; texts are now cut at " + std::to_string(text_bytes_max_) + " bytes";
    }
    return *std::move(error);
  }
  auto parsed = parse_json(response->body);
  if (!parsed.ok()) parsed = parse_json(without_nan(response->body));
  if (!parsed.ok() || !parsed->is_object()) return bad_body(*response, "embed", options_);
  const json::array* data = find_array(parsed->get_object(), "data");
  if (data == nullptr) return bad_body(*response, "embed", options_);
  return read_data(*data, expected);
}

Result<EmbedAnswer> EndpointEmbedder::read_data(const json::array& data, std::size_t expected) {
  const auto indexed = std::count_if(data.begin(), data.end(), [](const json::value& item) {
    return item.is_object() && find(item, "index") != nullptr;
  });
  // Without any index the order counts, but only when nothing is missing.
  const bool by_position = indexed == 0 && data.size() == expected;
  std::vector<const json::value*> found(expected, nullptr);
  std::vector<bool> twice(expected, false);
  for (std::size_t position = 0; position < data.size(); ++position) {
    if (!data[position].is_object()) continue;
    const json::object& item = data[position].get_object();
    const auto index = by_position ? std::optional(static_cast<std::int64_t>(position))
                                   : get_optional_int(item, "index");
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= expected) continue;
    const auto slot = static_cast<std::size_t>(*index);
    twice[slot] = twice[slot] || found[slot] != nullptr;
    found[slot] = find(item, "embedding");
  }

  EmbedAnswer answer;
  answer.vectors.resize(expected);
  std::size_t wrong = 0;
  const auto poison = make_error(ErrorKind::kPoison, "embed", "not_embeddable",
                                 "the model gives no numbers for this text");
  for (std::size_t slot = 0; slot < expected; ++slot) {
    auto decoded =
        found[slot] == nullptr || twice[slot] ? std::nullopt : decode_vector(*found[slot]);
    if (!decoded) {
      ++answer.mismatched;
      continue;
    }
    if (decoded->values.empty() || decoded->values.size() > kDimsMax) {
      if (expected == 1) return poison;
      continue;
    }
    const auto length = static_cast<int>(decoded->values.size());
    int unset = 0;
    if (decoded->finite) dims_.compare_exchange_strong(unset, length);
    if (dims_ != 0 && length != dims_) {
      wrong = decoded->values.size();
    } else if (decoded->finite && make_unit(decoded->values)) {
      answer.vectors[slot] = std::move(decoded->values);
    } else if (expected == 1) {
      return poison;
    }
  }
  const bool none = std::none_of(answer.vectors.begin(), answer.vectors.end(),
                                 [](const auto& vector) { return vector.has_value(); });
  if (none && wrong != 0) return wrong_length(wrong);
  if (none && expected == 1) {
    return make_error(ErrorKind::kRetriable, "embed", "missing_vector",
                      "endpoint answered without the vector asked for");
  }
  return answer;
}

}  // namespace

std::unique_ptr<Embedder> make_endpoint_embedder(const EndpointOptions& options) {
  return std::make_unique<EndpointEmbedder>(options);
}

}  // namespace clawmark
