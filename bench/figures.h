#pragma once
// Small things that the benchmarks share.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/result.h"

namespace clawmark::bench {

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "bench: %s\n", describe(result.error()).c_str());
    std::exit(1);
  }
  return std::move(result).value();
}

inline double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

// Wall and processor time of this thread, in milliseconds, of many runs of one thing.
class Times {
 public:
  template <class Work>
  void measure(const Work& work) {
    const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    work();
    cpu_.push_back((seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu) * 1e3);
    wall_.push_back((seconds_of(CLOCK_MONOTONIC) - wall) * 1e3);
  }
  double wall(double share) { return at(wall_, share); }
  double cpu(double share) { return at(cpu_, share); }
  std::string text() {
    char out[120];
    std::snprintf(out, sizeof out, "p50 %8.3f  p99 %8.3f ms   (processor %8.3f, %8.3f)", wall(0.5),
                  wall(0.99), cpu(0.5), cpu(0.99));
    return out;
  }

 private:
  static double at(std::vector<double>& values, double share) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }
  std::vector<double> wall_, cpu_;
};

inline double resident_mb() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double kib = 0;
    if (word == "VmRSS:" && in >> kib) return kib / 1024;
  }
  return 0;
}

}  // namespace clawmark::bench
