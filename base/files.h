#pragma once
// Small file-system helpers with errors as values.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clawmark {

// An open descriptor, closed by its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release();

 private:
  int fd_ = -1;
};

struct FileInfo {
  std::uint64_t device = 0, inode = 0;
  std::int64_t size = 0;  // bytes
  std::int64_t mtime_ms = 0;
  uid_t owner = 0;
  bool is_directory = false;
  bool is_regular = false;
};

std::optional<FileInfo> stat_file(const std::string& path);  // follows links; nullopt: not there
Result<std::string> read_file(const std::string& path, std::size_t bytes_max = 64u << 20);
// Writes beside the target, fsyncs, renames, fsyncs the folder. Mode 0600.
Status write_file_atomic(const std::string& path, std::string_view content);
// Creates a folder and its parents, mode 0700 for those it makes.
Status make_private_dir(const std::string& path);
// Names in a folder, sorted by bytes; empty when it cannot be read.
std::vector<std::string> list_dir(const std::string& path);

std::string home_dir();                          // $HOME, else the password database
std::string expand_home(std::string_view path);  // "~" and "~/x"
std::string data_dir();  // $XDG_DATA_HOME/clawmark or ~/.local/share/clawmark
std::string join_path(std::string_view a, std::string_view b);
std::string dir_name(std::string_view path);
std::string base_name(std::string_view path);
// Type of the file system that holds `path` when it is one on which WAL is unsafe ("nfs", "smb",
// "9p", "virtiofs", "fuse", …); empty for local ones.
std::string unsafe_filesystem(const std::string& path);

// An advisory lock (flock) on a file, held for life; its content says who holds it.
class FileLock {
 public:
  // Error: conflict, stage "lock", reason "held", message names the holder as written in the file.
  static Result<FileLock> acquire(const std::string& path, std::string_view holder);
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) noexcept = default;

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace clawmark
