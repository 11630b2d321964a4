#include "sources/shown_time.h"

#include <charconv>

namespace clawmark {
namespace {

constexpr std::int64_t kFirstMs = 946'684'800'000;   // 2000-01-01
constexpr std::int64_t kLastMs = 4'102'444'800'000;  // 2100-01-01

ShownTime usable(std::int64_t ms, bool as_is) {
  if (ms < kFirstMs || ms >= kLastMs) return {{}, false};
  return {{ms}, as_is};
}

}  // namespace

ShownTime shown_time(std::int64_t number) {
  constexpr std::int64_t kSecondsBelow = 100'000'000'000, kMicrosFrom = 100'000'000'000'000,
                         kNanosFrom = 100'000'000'000'000'000;
  if (number >= kNanosFrom) return usable(number / 1'000'000, false);
  if (number >= kMicrosFrom) return usable(number / 1'000, false);
  if (number > 0 && number < kSecondsBelow) return usable(number * 1'000, false);
  return usable(number, true);
}

ShownTime shown_time(std::string_view text) {
  if (const auto iso = parse_iso(text)) return usable(iso->value, true);
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = failed == std::errc{} && (end == text.data() + text.size() || *end == '.');
  return whole ? shown_time(number) : ShownTime{{}, false};
}

}  // namespace clawmark
