#include "cmd/clawmark-repl/frames.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "cmd/clawmark-repl/sandbox.h"

namespace clawmark::repl {
namespace {

bool read_all(char* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(kSocket, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(const char* from, std::size_t size) {
  while (size > 0) {
    const ssize_t put = ::write(kSocket, from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

}  // namespace

std::optional<std::string> read_frame() {
  unsigned char head[4];
  if (!read_all(reinterpret_cast<char*>(head), sizeof head)) return std::nullopt;
  const std::size_t size =
      head[0] | std::size_t{head[1]} << 8 | std::size_t{head[2]} << 16 | std::size_t{head[3]} << 24;
  if (size > kFrameMax) return std::nullopt;
  std::string payload(size, '\0');
  if (!read_all(payload.data(), size)) return std::nullopt;
  return payload;
}

bool write_frame(std::string_view payload) {
  if (payload.size() > kFrameMax) return false;
  char head[4];
  for (int i = 0; i < 4; ++i) head[i] = static_cast<char>(payload.size() >> (8 * i) & 0xFF);
  return write_all(head, sizeof head) && write_all(payload.data(), payload.size());
}

std::string quoted(std::string_view utf8) {
  std::string out = "\"";
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace clawmark::repl
