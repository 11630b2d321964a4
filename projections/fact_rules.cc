#include <algorithm>
#include <array>
#include <cmath>

#include "base/limits.h"
#include "base/utf8.h"
#include "projections/fact_machine.h"
#include "projections/facts.h"

namespace clawmark {
namespace {

constexpr std::array<std::string_view, 4> kPrefixes = {"pref.", "project.", "user.", "lesson."};
constexpr char kKeyRule[] =
    "a key is up to 100 characters of a-z 0-9 _ . in lower case, starts with pref. project. user. "
    "or lesson., ends with a letter or digit and has no two dots in a row";

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

double effective_confidence(const Fact& fact, TimeMs as_of) {
  return decayed_confidence(fact.source, fact.confidence, fact.last_observed, as_of);
}

Status check_fact_key(std::string_view key) {
  const bool shape =
      key.size() >= 2 && key.size() <= kFactKeyMax && is_lower(key.front()) &&
      (is_lower(key.back()) || is_digit(key.back())) && key.find("..") == std::string_view::npos &&
      std::all_of(key.begin(), key.end(),
                  [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '.'; });
  const bool prefixed = std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view p) {
    return key.starts_with(p) && key.size() > p.size();
  });
  if (shape && prefixed) return Ok{};
  return make_error(ErrorKind::kInvalid, "facts", "key_format",
                    "KEY_FORMAT: " + std::string(kKeyRule));
}

Status check_fact_value(std::string_view value) {
  const auto refuse = [](const char* why) {
    return make_error(ErrorKind::kInvalid, "facts", "value_size",
                      "VALUE_SIZE: a value is 1 to 2,000 characters of text; " + std::string(why));
  };
  if (trim(value).empty()) return refuse("this one is empty");
  if (!is_valid_utf8(value)) return refuse("this one is not valid UTF-8");
  if (value.find('\0') != std::string_view::npos) return refuse("this one holds a NUL");
  if (count_code_points(value) > kFactValueMax) return refuse("this one is longer");
  return Ok{};
}

}  // namespace clawmark
