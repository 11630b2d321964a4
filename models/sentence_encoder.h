#pragma once
// Universal Sentence Encoder Lite (Cer et al. 2018, arXiv:1803.11175): two transformer layers over
// pieces of an English vocabulary. The weights are a file that `models/data/make_sentence_encoder`
// makes; its layout is described there.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "models/int8_matrix.h"
#include "models/sentence_pieces.h"

namespace clawmark {

class SentenceEncoder {
 public:
  static constexpr std::size_t kDims = 512;
  static constexpr std::size_t kPiecesMax = 128;  // what follows in a text is not seen

  // Errors: fatal "unreadable", "not_an_encoder" (also when cut or damaged), naming the path.
  static Result<std::shared_ptr<const SentenceEncoder>> load(const std::string& path);

  // Unit length; empty when the text has no piece that the vocabulary knows. Safe from any thread.
  std::vector<float> encode(std::string_view text) const;
  std::vector<std::uint32_t> pieces(std::string_view text) const { return pieces_->split(text); }
  const std::string& digest() const { return digest_; }  // of the file, 64 hexadecimal digits

 private:
  struct Norm {
    std::vector<float> scale, bias;
  };
  struct Dense {
    Int8Matrix weights;
    std::vector<float> bias;
    std::vector<float> apply(std::span<const float> x) const;
  };
  struct Layer {
    Norm before_attention, before_feed_forward;
    Dense queries_keys_values, attended, adjust, widen, narrow;
    std::size_t width = 0;  // of what comes in
  };
  class Reader;

  std::vector<float> run_layer(const Layer& layer, std::vector<float> x) const;

  std::unique_ptr<SentencePieces> pieces_;
  Int8Matrix embeddings_;
  std::vector<float> timescales_;
  std::array<Layer, 2> layers_;
  Dense last_;
  std::string digest_;
};

}  // namespace clawmark
