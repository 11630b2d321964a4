#include "base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace clawmark {
namespace {

Error file_error(std::string_view doing, const std::string& path) {
  const int code = errno;
  const bool retriable = code == ENOSPC || code == EDQUOT || code == EIO || code == EINTR ||
                         code == EMFILE || code == ENFILE;
  const ErrorKind kind = code == ENOENT ? ErrorKind::kNotFound
                         : retriable    ? ErrorKind::kRetriable
                                        : ErrorKind::kFatal;
  const char* reason = code == ENOENT                     ? "missing"
                       : code == ENOSPC || code == EDQUOT ? "full"
                       : code == EACCES || code == EPERM  ? "permission"
                                                          : "io";
  return make_error(kind, "file", reason,
                    std::string(doing) + " " + path + ": " + std::strerror(code));
}

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const auto n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error("write", path);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return Ok{};
}

void sync_dir(const std::string& path) {
  const Fd dir(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (dir.valid()) ::fsync(dir.get());
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

int Fd::release() {
  return std::exchange(fd_, -1);
}

std::optional<FileInfo> stat_file(const std::string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return std::nullopt;
  return FileInfo{s.st_dev,          s.st_ino,
                  s.st_size,         s.st_mtim.tv_sec * 1000 + s.st_mtim.tv_nsec / 1'000'000,
                  s.st_uid,          S_ISDIR(s.st_mode),
                  S_ISREG(s.st_mode)};
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return file_error("open", path);
  std::string out;
  char buffer[65536];
  for (;;) {
    const auto n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_error("read", path);
    if (n == 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
    if (out.size() > bytes_max) {
      return make_error(ErrorKind::kInvalid, "file", "too_big", path + " is larger than allowed");
    }
  }
}

Status write_file_atomic(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  ::unlink(temporary.c_str());  // left over, or a link laid by someone else
  {
    const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid()) return file_error("create", temporary);
    CLAWMARK_TRY(write_all(fd.get(), content, temporary));
    if (::fsync(fd.get()) != 0) return file_error("sync", temporary);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return file_error("rename", path);
  sync_dir(dir_name(path));
  return Ok{};
}

Status make_private_dir(const std::string& path) {
  if (path.empty() || path == "/" || path == ".") return Ok{};
  if (const auto info = stat_file(path)) {
    if (info->is_directory) return Ok{};
    return make_error(ErrorKind::kFatal, "file", "not_a_folder", path + " is not a folder");
  }
  CLAWMARK_TRY(make_private_dir(dir_name(path)));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return file_error("make folder", path);
  return Ok{};
}

std::vector<std::string> list_dir(const std::string& path) {
  std::vector<std::string> names;
  DIR* dir = ::opendir(path.c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

std::string home_dir() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  if (const passwd* user = ::getpwuid(::getuid()); user != nullptr) return user->pw_dir;
  return "/";
}

std::string expand_home(std::string_view path) {
  if (path == "~") return home_dir();
  if (path.starts_with("~/")) return join_path(home_dir(), path.substr(2));
  return std::string(path);
}

std::string data_dir() {
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg == '/') {
    return join_path(xdg, "clawmark");
  }
  return join_path(home_dir(), ".local/share/clawmark");
}

std::string join_path(std::string_view a, std::string_view b) {
  if (a.empty() || b.starts_with('/')) return std::string(b);
  std::string out(a);
  if (!out.ends_with('/')) out.push_back('/');
  return out.append(b);
}

std::string dir_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto at = path.rfind('/');
  if (at == std::string_view::npos) return ".";
  return at == 0 ? "/" : std::string(path.substr(0, at));
}

std::string base_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto at = path.rfind('/');
  return std::string(at == std::string_view::npos ? path : path.substr(at + 1));
}

std::string unsafe_filesystem(const std::string& path) {
  struct statfs s{};
  std::string at = path;
  while (::statfs(at.c_str(), &s) != 0) {  // what is to be made there lies where its parent lies
    if (at == "/" || at == ".") return {};
    at = dir_name(at);
  }
  struct Kind {
    std::uint32_t magic;
    const char* name;
  };
  // linux/magic.h and statfs(2): network and shared file systems, where locks or mmap are not kept
  // between machines or between host and guest.
  constexpr Kind kKinds[] = {
      {0x6969, "nfs"},        {0x517B, "smb"},        {0xFF534D42, "cifs"},
      {0xFE534D42, "smb2"},   {0x01021997, "9p"},     {0x65735546, "fuse or virtiofs"},
      {0x5346414F, "afs"},    {0x6B414653, "kafs"},   {0x786F4256, "vboxsf"},
      {0xBACBACBC, "vmhgfs"}, {0x7C7C6673, "prl_fs"}, {0x00C36400, "ceph"},
      {0x0BD00BD0, "lustre"}, {0x01161970, "gfs2"},   {0x73757245, "coda"},
      {0x7461636F, "ocfs2"},  {0x47504653, "gpfs"},   {0x564C, "ncp"},
  };
  for (const Kind& kind : kKinds) {
    if (static_cast<std::uint32_t>(s.f_type) == kind.magic) return kind.name;
  }
  return {};
}

Result<FileLock> FileLock::acquire(const std::string& path, std::string_view holder) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return file_error("open lock", path);
  constexpr int kLooks = 100, kBetweenMs = 5;  // a new owner names itself just after it locks
  for (int look = 1; ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++look) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return file_error("lock", path);
    std::string who = read_file(path, 4096).value_or("");
    while (who.ends_with('\n')) who.pop_back();
    if (who.empty() && look < kLooks) {
      ::poll(nullptr, 0, kBetweenMs);
      continue;
    }
    return make_error(ErrorKind::kConflict, "lock", "held",
                      "the store is in use by " + (who.empty() ? "another process" : who) +
                          " (lock file " + path + ")");
  }
  // Written over and then cut, so that a second opener never reads an empty file.
  const std::string content = std::string(holder) + "\n";
  CLAWMARK_TRY(write_all(fd.get(), content, path));
  if (::ftruncate(fd.get(), static_cast<off_t>(content.size())) != 0) {
    return file_error("truncate", path);
  }
  return FileLock(std::move(fd));
}

}  // namespace clawmark
