#include "models/sentence_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/files.h"
#include "base/hash.h"
#include "models/model.h"
#include "test_paths.h"
#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// --- Pieces --------------------------------------------------------------------------------------

std::vector<SentencePiece> small_vocabulary() {
  std::vector<SentencePiece> out(SentencePieces::kReserved);
  for (const char* text : {"▁", "▁we", "▁use", "d", "s", "ql", "▁sq", "l", "a", "ä", "▁ab", "b"}) {
    out.push_back({text, -2.0F - 0.25F * static_cast<float>(out.size())});
  }
  return out;
}

std::string split(std::string_view text) {
  const auto vocabulary = small_vocabulary();
  std::string out;
  for (const std::uint32_t piece : SentencePieces(vocabulary).split(text)) {
    out += (out.empty() ? "" : " ") + (piece == 0 ? "?" : vocabulary[piece].text);
  }
  return out;
}

TEST(SentencePieces, the_likeliest_split_is_taken) {
  EXPECT_EQ(split("we used"), "▁we ▁use d");
  EXPECT_EQ(split("sql"), "▁sq l");  // less costly than "▁ s ql"
  EXPECT_EQ(split("ab"), "▁ab");
}

TEST(SentencePieces, white_space_is_one_and_letters_are_composed) {
  EXPECT_EQ(split("  we \n\t use "), "▁we ▁use");
  EXPECT_EQ(split("a\u0308"), "▁ ä");
  EXPECT_EQ(split(""), "");
}

TEST(SentencePieces, a_run_of_unknown_letters_is_one_piece) {
  EXPECT_EQ(split("we 日本語 a"), "▁we ▁ ? ▁ a");
  EXPECT_EQ(split("\xFF\xFE"), "▁ ?");
}

// --- The product of matrices ---------------------------------------------------------------------

TEST(Int8Matrix, multiplies_as_the_definition_says) {
  std::mt19937 random(7);
  for (const std::size_t count : {1U, 3U, 4U, 9U}) {
    const std::size_t rows = 24, cols = 48;
    std::vector<float> scales(rows), x(count * rows), bias(cols), out(count * cols);
    std::vector<std::int8_t> codes(rows * cols);
    std::uniform_real_distribution<float> real(-1, 1);
    for (float& v : scales) v = real(random);
    for (float& v : x) v = real(random);
    for (float& v : bias) v = real(random);
    for (auto& v : codes) v = static_cast<std::int8_t>(random() % 255 - 127);
    const Int8Matrix matrix(rows, cols, scales, codes);
    matrix.multiply(x, bias, out);
    for (std::size_t t = 0; t < count; ++t) {
      for (std::size_t c = 0; c < cols; ++c) {
        double sum = static_cast<double>(bias[c]);
        for (std::size_t r = 0; r < rows; ++r) {
          sum += static_cast<double>(x[t * rows + r]) * static_cast<double>(scales[r]) *
                 codes[r * cols + c];
        }
        EXPECT_NEAR(static_cast<double>(out[t * cols + c]), sum, 1e-3)
            << int8_matrix_kernel() << " " << count << " rows, at " << t << "," << c;
      }
    }
    std::vector<float> row(cols);
    matrix.row(5, row);
    EXPECT_FLOAT_EQ(row[7], scales[5] * static_cast<float>(codes[5 * cols + 7]));
  }
}

// --- The file ------------------------------------------------------------------------------------

class FileWriter {
 public:
  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text) { bytes_ += text; }
  void vector(std::size_t n, float value) {
    number(static_cast<std::uint32_t>(n));
    for (std::size_t i = 0; i < n; ++i) number(value);
  }
  void matrix(std::size_t rows, std::size_t cols) {
    number(static_cast<std::uint32_t>(rows));
    number(static_cast<std::uint32_t>(cols));
    for (std::size_t i = 0; i < rows; ++i) number(1.0F / 127 / std::sqrt(static_cast<float>(rows)));
    for (std::size_t i = 0; i < rows * cols; ++i) {
      bytes_.push_back(static_cast<char>(static_cast<int>(random_() % 255) - 127));
    }
  }
  void layer(std::size_t width) {
    vector(width, 1), vector(width, 0);
    matrix(width, 3 * width), vector(3 * width, 0);
    matrix(width, 512), vector(512, 0);
    if (width != 512) matrix(width, 512), vector(512, 0);
    vector(512, 1), vector(512, 0);
    matrix(512, 1536), vector(1536, 0);
    matrix(1536, 512), vector(512, 0);
  }
  std::string sealed() const {
    const Hash256 digest = sha256(bytes_);
    return bytes_ +
           std::string(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
  }

 private:
  std::string bytes_;
  std::mt19937 random_{11};
};

// An encoder of the right shape whose weights are noise.
std::string noise_encoder(std::size_t embeddings_missing = 0) {
  FileWriter file;
  file.text("CMSENTE1");
  const auto vocabulary = small_vocabulary();
  file.number(static_cast<std::uint32_t>(vocabulary.size()));
  for (const auto& piece : vocabulary) {
    file.number(piece.score);
    file.number(static_cast<std::uint8_t>(piece.text.size()));
    file.text(piece.text);
  }
  const std::size_t rows = vocabulary.size() - embeddings_missing;
  file.number(static_cast<std::uint32_t>(rows));
  file.matrix(rows, 256);
  file.vector(128, 0.1F);
  file.layer(256);
  file.layer(512);
  file.matrix(512, 512), file.vector(512, 0);
  return file.sealed();
}

class EncoderFile : public ::testing::Test {
 protected:
  Result<std::shared_ptr<const SentenceEncoder>> load(const std::string& bytes) {
    EXPECT_TRUE(write_file_atomic(path_, bytes).ok());
    return SentenceEncoder::load(path_);
  }
  support::TempDir dir_;
  std::string path_ = dir_ / "encoder.bin";
};

TEST_F(EncoderFile, gives_unit_vectors_that_depend_on_words_and_their_order) {
  const auto encoder = load(noise_encoder());
  ASSERT_TRUE(encoder.ok()) << describe(encoder.error());
  const auto one = (*encoder)->encode("we used ab"), other = (*encoder)->encode("ab used we");
  ASSERT_EQ(one.size(), SentenceEncoder::kDims);
  EXPECT_NEAR(dot(one, one), 1, 1e-5);
  EXPECT_EQ(one, (*encoder)->encode("we used ab"));
  EXPECT_LT(dot(one, other), 0.9999);
  std::string endless;
  for (int i = 0; i < 1000; ++i) endless += "we used ab ";
  EXPECT_NEAR(dot((*encoder)->encode(endless), (*encoder)->encode(endless)), 1, 1e-5);
}

TEST_F(EncoderFile, a_text_without_a_known_piece_has_no_vector_of_its_own) {
  const auto encoder = load(noise_encoder());
  ASSERT_TRUE(encoder.ok());
  EXPECT_TRUE((*encoder)->encode("").empty());
  auto embedder = make_file_embedder(path_);
  ASSERT_TRUE(embedder.ok());
  const std::vector<std::string> texts{"we used ab", "", "日本語"};
  const auto vectors = (*embedder)->embed_local(texts);
  ASSERT_TRUE(vectors.ok());
  for (const Vector& vector : *vectors) {
    EXPECT_EQ(vector.size(), static_cast<std::size_t>((*embedder)->model().dims));
    EXPECT_NEAR(dot(vector, vector), 1, 1e-5);
  }
}

TEST_F(EncoderFile, every_cut_and_every_damaged_byte_is_refused_by_name) {
  const std::string whole = noise_encoder();
  for (const std::size_t keep :
       {std::size_t{0}, std::size_t{7}, std::size_t{40}, whole.size() / 2, whole.size() - 1}) {
    const auto encoder = load(whole.substr(0, keep));
    ASSERT_FALSE(encoder.ok()) << keep;
    EXPECT_EQ(encoder.error().reason, "not_an_encoder");
    EXPECT_NE(encoder.error().message.find(path_), std::string::npos);
    EXPECT_NE(encoder.error().message.find("make_sentence_encoder"), std::string::npos);
  }
  std::string damaged = whole;
  damaged[whole.size() / 3] = static_cast<char>(damaged[whole.size() / 3] ^ 1);
  EXPECT_FALSE(load(damaged).ok());
  EXPECT_FALSE(load(noise_encoder(1)).ok()) << "a piece without an embedding";
  EXPECT_EQ(SentenceEncoder::load(dir_ / "absent").error().reason, "unreadable");
}

TEST_F(EncoderFile, two_files_are_two_models) {
  ASSERT_TRUE(load(noise_encoder()).ok());
  const auto first = make_file_embedder(path_);
  FileWriter other;
  std::string changed = noise_encoder();
  changed.resize(changed.size() - 32);
  changed[200] = static_cast<char>(changed[200] ^ 1);
  other.text(changed);
  ASSERT_TRUE(write_file_atomic(path_, other.sealed()).ok());
  const auto second = make_file_embedder(path_);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE((*first)->model(), (*second)->model());
}

// --- The real one --------------------------------------------------------------------------------

// Made by models/data/make_sentence_encoder from the npm package; expected values are what
// TensorFlow.js computes from the same package.
TEST(RealEncoder, agrees_with_the_reference_implementation) {
  const std::string path = std::string(CLAWMARK_SOURCE_DIR) + "/build/models/sentence-encoder.bin";
  if (!stat_file(path)) GTEST_SKIP() << path << " has not been made";
  const auto loaded = SentenceEncoder::load(path);
  ASSERT_TRUE(loaded.ok()) << describe(loaded.error());
  const SentenceEncoder& encoder = **loaded;
  EXPECT_EQ(encoder.pieces("We decided to use PostgreSQL for the project."),
            (std::vector<std::uint32_t>{215, 1818, 10, 187, 3638, 143, 53, 7882, 22, 9, 1083, 6}));
  const std::vector<std::string> texts = {
      "We decided to use PostgreSQL for the project.", "hello",
      "My sister's wedding is on the 14th of June in Lisbon :)",
      "The quick brown fox jumps over the lazy dog. It was raining heavily, and nobody had brought "
      "an umbrella to the long-awaited garden party at the old mill."};
  const float starts[4][6] = {
      {-0.059134F, -0.061080F, -0.036223F, -0.058759F, 0.058730F, -0.051327F},
      {0.041678F, -0.022363F, -0.047608F, -0.049279F, 0.045071F, -0.048594F},
      {-0.061888F, 0.037490F, -0.025355F, -0.045229F, -0.027009F, 0.057200F},
      {-0.030649F, 0.010503F, -0.025527F, -0.065456F, 0.034285F, 0.073952F}};
  std::vector<std::vector<float>> vectors;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    vectors.push_back(encoder.encode(texts[i]));
    for (std::size_t d = 0; d < 6; ++d) EXPECT_NEAR(vectors[i][d], starts[i][d], 0.006) << texts[i];
  }
  EXPECT_NEAR(dot(vectors[0], vectors[1]), 0.1500, 0.01);
  EXPECT_NEAR(dot(vectors[0], vectors[2]), 0.2112, 0.01);
  EXPECT_NEAR(dot(vectors[2], vectors[3]), 0.2031, 0.01);
}

}  // namespace
}  // namespace clawmark
