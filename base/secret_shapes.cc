#include "base/secret_shapes.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/utf8.h"

namespace clawmark::secret {
namespace {

template <std::size_t N>
bool holds(const std::string_view (&list)[N], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

enum class Tail { kAlnum, kUpper, kWord, kDotted };

struct Vendor {
  std::string_view prefix;
  std::size_t tail_min;
  Tail tail;
};

// From the vendors' documents on secret scanning; the least lengths are below the real ones.
constexpr Vendor kVendors[] = {
    {"sk-", 6, Tail::kWord},
    {"sk_live_", 6, Tail::kWord},
    {"sk_test_", 6, Tail::kWord},
    {"rk_live_", 6, Tail::kWord},
    {"rk_test_", 6, Tail::kWord},
    {"tok_live_", 6, Tail::kWord},
    {"tok_test_", 6, Tail::kWord},
    {"whsec_", 12, Tail::kAlnum},
    {"ghp_", 16, Tail::kAlnum},
    {"gho_", 16, Tail::kAlnum},
    {"ghu_", 16, Tail::kAlnum},
    {"ghs_", 16, Tail::kAlnum},
    {"ghr_", 16, Tail::kAlnum},
    {"github_pat_", 16, Tail::kWord},
    {"glpat-", 12, Tail::kWord},
    {"xapp-", 8, Tail::kWord},
    {"AKIA", 16, Tail::kUpper},
    {"ASIA", 16, Tail::kUpper},
    {"AIza", 20, Tail::kWord},
    {"ya29.", 16, Tail::kDotted},
    {"npm_", 24, Tail::kAlnum},
    {"pypi-", 24, Tail::kWord},
    {"hf_", 20, Tail::kAlnum},
    {"gsk_", 20, Tail::kAlnum},
    {"xai-", 20, Tail::kAlnum},
    {"SG.", 24, Tail::kDotted},
    {"dop_v1_", 24, Tail::kAlnum},
    {"shpat_", 16, Tail::kAlnum},
    {"lin_api_", 16, Tail::kAlnum},
    {"r8_", 24, Tail::kAlnum},
    {"pplx-", 20, Tail::kAlnum},
    {"tvly-", 16, Tail::kWord},
    {"sbp_", 20, Tail::kAlnum},
    {"dckr_pat_", 16, Tail::kWord},
    {"AGE-SECRET-KEY-1", 20, Tail::kUpper},
};

bool in_tail(char c, Tail tail) {
  switch (tail) {
    case Tail::kAlnum:
      return is_alpha(c) || is_digit(c);
    case Tail::kUpper:
      return is_upper(c) || is_digit(c);
    case Tail::kWord:
      return is_word(c) || c == '-';
    case Tail::kDotted:
      return is_word(c) || c == '-' || c == '.';
  }
  return false;
}

constexpr std::size_t kJudged = 256;

std::size_t run(std::string_view text, std::size_t from, Tail tail) {
  std::size_t at = from;
  while (at < text.size() && in_tail(text[at], tail)) ++at;
  return at - from;
}

// A word begins at `at` of an identifier: "DEPLOY_TOKEN", "authToken", "token".
bool begins_word(std::string_view name, std::size_t at) {
  return at == 0 || name[at - 1] == '_' || (is_upper(name[at]) && is_lower(name[at - 1]));
}

constexpr std::string_view kKeyKinds[] = {
    "api",     "access",  "secret",       "private", "auth", "signing",    "encryption", "master",
    "account", "service", "subscription", "license", "app",  "deployment", "webhook"};

// The ASCII word just before, over one blank, '-', '.' or '_': "api" of "api key".
std::string word_before(std::string_view before) {
  if (before.empty() || std::string_view(" -._").find(before.back()) == std::string_view::npos) {
    return {};
  }
  before.remove_suffix(1);
  std::size_t length = 0;
  while (length < before.size() && length < 16 && is_alpha(before[before.size() - 1 - length])) {
    ++length;
  }
  return lower_ascii(before.substr(before.size() - length));
}

bool luhn(std::string_view digits) {
  int sum = 0;
  bool twice = false;
  for (auto it = digits.rbegin(); it != digits.rend(); ++it, twice = !twice) {
    int value = *it - '0';
    if (twice) value = value > 4 ? 2 * value - 9 : 2 * value;
    sum += value;
  }
  return sum % 10 == 0;
}

// Issuer ranges of ISO/IEC 7812 as the networks publish them.
bool is_issuer_range(std::string_view digits) {
  const auto first = [&](std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) value = value * 10 + (digits[i] - '0');
    return value;
  };
  const int two = first(2);
  const int four = first(4);
  switch (digits.size()) {
    case 14:
      return two == 36 || two == 38 || (four >= 3000 && four <= 3059);
    case 15:
      return two == 34 || two == 37;
    case 16:
      return digits[0] == '4' || (two >= 51 && two <= 55) || (four >= 2221 && four <= 2720) ||
             four == 6011 || two == 65 || (four >= 6440 && four <= 6499) ||
             (four >= 3528 && four <= 3589) || two == 62;
    default:
      return false;
  }
}

constexpr std::string_view kUnits[] = {
    "char",     "chars",   "character", "characters", "digit",  "digits",  "day",   "days",
    "d",        "h",       "hr",        "hrs",        "hour",   "hours",   "min",   "mins",
    "minute",   "minutes", "s",         "sec",        "second", "seconds", "ms",    "bit",
    "bits",     "byte",    "bytes",     "kb",         "mb",     "k",       "m",     "th",
    "nd",       "rd",      "st",        "x",          "step",   "factor",  "long",  "letter",
    "letters",  "word",    "words",     "month",      "months", "week",    "weeks", "year",
    "years",    "times",   "attempts",  "tokens",     "token",  "percent", "am",    "pm",
    "requests", "users",   "accounts",  "entries"};

constexpr std::string_view kComments[] = {
    "wrong",        "correct",      "incorrect", "invalid",    "valid",     "weak",
    "strong",       "fine",         "okay",      "mandatory",  "missing",   "empty",
    "blank",        "optional",     "unset",     "reset",      "changed",   "secure",
    "insecure",     "safe",         "unsafe",    "good",       "great",     "poor",
    "short",        "long",         "here",      "there",      "ready",     "unknown",
    "known",        "hidden",       "gone",      "lost",       "broken",    "right",
    "same",         "different",    "unique",    "simple",     "complex",   "case-sensitive",
    "needed",       "required",     "string",    "none",       "null",      "undefined",
    "true",         "false",        "secret",    "sensitive",  "private",   "public",
    "confidential", "plaintext",    "plain",     "text",       "hash",      "random",
    "temporary",    "default",      "ours",      "mine",       "yours",     "theirs",
    "important",    "enough",       "done",      "always",     "never",     "only",
    "also",         "still",        "required.", "input",      "number",    "value",
    "object",       "boolean",      "self",      "this",       "that",      "what",
    "where",        "when",         "which",     "better",     "worse",     "easy",
    "hard",         "yes",          "please",    "sent",       "written",   "shown",
    "kept",         "written-down", "forgotten", "stolen",     "must",      "should",
    "enter",        "your",         "minimum",   "password",   "passwords", "forgot",
    "choose",       "confirm",      "the",       "not",        "with",      "from",
    "into",         "over",         "back",      "just",       "very",      "patience",
    "prompt",       "example",      "config",    "optionally", "tbd",       "todo"};

// How sentences about passwords begin that stand where one could stand.
constexpr std::string_view kSentenceStarts[] = {
    "the",     "a",        "an",       "must",      "should",   "please", "enter",   "your",
    "minimum", "use",      "no",       "at",        "is",       "too",    "invalid", "incorrect",
    "wrong",   "required", "password", "passwords", "forgot",   "choose", "confirm", "new",
    "reset",   "not",      "with",     "if",        "at least", "set",    "change",  "may"};

}  // namespace

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_alpha(char c) {
  return is_upper(c) || is_lower(c);
}
bool is_word(char c) {
  return is_alpha(c) || is_digit(c) || c == '_';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

Name classify_name(std::string_view word, std::string_view before) {
  while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
  if (word.size() > 64) word.remove_prefix(word.size() - 64);
  if (word.size() < 2) return Name::kNone;
  const std::string low = lower_ascii(word);
  const auto ends = [&](std::string_view suffix) { return low.ends_with(suffix); };
  const auto ends_as_word = [&](std::string_view suffix) {
    return ends(suffix) && begins_word(word, word.size() - suffix.size());
  };
  for (const auto name : {"password", "passwd", "passphrase", "passcode", "passwort", "kennwort"}) {
    if (ends(name)) return Name::kPassword;
  }
  if (ends("token") || ends("secret") || ends_as_word("credential") ||
      ends_as_word("credentials")) {
    return Name::kToken;
  }
  for (const auto name : {"pwd", "pass", "pw"}) {
    if (ends_as_word(name)) return Name::kShortPassword;
  }
  if (ends("key")) {
    for (const auto kind : kKeyKinds) {
      const std::string joined = std::string(kind) + "key";
      if (ends(joined) || ends(std::string(kind) + "_key")) return Name::kToken;
    }
    if (!ends_as_word("key")) return Name::kNone;
    return low == "key" && holds(kKeyKinds, word_before(before)) ? Name::kToken : Name::kKey;
  }
  if (low == "pin") return Name::kPin;
  if (low == "authorization") return Name::kAuthorization;
  if (low == "bearer") return Name::kBearer;
  if (low == "basic") return Name::kBasic;
  return Name::kNone;
}

std::size_t vendor_token(std::string_view text) {
  for (const Vendor& vendor : kVendors) {
    if (text[0] != vendor.prefix[0] || !text.starts_with(vendor.prefix)) continue;
    // Judged by its beginning: a long text of prefixes must not be read to its end at each of them.
    const std::size_t start = vendor.prefix.size();
    const std::size_t length = run(text.substr(0, start + kJudged), start, vendor.tail);
    const Traits traits = traits_of(text.substr(start, length));
    // Words after a prefix ("sk-learn") are names; a token has digits or upper case, or no end.
    if (length >= vendor.tail_min && (traits.digit || traits.upper || traits.longest >= 20)) {
      return start + run(text, start, vendor.tail);
    }
  }
  if (text.size() > 12 && text.starts_with("xox") && is_lower(text[3]) && text[4] == '-') {
    const std::size_t length = run(text.substr(0, 5 + kJudged), 5, Tail::kWord);
    if (length >= 8) return 5 + run(text, 5, Tail::kWord);
  }
  return 0;
}

std::size_t jwt(std::string_view text) {
  if (!text.starts_with("eyJ")) return 0;
  const std::size_t header = run(text, 0, Tail::kWord);
  if (header < 10 || header >= text.size() || text[header] != '.') return 0;
  const std::size_t claims = run(text, header + 1, Tail::kWord);
  if (claims < 8) return 0;
  std::size_t end = header + 1 + claims;
  if (end < text.size() && text[end] == '.') end += 1 + run(text, end + 1, Tail::kWord);
  return end;
}

std::size_t chat_bot_token(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && at < 11 && is_digit(text[at])) ++at;
  if (at < 8 || at > 10 || at >= text.size() || text[at] != ':') return 0;
  const std::size_t length = run(text, at + 1, Tail::kWord);
  return length >= 30 && length <= 50 ? at + 1 + length : 0;
}

std::size_t card_number(std::string_view text) {
  std::string digits;
  std::array<std::size_t, 20> groups{};
  std::size_t group = 0, at = 0;
  char separator = '\0';
  for (; at < text.size() && digits.size() < 20; ++at) {
    if (is_digit(text[at])) {
      digits.push_back(text[at]);
      ++groups[group];
      continue;
    }
    const bool joins = (text[at] == ' ' || text[at] == '-') && at + 1 < text.size() &&
                       is_digit(text[at + 1]) && groups[group] >= 4 &&
                       (separator == '\0' || separator == text[at]);
    if (!joins || group == 4) break;
    separator = text[at];
    ++group;
  }
  if (at < text.size() && (is_word(text[at]) || text[at] == '-')) return 0;
  const bool grouped = group == 0 ||
                       (group == 3 && groups[0] == 4 && groups[1] == 4 && groups[2] == 4) ||
                       (group == 2 && groups[0] == 4 && groups[1] == 6);
  if (!grouped || digits.size() < 14 || !is_issuer_range(digits) || !luhn(digits)) return 0;
  return at;
}

bool is_basic_credentials(std::string_view base64) {
  if (base64.size() < 8 || base64.size() % 4 != 0) return false;
  std::uint32_t bits = 0;
  int count = 0;
  bool colon = false;
  for (const char c : base64) {
    if (c == '=') break;
    const int value = is_upper(c)   ? c - 'A'
                      : is_lower(c) ? c - 'a' + 26
                      : is_digit(c) ? c - '0' + 52
                      : c == '+'    ? 62
                      : c == '/'    ? 63
                                    : -1;
    if (value < 0) return false;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFF;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    const auto byte = bits >> count & 0xFF;
    if (byte < 0x20 || byte == 0x7F) return false;
    colon = colon || byte == ':';
  }
  return colon;
}

Traits traits_of(std::string_view value) {
  Traits out;
  std::size_t length = 0;
  bool digit = false, alpha = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    out.digit |= is_digit(c);
    out.lower |= is_lower(c);
    out.other_case |= i > 0 && is_upper(c);
    out.upper |= is_upper(c);
    if (!is_digit(c) && !is_alpha(c)) {
      out.symbol |= std::string_view("-_./").find(c) == std::string_view::npos;
      length = 0;
      digit = alpha = false;
      continue;
    }
    digit |= is_digit(c);
    alpha |= is_alpha(c);
    out.longest = std::max(out.longest, ++length);
    if (digit && alpha) out.mixed_run = std::max(out.mixed_run, length);
  }
  out.other_case = out.other_case && out.lower;
  return out;
}

bool is_uuid(std::string_view value) {
  if (value.size() != 36) return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (value[i] == '-') || (!dash && !is_digit(value[i]) && !is_alpha(value[i]))) {
      return false;
    }
  }
  return true;
}

bool is_random_token(std::string_view value, std::size_t length_min) {
  if (value.size() < length_min || is_uuid(value)) return false;
  for (const char c : value) {
    if (!is_word(c) && std::string_view("-+/=.~").find(c) == std::string_view::npos) return false;
  }
  const Traits traits = traits_of(value);
  return traits.mixed_run >= std::min<std::size_t>(12, length_min);
}

bool is_unit(std::string_view word) {
  return holds(kUnits, lower_ascii(word));
}

bool is_quantity(std::string_view value) {
  std::size_t at = 0;
  while (at < value.size() && (is_digit(value[at]) || value[at] == '.' || value[at] == ',')) ++at;
  if (at == 0 || at == value.size()) return false;
  if (value[at] == '-' || value[at] == '%') ++at;
  return at == value.size() || is_unit(value.substr(at));
}

bool is_stand_in(std::string_view value) {
  if (value.empty() || std::string_view("<{[(").find(value[0]) != std::string_view::npos) {
    return true;
  }
  if (std::all_of(value.begin(), value.end(), [&](char c) { return c == value[0]; })) {
    return !is_digit(value[0]);
  }
  const Traits traits = traits_of(value);
  if (value[0] == '$' && value.size() > 1 && (value[1] == '(' || value[1] == '{')) return true;
  if ((value[0] == '$' || value[0] == '%') && !traits.digit && !traits.lower) return true;
  const auto open = value.find_first_of("([");
  const auto path = value.substr(0, open == std::string_view::npos ? 0 : open);
  const bool dotted = path.find('.') != std::string_view::npos;
  if (!path.empty() && std::all_of(path.begin(), path.end(), [&](char c) {
        return c == '.' || (is_word(c) && (dotted || !is_digit(c)));
      })) {
    return true;  // a call or a subscript
  }
  const std::string low = lower_ascii(value);
  for (const auto start : {"process.env", "os.environ", "env.", "your-", "your_", "my-secret"}) {
    if (low.starts_with(start)) return true;
  }
  // hashed_password, user.password, config.api_key: code that names a value.
  if (low.find('_') != std::string::npos && !traits.digit && !traits.symbol && !traits.upper &&
      classify_name(value, {}) != Name::kNone) {
    return true;
  }
  return low.find('.') != std::string::npos && !traits.digit && !traits.symbol && !traits.upper &&
         value.find('-') == std::string_view::npos && value.back() != '.';
}

bool is_comment(std::string_view text) {
  const auto blank = text.find(' ');
  const std::string low = lower_ascii(text.substr(0, blank));
  if (blank != std::string_view::npos) return holds(kSentenceStarts, low);
  return low.ends_with("ed") || low.ends_with("ing") || low.ends_with("able") ||
         holds(kComments, low);
}

}  // namespace clawmark::secret
