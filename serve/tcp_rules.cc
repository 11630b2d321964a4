#include "serve/tcp_rules.h"

#include <string>

#include "base/utf8.h"

namespace clawmark {
namespace {

HttpAnswer refusal(int status, std::string_view code, std::string_view message) {
  std::string body = R"({"protocol":1,"error":{"code":")";
  body.append(code).append(R"(","message":")").append(message).append(R"("}})");
  return {status, "application/json", std::move(body), {}};
}

struct Host {
  std::string name, port;
};
Host parse_host(std::string_view header) {
  const auto close = header.rfind(']');
  const auto colon = header.rfind(':');
  if (colon == std::string_view::npos || (close != std::string_view::npos && colon < close)) {
    return {lower_ascii(header), {}};
  }
  return {lower_ascii(header.substr(0, colon)), std::string(header.substr(colon + 1))};
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^
                              static_cast<unsigned char>(b.empty() ? '\0' : b[i % b.size()]));
  }
  return difference == 0;
}

std::optional<HttpAnswer> refuse_tcp(const TcpOptions& options, std::uint16_t port,
                                     const TcpRequest& request) {
  const Host host = parse_host(request.host);
  const bool local = host.name == "127.0.0.1" || host.name == "localhost" || host.name == "[::1]";
  const bool page = options.is_open != nullptr;
  if (!local || (page && host.port != std::to_string(port))) {
    return refusal(421, "bad_host", "this name is not served here");
  }
  const bool own = page && request.origin == "http://" + host.name + ":" + host.port;
  if (!request.origin.empty() && !own) {
    return refusal(403, "bad_origin", "no web page may call this");
  }
  const std::string_view site = request.fetch_site;
  if (page && !site.empty() && site != "same-origin" && site != "none") {
    return refusal(403, "bad_origin", "no other web page may call this");
  }
  if (page && request.method == "GET" && options.is_open(request.target)) return std::nullopt;
  if (!equal_in_constant_time(request.authorization, "Bearer " + options.token)) {
    return refusal(401, "no_token", "send Authorization: Bearer and the token");
  }
  return std::nullopt;
}

}  // namespace clawmark
