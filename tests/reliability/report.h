#pragma once
// One row of the table that `tests/run --reliability` prints. With CLAWMARK_RELIABILITY_REPORT=FILE
// it is appended to that file (tab-separated); always to standard output.

#include <cstdint>
#include <string>

namespace clawmark::reliability {

struct ReportRow {
  std::string technique;
  std::int64_t trials = 0, faults = 0, violations = 0;
  std::string note;
};
void report(const ReportRow& row);

// A number from the environment, else the default.
std::int64_t setting(const char* name, std::int64_t otherwise);

}  // namespace clawmark::reliability
