// The embedder that reads its weights from a file: the sentence encoder beside the built-in vector,
// three quarters to one quarter of the squared length, so that words which the encoder has never
// seen, and other languages, still compare. Figures: docs/decisions/0015-sentence-encoder.md.

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "models/model.h"
#include "models/sentence_encoder.h"

namespace clawmark {
namespace {

constexpr float kEncoderShare = 0.75F;  // of the squared length

class FileEmbedder final : public Embedder {
 public:
  explicit FileEmbedder(std::shared_ptr<const SentenceEncoder> encoder)
      : encoder_(std::move(encoder)),
        builtin_(make_builtin_embedder()),
        model_{"file-use-lite-1+" + builtin_->model().name + "|" + encoder_->digest().substr(0, 8),
               static_cast<int>(SentenceEncoder::kDims) + builtin_->model().dims} {}

  ModelId model() const override { return model_; }
  bool is_local() const override { return true; }
  std::size_t batch_max() const override { return 8; }  // about 0.1 s of one core
  std::size_t text_bytes_max() const override { return kChunkBytes; }

  Result<std::vector<Vector>> embed_local(std::span<const std::string> texts) override {
    CLAWMARK_ASSIGN(auto plain, builtin_->embed_local(texts));
    std::vector<Vector> out;
    out.reserve(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::vector<float> meaning = encoder_->encode(texts[i]);
      const float share = meaning.empty() ? 0 : kEncoderShare;
      Vector joined(SentenceEncoder::kDims);
      std::transform(meaning.begin(), meaning.end(), joined.begin(),
                     [&](float x) { return x * std::sqrt(share); });
      for (const float x : plain[i]) joined.push_back(x * std::sqrt(1 - share));
      out.push_back(std::move(joined));
    }
    return out;
  }

  HttpRequest plan(std::span<const std::string>) const override { return {}; }

  Result<EmbedAnswer> interpret(const Result<HttpResponse>&, std::size_t) override {
    return make_error(ErrorKind::kFatal, "embed", "local",
                      "an embedder from a file answers without a request");
  }

 private:
  std::shared_ptr<const SentenceEncoder> encoder_;
  std::unique_ptr<Embedder> builtin_;
  ModelId model_;
};

}  // namespace

Result<std::unique_ptr<Embedder>> make_file_embedder(const std::string& path) {
  CLAWMARK_ASSIGN(auto encoder, SentenceEncoder::load(path));
  return std::unique_ptr<Embedder>(std::make_unique<FileEmbedder>(std::move(encoder)));
}

}  // namespace clawmark
