#include "models/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/utf8.h"

namespace clawmark {
namespace {

Error bad_url(std::string_view what) {
  return make_error(ErrorKind::kInvalid, "transport", "bad_url",
                    "the endpoint URL " + std::string(what));
}

// 127.0.0.0/8, and 0.0.0.0, which is this machine when one connects to it.
bool is_here(std::uint32_t address) {
  return address >> 24 == 127 || address == 0;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '%' && at + 2 < text.size() && hex_digit(text[at + 1]) >= 0 &&
                        hex_digit(text[at + 2]) >= 0;
    if (escape) {
      out.push_back(static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2])));
      at += 2;
    } else {
      out.push_back(text[at]);
    }
  }
  return out;
}

bool is_plain(std::string_view text) {  // printable ASCII without blanks
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

// "host", "host:1", "[::1]:1" into the URL.
bool read_authority(std::string_view text, Url& url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    url.host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return false;
    port = rest.empty() ? rest : rest.substr(1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    url.host = lower_ascii(text.substr(0, colon));
    port = colon == text.size() ? std::string_view{} : text.substr(colon + 1);
  }
  const bool digits =
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (url.host.empty() || !digits || port.size() > 5) return false;
  const std::string_view standard = url.is_https ? "443" : "80";
  url.port = port.empty() ? standard : port;
  if (std::stoi(url.port) < 1 || std::stoi(url.port) > 65535) return false;
  url.host_header = text.starts_with('[') ? "[" + url.host + "]" : url.host;
  if (url.port != standard) url.host_header += ":" + url.port;
  return true;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  Url url;
  if (starts_with_ci(text, "https://")) {
    url.is_https = true;
  } else if (!starts_with_ci(text, "http://")) {
    return bad_url("must start with http:// or https://");
  }
  text.remove_prefix(url.is_https ? 8 : 7);
  text = text.substr(0, text.find('#'));
  const std::size_t path = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, path);
  url.target = text.substr(path);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.credentials = percent_decoded(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  if (!is_plain(authority)) return bad_url("needs a host in ASCII (xn--… for others)");
  if (!is_plain(url.target)) return bad_url("needs its path percent-encoded");
  if (!read_authority(authority, url)) return bad_url("has no valid host and port");
  return url;
}

std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < left ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out.push_back(i <= left ? kAlphabet[bits >> (18 - 6 * i) & 63] : '=');
    }
  }
  return out;
}

bool is_on_this_machine(std::string_view url) {
  const auto parsed = parse_url(url);
  if (!parsed.ok()) return false;
  const std::string host = lower_ascii(parsed->host);
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return is_here(ntohl(four.s_addr));
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) != 1) return false;
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    std::memcpy(&four.s_addr, &six.s6_addr[12], sizeof four.s_addr);
    return is_here(ntohl(four.s_addr));
  }
  return IN6_IS_ADDR_LOOPBACK(&six) || IN6_IS_ADDR_UNSPECIFIED(&six);
}

}  // namespace clawmark
