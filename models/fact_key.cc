#include "models/fact_key.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kSegmentMax = 48;

constexpr std::array<std::string_view, 4> kPrefixes = {"pref", "project", "user", "lesson"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSpellings = {{
    {"preference", "pref"},
    {"preferences", "pref"},
    {"prefs", "pref"},
    {"users", "user"},
    {"profile", "user"},
    {"projects", "project"},
    {"lessons", "lesson"},
    {"lesson_learned", "lesson"},
}};
constexpr std::array<std::string_view, 34> kTastes = {
    "editor", "ide",      "shell",     "terminal", "theme",  "font",     "color",
    "colour", "drink",    "food",      "coffee",   "tea",    "music",    "diet",
    "style",  "tone",     "units",     "browser",  "os",     "indent",   "cuisine",
    "format", "language", "verbosity", "snack",    "movie",  "book",     "sport",
    "hobby",  "hobbies",  "airline",   "keyboard", "linter", "formatter"};
constexpr std::array<std::string_view, 27> kWork = {
    "repo",   "repository", "database", "db",       "port",     "deadline", "stack",
    "branch", "framework",  "decision", "deploy",   "staging",  "release",  "milestone",
    "ci",     "server",     "backend",  "frontend", "license",  "budget",   "demo",
    "launch", "api",        "runtime",  "hosting",  "compiler", "goal"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Step 1; nullopt: a character that has no place in a key.
std::optional<std::string> plain_key(std::string_view key) {
  std::string plain;
  char before = 0;
  for (const char c : trim(key)) {
    char next = c;
    if (is_upper(c)) {
      if (is_lower(before)) plain.push_back('_');
      next = static_cast<char>(c | 0x20);
    } else if (c == ' ' || c == '-' || c == '/' || c == '\t') {
      next = '_';
    } else if (c == ':') {
      next = '.';
    } else if (!is_lower(c) && !is_digit(c) && c != '_' && c != '.') {
      return std::nullopt;
    }
    const bool separator = next == '_' || next == '.';
    const bool after_separator = !plain.empty() && (plain.back() == '_' || plain.back() == '.');
    if (separator && after_separator) {
      if (next == '.') plain.back() = '.';
    } else if (!separator || !plain.empty()) {
      plain.push_back(next);
    }
    before = c;
  }
  while (!plain.empty() && (plain.back() == '_' || plain.back() == '.')) plain.pop_back();
  return plain;
}

}  // namespace

std::optional<std::string> normal_fact_key(std::string_view key) {
  auto plain = plain_key(key);
  if (!plain || plain->empty()) return std::nullopt;
  const std::size_t dot = plain->find('.');
  std::string first = plain->substr(0, dot);
  const std::string rest = dot == std::string::npos ? "" : plain->substr(dot + 1);
  for (const auto& [spelling, prefix] : kSpellings) {
    if (first == spelling && !rest.empty()) first = prefix;
  }
  std::string legal;
  if (!rest.empty() && holds(kPrefixes, first)) {
    legal = first + "." + rest;
  } else if (!rest.empty()) {
    legal = "project." + first + "." + rest;
  } else {
    const std::string_view prefix = holds(kTastes, first) ? "pref."
                                    : holds(kWork, first) ? "project."
                                                          : "user.";
    legal = std::string(prefix) + first;
  }
  if (legal.size() > kFactKeyMax) return std::nullopt;
  return legal;
}

std::string key_segment(std::string_view words) {
  const std::string folded = fold_case(words);
  std::string segment;
  bool gap = false;
  for (std::size_t at = 0; at < folded.size();) {
    const char32_t c = next_code_point(folded, at);
    const bool ascii_word =
        c < 0x80 && (is_lower(static_cast<char>(c)) || is_digit(static_cast<char>(c)));
    if (c == '+' || c == '#') {  // c++ is not c
      segment += c == '+' ? "_plus" : "_sharp";
      continue;
    }
    if (c == '\'' || c == 0x2019) continue;  // mum's → mums
    if (!ascii_word && (c < 0xAA || is_space(c) || (c >= 0x2000 && c <= 0x206F))) {
      gap = true;
      continue;
    }
    if (gap && !segment.empty()) segment.push_back('_');
    gap = false;
    if (ascii_word) {
      segment.push_back(static_cast<char>(c));
      continue;
    }
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string hex;
    for (char32_t rest = c; rest != 0; rest >>= 4) hex.insert(hex.begin(), kHex[rest & 15]);
    segment.append("u").append(hex);
  }
  if (segment.size() > kSegmentMax) {  // the hash keeps long ones apart
    const std::string tail = to_hex(sha256(segment)).substr(0, 8);
    segment.resize(kSegmentMax - 9);
    segment.append("_").append(tail);
  }
  return segment;
}

std::string fact_subject(std::string_view key, std::string_view holder, std::string_view sender) {
  const bool common = key.starts_with("project.") || key.starts_with("lesson.");
  return holder.starts_with("group:") && !common ? std::string(sender) : std::string();
}

}  // namespace clawmark
