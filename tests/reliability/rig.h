#pragma once
// The real store and workers on a disk that can fail, over carriers in memory that grow, with
// models that answer at once. Everything follows from a seed.

#include <memory>
#include <string>
#include <vector>

#include "tests/reliability/disk.h"
#include "tests/reliability/invariants.h"
#include "tests/workers/support.h"
#include "workers/backoff.h"

namespace clawmark::reliability {

class Rig {
 public:
  explicit Rig(std::uint64_t seed);
  ~Rig();

  // A history to begin with, read and derived, and synced to the disk.
  void prepare(std::size_t messages);
  // Where prepare() ended, again; everything from here on follows from the seed.
  void rewind(std::uint64_t seed);

  Status open();
  void close();  // as a crash would: nothing is tidied up
  // The carriers grow by a few messages.
  void grow();
  // What the workers do until they are idle or the disk is dead, with commands of a user between
  // two slices; waiting for a next try moves the clock, at most so many times. Errors only of what
  // is not the disk's fault.
  Result<DrainReport> work(int commands, int waits = 0);
  // Invariants that hold at any time; `after_power_loss`: cursors may be back.
  Violations check(bool after_power_loss);
  // Invariants of a store that has nothing left to do. Rebuilds.
  Violations check_idle(const DrainReport& report);

  // A worker that does something wrong between two slices: for tests of the harness.
  std::function<void(Store&, Pipeline&)> misbehave;
  // Commits what a user stated: the real way unless a test gives another.
  std::function<Status(Pipeline&, Store&, const NewEvent&)> state_fact;
  int checkpoint_pages = 0;  // 0: as the product sets it

  Disk& disk() { return *disk_; }
  Store& store() { return *store_; }
  Pipeline& pipeline() { return *pipeline_; }
  Random& random() { return random_; }
  std::size_t acknowledged() const { return acknowledged_.size(); }

 private:
  std::vector<OpenSource> discover() const;
  void add_message(FakeStream& stream);
  Status user_command();

  support::TempDir dir_;
  std::unique_ptr<Disk> disk_;
  ManualClock clock_;
  Random random_;
  std::vector<std::shared_ptr<FakeCarrier>> carriers_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<std::unique_ptr<Projection>> judges_;  // to fold with, apart from the pipeline's own
  std::vector<Projection*> judge_list_;
  std::vector<std::string> acknowledged_;
  CursorMemory cursors_;
  std::uint64_t next_id_ = 0;

  struct Start {
    std::shared_ptr<const Disk::Image> image;
    std::vector<FakeCarrier> carriers;
    TimeMs now;
    std::uint64_t next_id = 0;
  } start_;
};

}  // namespace clawmark::reliability
