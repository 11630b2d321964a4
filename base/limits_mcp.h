#pragma once
// Limits of `clawmark mcp`.

#include <cstddef>

namespace clawmark {

inline constexpr std::size_t kMcpLineMax = 1u << 20;  // as a request to the daemon
inline constexpr std::size_t kMcpCallsMax = 8;        // at the same time

}  // namespace clawmark
