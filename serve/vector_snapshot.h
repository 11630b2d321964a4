#pragma once
// A file of named byte runs that is whole or is not read: magic, format, model, stamp, sizes, and a
// checksum over all. Written beside its place, synced, renamed. Inside serve/vector_* only.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/model.h"

namespace clawmark {

// Up to where the store was read when the snapshot was made.
struct IndexStamp {
  std::int64_t loaded_to = 0, removal_seen = 0, generation = 0, model_row = 0;
};

struct Snapshot {
  ModelId model;
  IndexStamp stamp;
  std::vector<std::span<const char>> parts;
};

Status write_snapshot(const std::string& path, const Snapshot& snapshot);

// A snapshot in memory, mapped from its file.
class MappedSnapshot {
 public:
  // Error: not_found; invalid, reasons "snapshot_format" (another or a newer one),
  // "snapshot_damaged".
  static Result<MappedSnapshot> open(const std::string& path);
  MappedSnapshot(MappedSnapshot&&) noexcept;
  MappedSnapshot& operator=(MappedSnapshot&&) = delete;
  ~MappedSnapshot();
  const Snapshot& snapshot() const { return snapshot_; }

 private:
  MappedSnapshot(void* base, std::size_t size) : base_(base), size_(size) {}
  void* base_;
  std::size_t size_;
  Snapshot snapshot_;
};

}  // namespace clawmark
