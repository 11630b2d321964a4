#include "projections/history_grams.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "base/limits_history.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kWordBits = 64;  // a signature is whole words long

std::uint32_t gram_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at])) << 16 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + 1])) << 8 |
         static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + 2]));
}

std::uint32_t hash_of(std::uint32_t gram) {
  std::uint64_t x = gram * 0x9E3779B97F4A7C15ULL;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  return static_cast<std::uint32_t>(x >> 32);
}

// Distinct groups of a folded text, ascending.
std::vector<std::uint32_t> grams_of(std::string_view folded) {
  std::vector<std::uint32_t> out;
  if (folded.size() < 3) return out;
  out.reserve(folded.size() - 2);
  for (std::size_t at = 0; at + 2 < folded.size(); ++at) out.push_back(gram_at(folded, at));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::size_t bit_of(std::uint32_t hash, std::size_t bits) {
  return static_cast<std::size_t>(static_cast<std::uint64_t>(hash) * bits >> 32);
}

}  // namespace

std::string fold_for_grams(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      out.push_back(byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : text[at]);
      ++at;
      continue;
    }
    const char32_t c = next_code_point(text, at);
    append_code_point(
        out, static_cast<char32_t>(u_foldCase(static_cast<UChar32>(c), U_FOLD_CASE_DEFAULT)));
  }
  return out;
}

GramSignature gram_signature(std::string_view text) {
  if (text.size() > kGramTextMax) return {};
  const auto grams = grams_of(fold_for_grams(text));
  if (grams.size() > kGramsMax) return {};
  const std::size_t words = grams.size() * kGramBitsPerGram / kWordBits + 1;
  GramSignature out(words * kWordBits / 8);
  for (const std::uint32_t gram : grams) {
    const std::size_t bit = bit_of(hash_of(gram), words * kWordBits);
    out[bit / 8] = static_cast<std::uint8_t>(out[bit / 8] | 1U << (bit % 8));
  }
  return out;
}

GramNeedle::GramNeedle(std::string_view literal) {
  for (const std::uint32_t gram : grams_of(fold_for_grams(literal))) {
    hashes_.push_back(hash_of(gram));
  }
}

bool GramNeedle::may_be_in(std::span<const std::uint8_t> signature) const {
  if (signature.empty()) return true;
  const std::size_t bits = signature.size() * 8;
  return std::all_of(hashes_.begin(), hashes_.end(), [&](std::uint32_t hash) {
    const std::size_t bit = bit_of(hash, bits);
    return (signature[bit / 8] >> (bit % 8) & 1) != 0;
  });
}

}  // namespace clawmark
