#pragma once
// Splits a text into the pieces of a unigram vocabulary (Kudo 2018), as SentencePiece does.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

struct SentencePiece {
  std::string text;  // UTF-8; "▁" stands for a space
  float score = 0;   // log probability
};

// The first pieces of a vocabulary are reserved: 0 is "unknown", the rest never occur in a text.
class SentencePieces {
 public:
  static constexpr std::size_t kReserved = 6;

  explicit SentencePieces(const std::vector<SentencePiece>& vocabulary);

  // Numbers of the most likely split, in order; a run of unknown letters is one 0. White space
  // is collapsed and the text brought to NFKC first; what is not UTF-8 is repaired.
  std::vector<std::uint32_t> split(std::string_view text) const;

 private:
  struct Node {
    std::vector<std::pair<char32_t, std::uint32_t>> next;  // sorted by letter
    std::int32_t piece = -1;
    float score = 0;
  };
  std::uint32_t step(std::uint32_t node, char32_t letter) const;  // 0: no such piece goes on

  std::vector<Node> nodes_;
};

}  // namespace clawmark
