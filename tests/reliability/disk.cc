#include "tests/reliability/disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace clawmark::reliability {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kSector = 512;

struct Write {
  std::size_t offset = 0;
  Bytes data;
  bool truncate = false;  // to `offset`
};

// Bytes [0, through) of a write.
void put(Bytes& to, const Write& write, std::size_t through) {
  if (write.truncate) {
    to.resize(write.offset);
    return;
  }
  const std::size_t size = std::min(through, write.data.size());
  if (size == 0) return;
  if (to.size() < write.offset + size) to.resize(write.offset + size, 0);
  std::copy_n(write.data.begin(), size, to.begin() + static_cast<std::ptrdiff_t>(write.offset));
}
void put(Bytes& to, const Write& write) {
  put(to, write, write.data.size());
}

}  // namespace

struct Disk::Inode {
  Bytes durable, current;
  std::vector<Write> pending;
  bool durable_name = false;  // its folder was synced with its first sync
  std::vector<std::unique_ptr<Bytes>> shared_memory;

  Inode() = default;
  Inode(const Inode& from)
      : durable(from.durable),
        current(from.current),
        pending(from.pending),
        durable_name(from.durable_name) {}
};

struct Disk::Image {
  std::map<std::string, Inode> files;
};

// An open file. SQLite allocates it; `base` must come first.
struct DiskFile {
  sqlite3_file base;
  Disk* disk;
  std::shared_ptr<Disk::Inode>* inode;
  std::string* name;
  bool delete_on_close;

  static DiskFile& of(sqlite3_file* file) { return *reinterpret_cast<DiskFile*>(file); }
  Disk::Inode& node() const { return **inode; }

  static int close(sqlite3_file* file) {
    DiskFile& f = of(file);
    if (f.delete_on_close) f.disk->files_.erase(*f.name);
    delete f.inode;
    delete f.name;
    return SQLITE_OK;
  }
  static int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
    DiskFile& f = of(file);
    if (f.disk->dead_ || f.disk->fails(FaultKind::kIoError)) return SQLITE_IOERR_READ;
    const Bytes& bytes = f.node().current;
    const auto end = static_cast<sqlite3_int64>(bytes.size());
    const auto there = static_cast<int>(std::clamp<sqlite3_int64>(end - offset, 0, size));
    if (there > 0 && f.disk->fails(FaultKind::kShortRead)) {
      std::memcpy(into, bytes.data() + offset, static_cast<std::size_t>(there / 2));
      return SQLITE_IOERR_READ;
    }
    if (there > 0) std::memcpy(into, bytes.data() + offset, static_cast<std::size_t>(there));
    if (there == size) return SQLITE_OK;
    std::memset(static_cast<char*>(into) + there, 0, static_cast<std::size_t>(size - there));
    return SQLITE_IOERR_SHORT_READ;
  }
  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    DiskFile& f = of(file);
    Disk& disk = *f.disk;
    if (disk.dead_ || disk.fails(FaultKind::kIoError)) return SQLITE_IOERR_WRITE;
    if (disk.fails(FaultKind::kDiskFull)) return SQLITE_FULL;
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    Write write{static_cast<std::size_t>(offset), Bytes(bytes, bytes + size), false};
    put(f.node().current, write);
    f.node().pending.push_back(std::move(write));
    ++disk.writes_;
    return disk.tick() ? SQLITE_IOERR_WRITE : SQLITE_OK;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    DiskFile& f = of(file);
    if (f.disk->dead_ || f.disk->fails(FaultKind::kIoError)) return SQLITE_IOERR_TRUNCATE;
    Write write{static_cast<std::size_t>(size), {}, true};
    put(f.node().current, write);
    f.node().pending.push_back(std::move(write));
    return f.disk->tick() ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
  }
  static int sync(sqlite3_file* file, int) {
    DiskFile& f = of(file);
    Disk& disk = *f.disk;
    if (disk.dead_ || disk.fails(FaultKind::kIoError)) return SQLITE_IOERR_FSYNC;
    if (disk.tick()) return SQLITE_IOERR_FSYNC;  // before it: what is pending stays pending
    for (const Write& write : f.node().pending) put(f.node().durable, write);
    f.node().pending.clear();
    f.node().durable_name = true;
    ++disk.syncs_;
    return SQLITE_OK;
  }
  static int size(sqlite3_file* file, sqlite3_int64* size) {
    if (of(file).disk->fails(FaultKind::kIoError)) return SQLITE_IOERR_FSTAT;
    *size = static_cast<sqlite3_int64>(of(file).node().current.size());
    return SQLITE_OK;
  }
  // One process, one connection: locks are always free.
  static int lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int is_reserved(sqlite3_file*, int* reserved) {
    *reserved = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector(sqlite3_file*) { return static_cast<int>(kSector); }
  static int traits(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
  static int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
    DiskFile& f = of(file);
    if (f.disk->fails(FaultKind::kIoError)) return SQLITE_IOERR_SHMMAP;
    auto& pages = f.node().shared_memory;
    *out = nullptr;
    while (static_cast<int>(pages.size()) <= page) {
      if (!extend) return SQLITE_OK;
      pages.push_back(std::make_unique<Bytes>(static_cast<std::size_t>(size), 0));
    }
    *out = pages[static_cast<std::size_t>(page)]->data();
    return SQLITE_OK;
  }
  static int lock_shared(sqlite3_file*, int, int, int) { return SQLITE_OK; }
  static void barrier(sqlite3_file*) {}
  static int unmap_shared(sqlite3_file* file, int remove) {
    if (remove) of(file).node().shared_memory.clear();
    return SQLITE_OK;
  }
};

namespace {

constexpr sqlite3_io_methods kMethods = {
    2,
    DiskFile::close,
    DiskFile::read,
    DiskFile::write,
    DiskFile::truncate,
    DiskFile::sync,
    DiskFile::size,
    DiskFile::lock,
    DiskFile::lock,
    DiskFile::is_reserved,
    DiskFile::control,
    DiskFile::sector,
    DiskFile::traits,
    DiskFile::map_shared,
    DiskFile::lock_shared,
    DiskFile::barrier,
    DiskFile::unmap_shared,
    nullptr,
    nullptr,
};

}  // namespace

struct DiskVfs {
  static Disk& of(sqlite3_vfs* vfs) { return *static_cast<Disk*>(vfs->pAppData); }
  static bool is_ours(const Disk& disk, const char* name) {
    return name != nullptr && std::string_view(name).starts_with(disk.root_);
  }
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    Disk& disk = of(vfs);
    if (!is_ours(disk, name)) return disk.below_->xOpen(disk.below_, name, file, flags, out);
    file->pMethods = nullptr;
    if (disk.dead_ || disk.fails(FaultKind::kCannotOpen)) return SQLITE_CANTOPEN;
    auto& inode = disk.files_[name];
    if (!inode) inode = std::make_shared<Disk::Inode>();
    DiskFile& f = DiskFile::of(file);
    f.disk = &disk;
    f.inode = new std::shared_ptr<Disk::Inode>(inode);
    f.name = new std::string(name);
    f.delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    file->pMethods = &kMethods;
    if (out != nullptr) *out = flags;
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    Disk& disk = of(vfs);
    if (!is_ours(disk, name)) return disk.below_->xDelete(disk.below_, name, sync_folder);
    if (disk.dead_ || disk.fails(FaultKind::kIoError)) return SQLITE_IOERR_DELETE;
    disk.files_.erase(name);
    return disk.tick() ? SQLITE_IOERR_DELETE : SQLITE_OK;
  }
  static int access(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
    Disk& disk = of(vfs);
    if (!is_ours(disk, name)) return disk.below_->xAccess(disk.below_, name, flags, out);
    if (disk.fails(FaultKind::kIoError)) return SQLITE_IOERR_ACCESS;
    const auto found = disk.files_.find(name);
    *out = found != disk.files_.end() &&
           (flags != SQLITE_ACCESS_EXISTS || !found->second->current.empty());
    return SQLITE_OK;
  }
  static int full_name(sqlite3_vfs* vfs, const char* name, int size, char* out) {
    Disk& disk = of(vfs);
    if (!is_ours(disk, name)) return disk.below_->xFullPathname(disk.below_, name, size, out);
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }
  static int random(sqlite3_vfs* vfs, int size, char* out) {
    for (int i = 0; i < size; ++i) out[i] = static_cast<char>(of(vfs).random_());
    return size;
  }
  static int sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
  static int now(sqlite3_vfs*, double* julian_day) {
    *julian_day = 2'461'000.5;
    return SQLITE_OK;
  }
};

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return "none";
    case FaultKind::kIoError:
      return "I/O error";
    case FaultKind::kDiskFull:
      return "disk full";
    case FaultKind::kCannotOpen:
      return "cannot open";
    case FaultKind::kShortRead:
      return "short read";
  }
  return "";
}

Disk::Disk(std::string root, std::uint64_t seed) : root_(std::move(root)), random_(seed) {
  below_ = sqlite3_vfs_find(nullptr);
  vfs_ = std::make_unique<sqlite3_vfs>(*below_);
  vfs_->iVersion = 1;
  vfs_->szOsFile = std::max(below_->szOsFile, static_cast<int>(sizeof(DiskFile)));
  vfs_->pNext = nullptr;
  vfs_->zName = "clawmark-disk";
  vfs_->pAppData = this;
  vfs_->xOpen = DiskVfs::open;
  vfs_->xDelete = DiskVfs::remove;
  vfs_->xAccess = DiskVfs::access;
  vfs_->xFullPathname = DiskVfs::full_name;
  vfs_->xRandomness = DiskVfs::random;
  vfs_->xSleep = DiskVfs::sleep;
  vfs_->xCurrentTime = DiskVfs::now;
  if (sqlite3_vfs_register(vfs_.get(), 1) != SQLITE_OK) throw std::runtime_error("no such VFS");
}

Disk::~Disk() {
  sqlite3_vfs_unregister(vfs_.get());
  sqlite3_vfs_register(below_, 1);
}

bool Disk::tick() {
  if (crash_at <= 0) return dead_;
  --crash_at;
  if (crash_at == 0) dead_ = true;
  return dead_;
}

bool Disk::fails(FaultKind kind) {
  if (fault_.kind != kind) return false;
  ++calls_;
  if (calls_ != fault_.nth && !(fault_.persistent && calls_ > fault_.nth)) return false;
  ++fired_;
  return true;
}

void Disk::arm(const Fault& fault) {
  fault_ = fault;
  calls_ = fired_ = 0;
}

void Disk::apply_pending(Inode& inode, std::mt19937_64& random) {
  for (Write& write : inode.pending) {
    const auto fate = random() % 8;
    if (fate < 3) {
      put(inode.durable, write);
      ++tally_.kept;
    } else if (fate == 3 && !write.truncate) {
      put(inode.durable, write, kSector * (random() % (write.data.size() / kSector + 1)));
      ++tally_.torn;
    } else if (fate == 4 && !write.truncate) {
      for (auto& byte : write.data) byte = static_cast<std::uint8_t>(random());
      put(inode.durable, write);
      ++tally_.garbled;
    } else {
      ++tally_.dropped;
    }
  }
  inode.pending.clear();
  inode.current = inode.durable;
  inode.shared_memory.clear();
}

void Disk::power_loss(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (auto it = files_.begin(); it != files_.end();) {
    if (!it->second->durable_name && random() % 2 == 0) {
      it = files_.erase(it);
      ++tally_.files_lost;
      continue;
    }
    apply_pending(*it->second, random);
    ++it;
  }
  dead_ = false;
  crash_at = 0;
}

void Disk::kill() {
  for (auto& [name, inode] : files_) inode->shared_memory.clear();  // nobody has it mapped
  dead_ = false;
  crash_at = 0;
}

std::shared_ptr<const Disk::Image> Disk::image() const {
  auto out = std::make_shared<Image>();
  for (const auto& [name, inode] : files_) out->files.emplace(name, *inode);
  return out;
}

void Disk::restore(const Image& image) {
  files_.clear();
  for (const auto& [name, inode] : image.files) files_[name] = std::make_shared<Inode>(inode);
  dead_ = false;
  crash_at = 0;
}

}  // namespace clawmark::reliability
