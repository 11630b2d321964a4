#pragma once
// What read_foreign_memory() gives, into the log: messages through the same recognition as those of
// the host's carriers, stated facts as such, each with where it came from. May be run again: what
// is known is known.

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "log/store.h"
#include "sources/foreign_memory.h"

namespace clawmark {

struct ForeignTarget {
  std::string agent = "main";
  std::string
      session_key;  // of messages whose conversation is not known; empty: the operator's only
  std::string holder = "person:owner";  // of stated facts
};

struct ForeignCounts {
  std::int64_t messages = 0, new_messages = 0;
  std::int64_t facts = 0, new_facts = 0;
  std::int64_t refused = 0;  // facts that a rule does not allow: secrets, keys that are none
  std::int64_t deleted = 0;  // facts that were deleted there
  std::vector<std::string> left_out;
};

// In one transaction; without `keep` nothing of it stays.
Result<ForeignCounts> import_foreign(Store& store, std::string_view kind, const std::string& path,
                                     const ForeignTarget& target, const Clock& clock, bool keep);

}  // namespace clawmark
