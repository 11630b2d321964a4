// A disk that fails at its first call, its second, its third, … until a run ends untouched.
//
// Method (as SQLite's own tests do it). A run opens the store, reads what grew, derives, embeds,
// extracts, and a user states a fact. It is repeated with the n-th call failing, n = 1, 2, 3, …,
// until a run never reaches it. Transient: that one call; the same process must then come to the
// end by itself. Persistent: all calls from then on; when the disk is well again the same process
// must come to the end by itself, too, if it was open, or else when it is started again. After
// each: the invariants of a store at rest.

#include "tests/reliability/report.h"
#include "tests/reliability/rig.h"

namespace clawmark::reliability {
namespace {

constexpr std::uint64_t kSeed = 11;

struct Sweep {
  std::int64_t runs = 0, faults = 0, violations = 0;
  std::string first;
};

// One run with a fault; true: it fired.
bool run_with(Rig& rig, const Fault& fault, Sweep& sweep) {
  const auto note = [&](const Violations& found) {
    if (found.empty()) return;
    sweep.violations += static_cast<std::int64_t>(found.size());
    if (!sweep.first.empty()) return;
    sweep.first = std::string(to_string(fault.kind)) + " at call " + std::to_string(fault.nth) +
                  (fault.persistent ? " and later: " : ": ") + joined(found);
  };
  rig.rewind(kSeed);
  rig.grow();
  rig.checkpoint_pages = 20;
  rig.disk().arm(fault);
  ++sweep.runs;
  bool is_open = rig.open().ok();
  if (is_open) (void)rig.work(3, 6);
  const bool fired = rig.disk().fired();
  sweep.faults += rig.disk().fired_count();
  rig.disk().arm({});
  if (!is_open) {
    rig.close();
    const auto opened = rig.open();
    is_open = opened.ok();
    if (!is_open) note({"cannot be opened afterwards: " + describe(opened.error())});
  }
  if (is_open) {
    const auto report = rig.work(0, 60);
    if (report.ok()) {
      note(rig.check_idle(*report));
    } else {
      note({"does not go on: " + describe(report.error())});
    }
  }
  rig.close();
  return fired;
}

void sweep(FaultKind kind, bool persistent) {
  Rig rig(1);
  rig.prepare(12);
  Sweep sum;
  for (std::int64_t nth = 1; run_with(rig, {kind, nth, persistent}, sum); ++nth) {
    if (sum.violations > 0) break;
  }
  report({std::string("n-th fault: ") + std::string(to_string(kind)) +
              (persistent ? ", persistent" : ", transient"),
          sum.runs, sum.faults, sum.violations, ""});
  EXPECT_GT(sum.runs, kind == FaultKind::kCannotOpen ? 2 : 20) << "the fault never fired";
  EXPECT_EQ(sum.violations, 0) << sum.first;
}

TEST(FaultSweep, io_error_once) {
  sweep(FaultKind::kIoError, false);
}
TEST(FaultSweep, io_error_from_then_on) {
  sweep(FaultKind::kIoError, true);
}
TEST(FaultSweep, C158_disk_full_once) {
  sweep(FaultKind::kDiskFull, false);
}
TEST(FaultSweep, C158_disk_full_from_then_on_until_space_is_freed) {
  sweep(FaultKind::kDiskFull, true);
}
TEST(FaultSweep, cannot_open_once) {
  sweep(FaultKind::kCannotOpen, false);
}
TEST(FaultSweep, cannot_open_from_then_on) {
  sweep(FaultKind::kCannotOpen, true);
}
TEST(FaultSweep, short_read_once) {
  sweep(FaultKind::kShortRead, false);
}
TEST(FaultSweep, short_read_from_then_on) {
  sweep(FaultKind::kShortRead, true);
}

}  // namespace
}  // namespace clawmark::reliability
