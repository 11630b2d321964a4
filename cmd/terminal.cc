#include "cmd/terminal.h"

#include <unistd.h>

#include <algorithm>

#include "base/utf8.h"
#include "base/visible.h"

namespace clawmark {

bool is_terminal(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

std::string one_line(std::string_view text, std::size_t characters_max) {
  std::string out;
  const std::string valid = to_valid_utf8(text);
  for (std::size_t at = 0, count = 0; at < valid.size(); ++count) {
    if (count == characters_max) return out + "…";
    const char32_t c = next_code_point(valid, at);
    // What moves the cursor, or may.
    const bool gap = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    if (gap || !is_invisible(c)) append_code_point(out, gap ? U' ' : c);
  }
  return out;
}

std::string format_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& cell : header) widths.push_back(count_code_points(cell));
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], count_code_points(row[i]));
    }
  }
  std::string out;
  const auto add = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - count_code_points(row[i]) + 2, ' ');
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  };
  add(header);
  for (const auto& row : rows) add(row);
  return out;
}

std::string format_age(std::int64_t ms) {
  if (ms < kMinuteMs) return std::to_string(std::max<std::int64_t>(ms, 0) / kSecondMs) + " s";
  if (ms < 2 * kHourMs) return std::to_string(ms / kMinuteMs) + " min";
  if (ms < 2 * kDayMs) return std::to_string(ms / kHourMs) + " h";
  return std::to_string(ms / kDayMs) + " days";
}

std::string format_count(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t left = digits.size() - i;
    if (!out.empty() && out != "-" && left % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

void ProgressBar::show(std::string_view label, std::int64_t done, std::int64_t total) {
  if (!shown_) return;
  constexpr std::int64_t kWidth = 28;
  total = std::max<std::int64_t>({total, done, 1});
  const auto filled = static_cast<std::size_t>(done * kWidth / total);
  std::string bar;
  for (std::size_t i = 0; i < static_cast<std::size_t>(kWidth); ++i) bar += i < filled ? "█" : "░";
  std::fprintf(stream_, "\r\033[K%s %3d %%  %.*s  %s / %s", bar.c_str(),
               static_cast<int>(done * 100 / total), static_cast<int>(label.size()), label.data(),
               format_count(done).c_str(), format_count(total).c_str());
  std::fflush(stream_);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  drawn_ = false;
}

}  // namespace clawmark
