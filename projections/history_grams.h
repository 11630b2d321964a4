#pragma once
// Signatures of texts: which groups of three bytes a text holds, as a bit set (a Bloom filter with
// one hash). A text whose signature lacks a group of a literal cannot hold the literal; the reverse
// must be looked up in the text. Folded case, so that one signature serves both spellings.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

using GramSignature = std::vector<std::uint8_t>;

// Simple case folding, code point by code point (the orbits that RE2 matches without case).
std::string fold_for_grams(std::string_view text);

// Empty: none (too long or too varied); such a text may hold anything. A text shorter than three
// bytes has one without a bit set.
GramSignature gram_signature(std::string_view text);

// A literal, as the hashes of its groups.
class GramNeedle {
 public:
  explicit GramNeedle(std::string_view literal);
  // False only when the text cannot hold the literal, in any case.
  bool may_be_in(std::span<const std::uint8_t> signature) const;

 private:
  std::vector<std::uint32_t> hashes_;
};

}  // namespace clawmark
