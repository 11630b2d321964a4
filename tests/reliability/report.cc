#include "tests/reliability/report.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace clawmark::reliability {

void report(const ReportRow& row) {
  const std::string line = row.technique + "\t" + std::to_string(row.trials) + "\t" +
                           std::to_string(row.faults) + "\t" + std::to_string(row.violations) +
                           "\t" + row.note + "\n";
  std::fputs(line.c_str(), stdout);
  if (const char* path = std::getenv("CLAWMARK_RELIABILITY_REPORT")) {
    std::ofstream(path, std::ios::app) << line;
  }
}

std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoll(text, nullptr, 10);
}

}  // namespace clawmark::reliability
