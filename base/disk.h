#pragma once
// Room on a disk.

#include <cstdint>
#include <optional>
#include <string>

namespace clawmark {

// Bytes that an ordinary user may still write where `folder` is; nullopt when that cannot be told.
std::optional<std::int64_t> free_bytes(const std::string& folder);

}  // namespace clawmark
