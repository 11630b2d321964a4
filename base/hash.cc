#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <cstring>

namespace clawmark {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() { EVP_DigestInit_ex(context, EVP_sha256(), nullptr); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view data) {
  EVP_DigestUpdate(state_->context, data.data(), data.size());
  return *this;
}

Hash256 Sha256::finish() {
  Hash256 out;
  unsigned length = 0;
  EVP_DigestFinal_ex(state_->context, out.bytes.data(), &length);
  return out;
}

Hash256 sha256(std::string_view data) {
  Hash256 out;
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(), out.bytes.data());
  return out;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const auto b : bytes) {
    out.push_back(kDigits[b >> 4]);
    out.push_back(kDigits[b & 15]);
  }
  return out;
}

std::string to_hex(const Hash256& hash) {
  return to_hex(hash.span());
}

std::optional<Hash256> hash_from_hex(std::string_view hex) {
  if (hex.size() != 64) return std::nullopt;
  const auto nibble = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  Hash256 out;
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = nibble(hex[2 * i]);
    const int low = nibble(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return out;
}

std::uint64_t fnv1a(std::string_view data, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const char c : data) {
    hash ^= static_cast<std::uint8_t>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace clawmark
