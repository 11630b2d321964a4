#include "base/sqlite_version.h"

#include <sqlite3.h>

namespace clawmark {

std::string_view sqlite_version() {
  return sqlite3_libversion();
}

}  // namespace clawmark
