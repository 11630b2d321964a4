#include <algorithm>
#include <array>
#include <charconv>

#include "base/limits.h"
#include "base/utf8.h"
#include "models/endpoint.h"
#include "models/model.h"

namespace clawmark {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_any(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::optional<TimeMs> parse_http_date(std::string_view value) {
  // Day name, then in any order: a month by name, hh:mm:ss, day, year (RFC 9110, 5.6.7, all three
  // forms).
  std::optional<int> day, month, year;
  std::string_view clock;
  for (const std::string_view part : split_any(value, " ,-")) {
    if (part.find(':') != std::string_view::npos) {
      clock = part;
    } else if (const auto n = number(part)) {
      (day ? year : day) = n;
    } else if (part.size() == 3) {
      const auto found = std::find(kMonths.begin(), kMonths.end(), lower_ascii(part));
      if (found != kMonths.end()) month = static_cast<int>(found - kMonths.begin()) + 1;
    }
  }
  if (!day || !month || !year || clock.size() != 8) return std::nullopt;
  if (*year < 100) *year += *year < 70 ? 2000 : 1900;
  if (*year > 9999 || *day > 31) return std::nullopt;
  const auto two = [](int n) { return std::string(n < 10 ? "0" : "") + std::to_string(n); };
  return parse_iso(std::to_string(*year) + "-" + two(*month) + "-" + two(*day) + "T" +
                   std::string(clock) + "Z");
}

std::optional<std::int64_t> parse_retry_after(std::string_view value, TimeMs now) {
  value = trim(value);
  if (value.empty()) return std::nullopt;
  const bool digits = value.find_first_not_of("0123456789") == std::string_view::npos;
  if (digits) {
    if (value.size() > 9) return kRetryAfterMaxMs;
    return std::min(std::int64_t{*number(value)} * kSecondMs, kRetryAfterMaxMs);
  }
  const auto at = parse_http_date(value);
  if (!at || now.value == 0) return std::nullopt;
  return std::clamp<std::int64_t>(at->value - now.value, 0, kRetryAfterMaxMs);
}

}  // namespace clawmark
