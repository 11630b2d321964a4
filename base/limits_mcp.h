#pragma once
// Limits of `clawmark mcp`.

#include <cstddef>
#include <cstdint>

namespace clawmark {

inline constexpr std::size_t kMcpLineMax = 1u << 20;  // as a request to the daemon
inline constexpr std::size_t kMcpCallsMax = 8;        // at the same time
// A client has no turns; so long is one where money is concerned (docs/decisions/0056).
inline constexpr std::int64_t kMcpTurnMs = 10 * 60'000;

}  // namespace clawmark
