// The embedder that needs no model: a static table of English word vectors beside hashed word stems
// and character n-grams, in one vector. Integer sums, so that every machine makes the same bits.
// Weights and figures: docs/decisions/embedder.md.

#include <array>
#include <cmath>
#include <cstdint>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "models/model.h"
#include "models/static_table.h"
#include "models/text_words.h"

namespace clawmark {
namespace {

constexpr std::size_t kHashDims = 412;
constexpr std::size_t kDims = kWordDims + kHashDims;
constexpr double kStaticShare = 0.64;  // of the squared length, when every word is in the table
constexpr double kHashShare = 0.36;
constexpr std::int64_t kFullWeight = 1024;
constexpr std::int64_t kUnigramWeight = 410;  // one letter of an unspaced script, beside its pairs
constexpr std::int64_t kSymbolWeight = 512;
constexpr std::size_t kGramMin = 3, kGramMax = 4;

// What the hashed features are hashed with, one seed per kind.
enum Seed : std::uint64_t {
  kStemSeed = 2,
  kGramSeed = 3,
  kSingleSeed = 7,
  kPairSeed = 8,
  kOtherSeed = 9
};

std::uint64_t mix(std::uint64_t x) {  // the finaliser of MurmurHash3
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// Smooth inverse frequency (Arora et al. 2017) with Zipf's law for the frequency: half weight at
// rank 100.
std::int64_t weight_of(const std::optional<WordEntry>& entry) {
  if (!entry) return kFullWeight;
  const std::int64_t tenfold_rank = 10 * static_cast<std::int64_t>(entry->rank) + 27;
  return kFullWeight * tenfold_rank / (tenfold_rank + 1000);
}

// Half a word's weight, shared by its n-grams so that their squares add up to a quarter.
std::int64_t gram_weight(std::int64_t word_weight, std::size_t grams) {
  const double share = 512.0 / std::sqrt(static_cast<double>(grams));
  return word_weight * static_cast<std::int64_t>(share) / 1024;
}

class Accumulator {
 public:
  void add_text(std::string_view text);
  Vector finish(std::string_view text);

 private:
  void add_letters(const TextWord& word);
  void add_grams(std::string_view word, std::int64_t word_weight);
  void add_unspaced(std::string_view run);
  void add_hash(std::uint64_t key, std::int64_t weight) {
    const std::uint64_t hash = mix(key);
    const auto slot = static_cast<std::size_t>(((hash >> 32) * kHashDims) >> 32);
    hashed_[slot] += (hash & 1) != 0 ? weight : -weight;
  }
  static std::uint64_t key_of(std::string_view text, Seed seed) { return fnv1a(text, seed); }

  std::array<std::int64_t, kWordDims> words_{};
  std::array<std::int64_t, kHashDims> hashed_{};
  std::int64_t known_weight_ = 0, total_weight_ = 0;
  std::vector<char32_t> letters_;
};

void Accumulator::add_text(std::string_view text) {
  const std::string folded = fold_for_words(text);
  for (const TextWord& word : split_words(folded)) {
    switch (word.kind) {
      case WordKind::kLetters:
      case WordKind::kNumber:
        add_letters(word);
        break;
      case WordKind::kUnspaced:
        add_unspaced(word.text);
        break;
      case WordKind::kSymbol:
        add_hash(key_of(word.text, kOtherSeed), kSymbolWeight);
        break;
    }
  }
}

void Accumulator::add_letters(const TextWord& word) {
  const std::string_view base = word.text.substr(0, word.text.find('\''));
  const std::string stem = light_stem(word.text);
  auto entry = find_word(word.text);
  if (!entry && base != word.text) entry = find_word(base);
  if (!entry && stem != base) entry = find_word(stem);
  if (!entry && stem != base) entry = find_word(stem + "e");
  const std::int64_t weight = weight_of(entry);
  total_weight_ += weight;
  if (entry) {
    known_weight_ += weight;
    for (std::size_t d = 0; d < kWordDims; ++d) words_[d] += weight * entry->vector[d];
  }
  add_hash(key_of(stem, kStemSeed), weight);
  if (word.kind == WordKind::kLetters) add_grams(base, weight);
}

void Accumulator::add_grams(std::string_view word, std::int64_t word_weight) {
  letters_.assign(1, U'<');
  for (std::size_t at = 0; at < word.size();) letters_.push_back(next_code_point(word, at));
  letters_.push_back(U'>');
  const std::size_t n = letters_.size();
  if (n < kGramMin) return;
  const std::size_t grams = (n - 2) + (n >= kGramMax ? n - 3 : 0);
  const std::int64_t weight = gram_weight(word_weight, grams);
  for (std::size_t i = 0; i + kGramMin <= n; ++i) {
    const std::uint64_t three = static_cast<std::uint64_t>(letters_[i]) |
                                static_cast<std::uint64_t>(letters_[i + 1]) << 21 |
                                static_cast<std::uint64_t>(letters_[i + 2]) << 42;
    add_hash(three ^ static_cast<std::uint64_t>(kGramSeed) << 61, weight);
    if (i + kGramMax <= n) {
      add_hash(mix(three) ^ static_cast<std::uint64_t>(letters_[i + 3]), weight);
    }
  }
}

void Accumulator::add_unspaced(std::string_view run) {
  std::size_t previous = run.size();
  for (std::size_t at = 0; at < run.size();) {
    const std::size_t start = at;
    next_code_point(run, at);
    add_hash(key_of(run.substr(start, at - start), kSingleSeed), kUnigramWeight);
    if (previous < start) {
      add_hash(key_of(run.substr(previous, at - previous), kPairSeed), kFullWeight);
    }
    previous = start;
    total_weight_ += kFullWeight / 2;
  }
}

template <std::size_t N>
double length_of(const std::array<std::int64_t, N>& values) {
  double squares = 0;
  for (const std::int64_t value : values) {
    const double x = static_cast<double>(value);
    const double square = x * x;
    squares += square;
  }
  return std::sqrt(squares);
}

Vector Accumulator::finish(std::string_view text) {
  double hash_length = length_of(hashed_);
  const double word_length = length_of(words_);
  if (hash_length == 0 && word_length == 0) {  // no word at all: near nothing but itself
    add_hash(key_of(text, kOtherSeed), kFullWeight);
    hash_length = length_of(hashed_);
  }
  const double known = static_cast<double>(known_weight_);
  const double total = static_cast<double>(total_weight_);
  const double static_part = word_length > 0 ? kStaticShare * known / total : 0;
  const double hash_part = hash_length > 0 ? kHashShare : 0;
  const double sum = static_part + hash_part;
  const double static_scale = word_length > 0 ? std::sqrt(static_part / sum) / word_length : 0;
  const double hash_scale = hash_length > 0 ? std::sqrt(hash_part / sum) / hash_length : 0;
  Vector vector(kDims);
  for (std::size_t d = 0; d < kWordDims; ++d) {
    vector[d] = static_cast<float>(static_cast<double>(words_[d]) * static_scale);
  }
  for (std::size_t d = 0; d < kHashDims; ++d) {
    vector[kWordDims + d] = static_cast<float>(static_cast<double>(hashed_[d]) * hash_scale);
  }
  return vector;
}

class BuiltinEmbedder final : public Embedder {
 public:
  ModelId model() const override { return {"builtin-static-1", static_cast<int>(kDims)}; }
  bool is_local() const override { return true; }
  std::size_t batch_max() const override { return 256; }
  std::size_t text_bytes_max() const override { return kChunkBytes; }

  Result<std::vector<Vector>> embed_local(std::span<const std::string> texts) override {
    std::vector<Vector> vectors;
    vectors.reserve(texts.size());
    for (const std::string& text : texts) {
      Accumulator accumulator;
      accumulator.add_text(text);
      vectors.push_back(accumulator.finish(text));
    }
    return vectors;
  }

  HttpRequest plan(std::span<const std::string>) const override { return {}; }

  Result<EmbedAnswer> interpret(const Result<HttpResponse>&, std::size_t) override {
    return make_error(ErrorKind::kFatal, "embed", "local",
                      "the built-in embedder answers without a request");
  }
};

}  // namespace

std::unique_ptr<Embedder> make_builtin_embedder() {
  return std::make_unique<BuiltinEmbedder>();
}

}  // namespace clawmark
