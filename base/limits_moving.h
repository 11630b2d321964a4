#pragma once
// Limits of `clawmark export` and `clawmark import`.

#include <cstddef>

namespace clawmark {

// Of one line: a text of 64 MiB, every byte of it escaped.
inline constexpr std::size_t kExportLineMax = 400u << 20;

}  // namespace clawmark
