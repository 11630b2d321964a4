#pragma once
// A disk in memory under SQLite, that can lose power and can fail.
//
// Method. While a Disk lives, it is SQLite's default file system for everything below its root;
// other paths go to the real one. Every write, truncation and deletion that no sync has covered is
// pending. power_loss() decides for each of them alone, by the seed, whether it reached the platter
// whole, not at all, torn at a sector border, or as garbage; what was synced stays; shared memory
// (the WAL index) is gone. kill() models a killed process: the page cache survives, so nothing is
// lost. A file that was never synced may be missing altogether.
//
// The disk can also stop at the n-th write or sync (`crash_at`), in the middle of whatever is going
// on, or fail the n-th call of any kind (`fault`), once or from then on.

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3_vfs;

namespace clawmark::reliability {

// kShortRead: half of the bytes arrive, then an error. (SQLite takes a short read without an error
// for the end of the file, and zeroes for its content: nothing above it could tell.)
enum class FaultKind { kNone, kIoError, kDiskFull, kCannotOpen, kShortRead };
std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::int64_t nth = 0;     // call of the kinds that can meet it, from 1
  bool persistent = false;  // all later ones, too
};

class Disk {
 public:
  // `root`: a folder; its files live here.
  Disk(std::string root, std::uint64_t seed);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // --- crashes
  std::int64_t crash_at = 0;  // stops at this write or sync from now on, counted down; 0: never
  bool is_dead() const { return dead_; }
  void power_loss(std::uint64_t seed);
  void kill();

  // --- faults
  void arm(const Fault& fault);  // counts from now on
  bool fired() const { return fired_ > 0; }
  std::int64_t fired_count() const { return fired_; }

  // --- what it did
  std::int64_t writes() const { return writes_; }
  std::int64_t syncs() const { return syncs_; }
  struct Tally {
    std::int64_t kept = 0, dropped = 0, torn = 0, garbled = 0, files_lost = 0;
    std::int64_t sum() const { return dropped + torn + garbled + files_lost; }
  };
  const Tally& tally() const { return tally_; }

  // The whole content, to go on from the same moment several times.
  struct Image;
  std::shared_ptr<const Image> image() const;
  void restore(const Image& image);

  struct Inode;

 private:
  friend struct DiskFile;
  friend struct DiskVfs;
  bool tick();  // a write or sync happened: true when the power fails with it
  bool fails(FaultKind kind);
  void apply_pending(Inode& inode, std::mt19937_64& random);

  std::string root_;
  std::map<std::string, std::shared_ptr<Inode>> files_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  sqlite3_vfs* below_ = nullptr;
  std::mt19937_64 random_;
  Fault fault_;
  Tally tally_;
  std::int64_t calls_ = 0, fired_ = 0, writes_ = 0, syncs_ = 0;
  bool dead_ = false;
};

}  // namespace clawmark::reliability
