#pragma once
// Memories of others, read once for `clawmark import --from`: the database of the original
// Clawmark, that of recursive-claw, databases with LCM's tables (lossless-claw, WorldClaw), and
// OpenClaw's own memory files. Read-only, like every source; entries come as a carrier would give
// them.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sources/source.h"

namespace clawmark {

struct ForeignFact {
  std::string key, value;
  bool stated = false;  // by a person; else concluded, and without its evidence
  double confidence = 0;
  TimeMs updated;
};

struct ForeignMemory {
  std::vector<ForeignFact> facts;
  std::int64_t deleted = 0;           // facts that were deleted there
  std::vector<std::string> left_out;  // tables or files that hold something that cannot be taken
};

// Called with at most kSourceBatchItems entries of one stream at a time, in order.
using TakeEntries = std::function<Status(const StreamInfo&, std::vector<Entry>)>;

// `kind`: "clawmark", "recursive-claw", "worldclaw", "lcm", "memory-files". `path`: the database,
// or for memory-files the agent's workspace. Errors: invalid, stage "import": "unknown_kind",
// "absent", "not_one" (tables or files are missing, named); those of reading the file.
Result<ForeignMemory> read_foreign_memory(std::string_view kind, const std::string& path,
                                          const Clock& clock, const TakeEntries& take);

// A name for what has none, made of what it says: the same words, the same name.
std::string derived_uuid(std::string_view text);

}  // namespace clawmark
