#pragma once
// Turns the bundled story (deploy/sample) into an OpenClaw state folder.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/support/conversation.h"

namespace clawmark {

struct SampleCounts {
  std::size_t sessions = 0, messages = 0;
};

struct SampleOptions {
  std::string story_dir;                 // deploy/sample
  std::string state_dir;                 // made; must not hold agents/ yet
  int year = 2026, month = 11, day = 2;  // day 1 of the story
};

// The same options give the same files. Error: invalid, stage "sample": names file and line.
Result<SampleCounts> write_sample(const SampleOptions& options);

}  // namespace clawmark
