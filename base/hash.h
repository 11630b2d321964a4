#pragma once
// SHA-256 (FIPS 180-4) by OpenSSL.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace clawmark {

struct Hash256 {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Hash256&) const = default;
  std::span<const std::uint8_t> span() const { return bytes; }
};

Hash256 sha256(std::string_view data);
std::string to_hex(std::span<const std::uint8_t> bytes);
std::string to_hex(const Hash256& hash);
std::optional<Hash256> hash_from_hex(std::string_view hex);

// A hash fed piece by piece; finish() may be called once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  Sha256& update(std::string_view data);
  Hash256 finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A fast non-cryptographic 64-bit hash (FNV-1a), stable across runs and machines.
std::uint64_t fnv1a(std::string_view data, std::uint64_t seed = 0xcbf29ce484222325ULL);

}  // namespace clawmark
