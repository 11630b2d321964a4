#pragma once
// The file of a Unix socket: whose is it, and may it go?

#include <string>

#include "base/result.h"

namespace clawmark {

// Removes the socket file of a dead process. Errors: conflict "in_use" when somebody answers there;
// invalid "not_a_socket" for any other kind of file, which is never removed.
Status clear_stale_socket(const std::string& path);

}  // namespace clawmark
