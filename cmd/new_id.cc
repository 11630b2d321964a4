#include "cmd/new_id.h"

#include <openssl/rand.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/hash.h"

namespace clawmark {

std::string new_id() {
  std::array<std::uint8_t, 16> bytes{};
  // A system without random numbers cannot name anything; going on would confuse what users said.
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) std::abort();
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  std::string out = to_hex(bytes);
  for (const std::size_t at : {20u, 16u, 12u, 8u}) out.insert(at, 1, '-');
  return out;
}

}  // namespace clawmark
