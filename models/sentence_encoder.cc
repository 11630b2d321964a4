#include "models/sentence_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/files.h"
#include "base/hash.h"

namespace clawmark {
namespace {

constexpr std::string_view kMagic = "CMSENTE1";
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kEmbeddingDims = 256, kInnerDims = 1536, kHeads = 4;
constexpr std::size_t kVocabularyMax = 1 << 20;
constexpr float kNormEpsilon = 1e-6F;

std::vector<float> normalise(std::span<const float> x, std::span<const float> scale,
                             std::span<const float> bias) {
  const std::size_t width = scale.size();
  std::vector<float> out(x.size());
  for (std::size_t at = 0; at < x.size(); at += width) {
    float mean = 0, variance = 0;
    for (std::size_t d = 0; d < width; ++d) mean += x[at + d];
    mean /= static_cast<float>(width);
    for (std::size_t d = 0; d < width; ++d) variance += (x[at + d] - mean) * (x[at + d] - mean);
    const float factor = 1 / std::sqrt(variance / static_cast<float>(width) + kNormEpsilon);
    for (std::size_t d = 0; d < width; ++d) {
      out[at + d] = (x[at + d] - mean) * factor * scale[d] + bias[d];
    }
  }
  return out;
}

void softmax(std::span<float> row) {
  const float most = *std::max_element(row.begin(), row.end());
  float sum = 0;
  for (float& value : row) sum += value = std::exp(value - most);
  for (float& value : row) value /= sum;
}

// Dot-product attention (Vaswani et al. 2017). joined: count × (queries, keys, values), each
// `width` wide and made of kHeads parts. Returns count × width.
std::vector<float> attend(std::span<const float> joined, std::size_t width) {
  const std::size_t row = 3 * width, count = joined.size() / row, part = width / kHeads;
  const float scale = 1 / std::sqrt(static_cast<float>(part));
  std::vector<float> out(count * width), weights(count);
  for (std::size_t head = 0; head < kHeads; ++head) {
    const float* queries = joined.data() + head * part;
    const float* keys = queries + width;
    const float* values = keys + width;
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t s = 0; s < count; ++s) {
        float sum = 0;
        for (std::size_t d = 0; d < part; ++d) sum += queries[t * row + d] * keys[s * row + d];
        weights[s] = sum * scale;
      }
      softmax(weights);
      float* to = out.data() + t * width + head * part;
      for (std::size_t s = 0; s < count; ++s) {
        for (std::size_t d = 0; d < part; ++d) to[d] += weights[s] * values[s * row + d];
      }
    }
  }
  return out;
}

void add(std::vector<float>& to, std::span<const float> what) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

Error damaged(const std::string& path, std::string_view why) {
  return make_error(
      ErrorKind::kFatal, "encoder", "not_an_encoder",
      path + ": " + std::string(why) + "; make it again with models/data/make_sentence_encoder");
}

}  // namespace

// Takes the file apart from its start; `ok` turns false at the first thing that does not fit.
class SentenceEncoder::Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

  template <class T>
  T number() {
    T value{};
    copy(&value, sizeof value);
    return value;
  }
  std::string text(std::size_t bytes) {
    std::string out;
    if (fits(bytes)) out = rest_.substr(0, bytes);
    skip(bytes);
    return out;
  }
  std::vector<float> floats(std::size_t expected) {
    std::vector<float> out;
    if (number<std::uint32_t>() != expected) ok_ = false;
    if (!fits(expected * sizeof(float))) return out;
    out.resize(expected);
    copy(out.data(), expected * sizeof(float));
    return out;
  }
  Int8Matrix matrix(std::size_t rows, std::size_t cols) {
    if (number<std::uint32_t>() != rows || number<std::uint32_t>() != cols) ok_ = false;
    const std::size_t scale_bytes = rows * sizeof(float);
    if (!fits(scale_bytes + rows * cols)) return {};
    std::vector<float> scales(rows);
    copy(scales.data(), scale_bytes);
    const auto* codes = reinterpret_cast<const std::int8_t*>(rest_.data());
    Int8Matrix out(rows, cols, scales, {codes, rows * cols});
    skip(rows * cols);
    return out;
  }
  Norm norm(std::size_t width) {
    Norm out;
    out.scale = floats(width);
    out.bias = floats(width);
    return out;
  }
  Dense dense(std::size_t rows, std::size_t cols) {
    Dense out;
    out.weights = matrix(rows, cols);
    out.bias = floats(cols);
    return out;
  }
  Layer layer(std::size_t width) {
    Layer out;
    out.width = width;
    out.before_attention = norm(width);
    out.queries_keys_values = dense(width, 3 * width);
    out.attended = dense(width, kDims);
    if (width != kDims) out.adjust = dense(width, kDims);
    out.before_feed_forward = norm(kDims);
    out.widen = dense(kDims, kInnerDims);
    out.narrow = dense(kInnerDims, kDims);
    return out;
  }

 private:
  bool fits(std::size_t bytes) { return ok_ = ok_ && bytes <= rest_.size(); }
  void skip(std::size_t bytes) {
    if (fits(bytes)) rest_.remove_prefix(bytes);
  }
  void copy(void* to, std::size_t bytes) {
    if (!fits(bytes)) return;
    std::memcpy(to, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }
  std::string_view rest_;
  bool ok_ = true;
};

Result<std::shared_ptr<const SentenceEncoder>> SentenceEncoder::load(const std::string& path) {
  auto file = read_file(path);
  if (!file.ok()) {
    return make_error(
        ErrorKind::kFatal, "encoder", "unreadable",
        "encoder_file " + path + ": " + file.error().message +
            "; make it with models/data/make_sentence_encoder, or unset encoder_file");
  }
  const std::string_view bytes = *file;
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kDigestBytes) {
    return damaged(path, "this is no sentence encoder");
  }
  const std::string_view body = bytes.substr(0, bytes.size() - kDigestBytes);
  const Hash256 digest = sha256(body);
  if (std::memcmp(digest.bytes.data(), bytes.data() + body.size(), kDigestBytes) != 0) {
    return damaged(path, "the file is cut or damaged");
  }
  auto encoder = std::make_shared<SentenceEncoder>();
  encoder->digest_ = to_hex(digest);
  Reader reader(body.substr(kMagic.size()));
  const auto count = reader.number<std::uint32_t>();
  std::vector<SentencePiece> vocabulary;
  for (std::uint32_t i = 0; i < count && i < kVocabularyMax && reader.ok(); ++i) {
    SentencePiece piece;
    piece.score = reader.number<float>();
    piece.text = reader.text(reader.number<std::uint8_t>());
    vocabulary.push_back(std::move(piece));
  }
  encoder->pieces_ = std::make_unique<SentencePieces>(vocabulary);
  encoder->embeddings_ = reader.matrix(reader.number<std::uint32_t>(), kEmbeddingDims);
  encoder->timescales_ = reader.floats(kEmbeddingDims / 2);
  encoder->layers_[0] = reader.layer(kEmbeddingDims);
  encoder->layers_[1] = reader.layer(kDims);
  encoder->last_ = reader.dense(kDims, kDims);
  if (!reader.at_end() || encoder->embeddings_.rows() < vocabulary.size()) {
    return damaged(path, "its parts do not fit together");
  }
  return std::shared_ptr<const SentenceEncoder>(std::move(encoder));
}

std::vector<float> SentenceEncoder::Dense::apply(std::span<const float> x) const {
  std::vector<float> out(x.size() / weights.rows() * weights.cols());
  weights.multiply(x, bias, out);
  return out;
}

std::vector<float> SentenceEncoder::run_layer(const Layer& layer, std::vector<float> x) const {
  const auto& first = layer.before_attention;
  const auto joined = layer.queries_keys_values.apply(normalise(x, first.scale, first.bias));
  auto sum = layer.attended.apply(attend(joined, layer.width));
  add(sum, layer.width == kDims ? std::move(x) : layer.adjust.apply(x));
  const auto& second = layer.before_feed_forward;
  auto inner = layer.widen.apply(normalise(sum, second.scale, second.bias));
  for (float& value : inner) value = std::max(value, 0.0F);
  add(sum, layer.narrow.apply(inner));
  return sum;
}

std::vector<float> SentenceEncoder::encode(std::string_view text) const {
  std::vector<std::uint32_t> pieces = pieces_->split(text);
  if (pieces.size() > kPiecesMax) pieces.resize(kPiecesMax);
  if (std::all_of(pieces.begin(), pieces.end(), [](std::uint32_t p) { return p == 0; })) return {};
  std::vector<float> x(pieces.size() * kEmbeddingDims);
  for (std::size_t t = 0; t < pieces.size(); ++t) {
    const std::span row(x.data() + t * kEmbeddingDims, kEmbeddingDims);
    embeddings_.row(pieces[t], row);
    for (float& value : row) value *= 2;
    for (std::size_t d = 0; d < timescales_.size(); ++d) {
      const float angle = static_cast<float>(t) * timescales_[d];
      row[d] += std::sin(angle);
      row[timescales_.size() + d] += std::cos(angle);
    }
  }
  for (const Layer& layer : layers_) x = run_layer(layer, std::move(x));
  std::vector<float> mean(kDims);
  for (std::size_t i = 0; i < x.size(); ++i) mean[i % kDims] += x[i];
  for (float& value : mean) value /= static_cast<float>(pieces.size());
  auto out = last_.apply(mean);
  double squares = 0;
  for (float& value : out) {
    value = std::tanh(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto length = static_cast<float>(std::sqrt(std::max(squares, 1e-12)));
  for (float& value : out) value /= length;
  return out;
}

}  // namespace clawmark
