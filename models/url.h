#pragma once
// The parts of an http or https URL that a request needs.

#include <string>
#include <string_view>

#include "base/result.h"

namespace clawmark {

struct Url {
  bool is_https = false;
  std::string host;         // without brackets; ASCII
  std::string port;         // never empty
  std::string target;       // path and query, starts with '/'
  std::string credentials;  // "user:password", percent-decoded; empty when there are none
  std::string host_header;  // as the Host field wants it
};

// Error: invalid, stage "transport", reason "bad_url"; the message never holds the credentials.
Result<Url> parse_url(std::string_view text);

// Whether the host is this machine: localhost, a name below it, a loopback or unspecified address.
bool is_on_this_machine(std::string_view url);

std::string encode_base64(std::string_view bytes);

}  // namespace clawmark
