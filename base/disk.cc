#include "base/disk.h"

#include <sys/statvfs.h>

namespace clawmark {

std::optional<std::int64_t> free_bytes(const std::string& folder) {
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0) return std::nullopt;
  return static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
}

}  // namespace clawmark
