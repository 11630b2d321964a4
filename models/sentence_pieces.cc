#include "models/sentence_pieces.h"

#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <limits>

#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr char32_t kSpace = U'\u2581';
constexpr float kUnreached = -std::numeric_limits<float>::infinity();

// A letter that no piece begins with costs this much more than the least likely piece.
constexpr float kUnknownPenalty = 10;
constexpr float kUnknownScore = -15 - kUnknownPenalty;

std::string nfkc(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const auto* normalizer = icu::Normalizer2::getNFKCInstance(status);
  if (U_FAILURE(status)) return std::string(text);
  const auto input = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  std::string out;
  normalizer->normalize(input, status).toUTF8String(out);
  return U_FAILURE(status) ? std::string(text) : out;
}

std::vector<char32_t> letters_of(std::string_view text) {
  std::vector<char32_t> out;
  const std::string normal = nfkc(collapse_space(text));
  if (normal.empty()) return out;
  out.push_back(kSpace);
  for (std::size_t at = 0; at < normal.size();) {
    const char32_t letter = next_code_point(normal, at);
    out.push_back(letter == U' ' ? kSpace : letter);
  }
  return out;
}

}  // namespace

SentencePieces::SentencePieces(const std::vector<SentencePiece>& vocabulary) : nodes_(1) {
  for (std::size_t i = kReserved; i < vocabulary.size(); ++i) {
    std::uint32_t node = 0;
    const std::string& text = vocabulary[i].text;
    for (std::size_t at = 0; at < text.size();) {
      const char32_t letter = next_code_point(text, at);
      auto& next = nodes_[node].next;
      const auto place =
          std::lower_bound(next.begin(), next.end(), std::pair(letter, std::uint32_t{0}));
      if (place != next.end() && place->first == letter) {
        node = place->second;
      } else {
        const auto fresh = static_cast<std::uint32_t>(nodes_.size());
        next.insert(place, {letter, fresh});
        nodes_.emplace_back();  // `next` is not used after this
        node = fresh;
      }
    }
    if (node == 0) continue;
    nodes_[node].piece = static_cast<std::int32_t>(i);
    nodes_[node].score = vocabulary[i].score;
  }
}

std::uint32_t SentencePieces::step(std::uint32_t node, char32_t letter) const {
  const auto& next = nodes_[node].next;
  const auto place =
      std::lower_bound(next.begin(), next.end(), std::pair(letter, std::uint32_t{0}));
  return place != next.end() && place->first == letter ? place->second : 0;
}

std::vector<std::uint32_t> SentencePieces::split(std::string_view text) const {
  struct Best {
    float score = kUnreached;
    std::size_t from = 0;
    std::uint32_t piece = 0;
  };
  const std::vector<char32_t> letters = letters_of(text);
  std::vector<Best> best(letters.size() + 1);
  best[0].score = 0;
  for (std::size_t from = 0; from < letters.size(); ++from) {
    const auto offer = [&](std::size_t end, float score, std::uint32_t piece) {
      const float sum = best[from].score + score;
      if (sum >= best[end].score) best[end] = {sum, from, piece};
    };
    std::uint32_t node = 0;
    for (std::size_t end = from; end < letters.size();) {
      node = step(node, letters[end++]);
      if (node == 0) break;
      if (nodes_[node].piece >= 0) {
        offer(end, nodes_[node].score, static_cast<std::uint32_t>(nodes_[node].piece));
      }
    }
    if (best[from + 1].score == kUnreached) offer(from + 1, kUnknownScore, 0);
  }
  std::vector<std::uint32_t> pieces;
  for (std::size_t end = letters.size(); end > 0; end = best[end].from) {
    const std::uint32_t piece = best[end].piece;
    if (piece == 0 && !pieces.empty() && pieces.back() == 0) continue;
    pieces.push_back(piece);
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

}  // namespace clawmark
