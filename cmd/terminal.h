#pragma once
// What people see: tables, ages, a progress bar on a terminal and quiet lines elsewhere.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace clawmark {

bool is_terminal(std::FILE* stream);
// Columns padded to their widest cell (code points), two blanks between; the last one is not
// padded.
std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows);
std::string format_age(std::int64_t ms);        // "3 s", "12 min", "5 h", "9 days"
std::string format_count(std::int64_t number);  // 12,345
std::string one_line(std::string_view text, std::size_t characters_max);  // no control characters

// Redraws one line on a terminal; writes nothing elsewhere.
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* stream) : stream_(stream), shown_(is_terminal(stream)) {}
  ~ProgressBar() { clear(); }
  void show(std::string_view label, std::int64_t done, std::int64_t total);
  void clear();

 private:
  std::FILE* stream_;
  bool shown_;
  bool drawn_ = false;
};

}  // namespace clawmark
