#include "serve/socket_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

namespace clawmark {
namespace {

// Whether somebody answers at this socket.
bool answers(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const bool connected =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const bool busy = !connected && errno == EAGAIN;  // its queue is full: it lives
  ::close(fd);
  return connected || busy;
}

}  // namespace

Status clear_stale_socket(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return Ok{};
  if (!S_ISSOCK(info.st_mode)) {
    return make_error(ErrorKind::kInvalid, "http", "not_a_socket",
                      path + " exists and is no socket; remove it or set another socket path");
  }
  if (answers(path)) {
    return make_error(ErrorKind::kConflict, "http", "in_use",
                      "another daemon answers at " + path + "; stop it first");
  }
  ::unlink(path.c_str());
  return Ok{};
}

}  // namespace clawmark
