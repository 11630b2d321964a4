#pragma once
// Who may call over TCP: programs of this machine that know the token, and our own page in a
// browser. A page of anybody else is kept out by Host (a name of theirs that was made to point
// here), by Origin and Sec-Fetch-Site (a request of theirs), and by the token, which only our page
// has.

#include <cstdint>
#include <optional>
#include <string_view>

#include "serve/http_server.h"

namespace clawmark {

struct TcpRequest {
  std::string_view method, target, host, origin, fetch_site, authorization;
};

// nullopt: it may. `port`: on which it came.
std::optional<HttpAnswer> refuse_tcp(const TcpOptions& options, std::uint16_t port,
                                     const TcpRequest& request);

// How long it takes says nothing of where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace clawmark
