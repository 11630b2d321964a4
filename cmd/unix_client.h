#pragma once
// A blocking HTTP/1.1 client over a Unix socket, for the command line. One request per connection.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clawmark {

struct UnixAnswer {
  int status = 0;
  std::string body;
};

// True when something listens there: a connection is made and closed.
bool is_listening(const std::string& socket_path);

// Errors, stage "socket": not_found "absent" (no file, or nobody listens), invalid "path_too_long"
// or "forbidden", retriable "timeout", "closed", "answer", "stopped" (soon after `stop` became
// true).
Result<UnixAnswer> unix_request(const std::string& socket_path, std::string_view method,
                                std::string_view target, std::string_view body,
                                std::int64_t timeout_ms, const std::atomic<bool>* stop = nullptr);

}  // namespace clawmark
