#pragma once
// A copy of the store beside a running daemon: one moment of it, whole and proven before it gets
// its name.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace clawmark {

struct StoreCopy {
  std::int64_t events = 0;
  std::int64_t bytes = 0;
};

// Copies the store at `from` (never changed; a daemon may write on) to `to`, mode 0600: live pages
// only, so that what a purge took out is not in it. Then the copy's pages, density, chain and
// payload hashes are checked, and it is synced. Errors: invalid, stage "backup", "exists" (nothing
// is overwritten) or "target"; fatal "damaged" when the copy does not hold (it is removed, and the
// store itself is to be looked at); not_found when there is no store.
Result<StoreCopy> copy_store(const std::string& from, const std::string& to);

}  // namespace clawmark
