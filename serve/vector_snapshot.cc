#include "serve/vector_snapshot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/files.h"

namespace clawmark {
namespace {

constexpr std::array<char, 8> kMagic = {'C', 'M', 'V', 'E', 'C', 'T', 'O', 'R'};
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kPartsMax = 16;
constexpr std::size_t kNameMax = 232;

struct Head {
  std::array<char, 8> magic{};
  std::uint32_t format = 0, parts = 0;
  std::uint64_t checksum = 0;  // of all that follows
  std::int64_t dims = 0;
  IndexStamp stamp;
  std::array<std::uint64_t, kPartsMax> sizes{};
  std::array<char, kNameMax> model{};
};
constexpr std::size_t kSummedFrom = offsetof(Head, dims);

std::uint64_t turn(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9fb21c651e98df25ULL;
  return x ^ (x >> 28);
}

// Finds damage, not malice: the file is the user's own. Four lanes, so that it keeps pace with
// memory.
class Checksum {
 public:
  void add(const char* data, std::size_t size) {
    std::size_t at = 0;
    for (; at + 32 <= size; at += 32) {
      std::array<std::uint64_t, 4> words;
      std::memcpy(words.data(), data + at, 32);
      for (std::size_t i = 0; i < 4; ++i) {
        lanes_[i] = (lanes_[i] ^ words[i]) * 0x9e3779b97f4a7c15ULL;
        lanes_[i] ^= lanes_[i] >> 29;
      }
    }
    std::uint64_t rest = size;
    for (; at < size; ++at) rest = rest * 257 + static_cast<unsigned char>(data[at]);
    lanes_[0] = turn(lanes_[0] ^ rest);
  }
  std::uint64_t sum() const {
    std::uint64_t out = 0;
    for (const std::uint64_t lane : lanes_) out = turn(out ^ lane) + lane;
    return out;
  }

 private:
  std::array<std::uint64_t, 4> lanes_ = {1, 2, 3, 4};
};

Error failed(std::string_view what) {
  return make_error(ErrorKind::kRetriable, "index", "snapshot_io",
                    std::string(what) + " the index snapshot: " + std::strerror(errno));
}

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, data, std::min<std::size_t>(size, 1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

Status write_snapshot(const std::string& path, const Snapshot& snapshot) {
  Head head;
  head.magic = kMagic;
  head.format = kFormat;
  if (snapshot.parts.size() > kPartsMax || snapshot.model.name.size() >= kNameMax) {
    return make_error(ErrorKind::kInvalid, "index", "snapshot_format", "does not fit a snapshot");
  }
  head.parts = static_cast<std::uint32_t>(snapshot.parts.size());
  head.dims = snapshot.model.dims;
  head.stamp = snapshot.stamp;
  std::copy(snapshot.model.name.begin(), snapshot.model.name.end(), head.model.begin());
  for (std::size_t i = 0; i < snapshot.parts.size(); ++i) head.sizes[i] = snapshot.parts[i].size();
  Checksum checksum;
  checksum.add(reinterpret_cast<const char*>(&head) + kSummedFrom, sizeof head - kSummedFrom);
  for (const auto part : snapshot.parts) checksum.add(part.data(), part.size());
  head.checksum = checksum.sum();

  const std::string beside = path + ".tmp";
  const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.valid()) return failed("cannot create");
  bool written = write_all(file.get(), reinterpret_cast<const char*>(&head), sizeof head);
  for (const auto part : snapshot.parts) {
    written = written && write_all(file.get(), part.data(), part.size());
  }
  if (!written || ::fsync(file.get()) != 0 || ::rename(beside.c_str(), path.c_str()) != 0) {
    const Error error = failed("cannot write");
    ::unlink(beside.c_str());
    return error;
  }
  const Fd folder(::open(dir_name(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) ::fsync(folder.get());
  return Ok{};
}

Result<MappedSnapshot> MappedSnapshot::open(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return make_error(ErrorKind::kNotFound, "index", "no_snapshot", "there is no index snapshot");
  }
  const auto info = stat_file(path);
  const auto size = static_cast<std::size_t>(info ? info->size : 0);
  const auto damaged = [] {
    return make_error(ErrorKind::kInvalid, "index", "snapshot_damaged",
                      "the index snapshot is damaged; it is made again from the store");
  };
  if (size < sizeof(Head)) return damaged();
  void* base = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
  if (base == MAP_FAILED) return failed("cannot map");
  MappedSnapshot out(base, size);
  Head head;
  const char* bytes = static_cast<const char*>(base);
  std::memcpy(&head, bytes, sizeof head);
  if (head.magic != kMagic || head.format != kFormat) {
    return make_error(ErrorKind::kInvalid, "index", "snapshot_format",
                      "the index snapshot is of another format; it is made again from the store");
  }
  if (head.parts > kPartsMax) return damaged();
  std::size_t at = sizeof head;
  for (std::size_t i = 0; i < head.parts; ++i) {
    if (head.sizes[i] > size - at) return damaged();
    out.snapshot_.parts.push_back({bytes + at, static_cast<std::size_t>(head.sizes[i])});
    at += static_cast<std::size_t>(head.sizes[i]);
  }
  if (at != size) return damaged();
  Checksum checksum;
  checksum.add(bytes + kSummedFrom, sizeof head - kSummedFrom);
  for (const auto part : out.snapshot_.parts) checksum.add(part.data(), part.size());
  if (checksum.sum() != head.checksum) return damaged();
  head.model.back() = '\0';
  out.snapshot_.model = {head.model.data(), static_cast<int>(head.dims)};
  out.snapshot_.stamp = head.stamp;
  return out;
}

MappedSnapshot::MappedSnapshot(MappedSnapshot&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(other.size_),
      snapshot_(std::move(other.snapshot_)) {}

MappedSnapshot::~MappedSnapshot() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

}  // namespace clawmark
