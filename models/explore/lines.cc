// Logs, code, plain text; and what all kinds share.

#include <algorithm>
#include <array>
#include <map>

#include "base/utf8.h"
#include "models/explore/parts.h"

namespace clawmark::shapes {
namespace {

constexpr std::size_t kImports = 12, kDefinitions = 24, kHeadings = 18;
constexpr std::size_t kErrors = 5, kPatterns = 5;
constexpr std::size_t kLooked = 400;  // lines that say of what kind a text is
constexpr std::size_t kLine = 140;    // characters of one that is shown

constexpr std::array<std::string_view, 7> kLevels = {"FATAL", "CRITICAL", "ERROR", "WARN",
                                                     "INFO",  "DEBUG",    "TRACE"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// How long a time stamp at the beginning of a line is; 0: none.
std::size_t stamp_length(std::string_view line) {
  std::size_t at = line.starts_with("[") ? 1 : 0;
  const std::size_t from = at;
  std::size_t digits = 0, marks = 0;
  bool clock = false;
  for (; at < line.size() && at < 40; ++at) {
    const char c = line[at];
    if (is_digit(c)) {
      ++digits;
    } else if (c == ':' || c == '-' || c == '/') {
      ++marks;
      clock = clock || c == ':';
    } else if (c == ',' && !clock) {
      break;
    } else if (c != '.' && c != ',' && c != 'T' && c != 'Z' && c != '+' && c != ' ') {
      break;
    }
  }
  if (digits < 6 || marks < 2 || !clock) {
    // "Nov 30 07:01:02 host"
    const bool month = line.size() > 15 && line[3] == ' ' && line[9] == ':' && line[12] == ':';
    return month ? 15 : 0;
  }
  while (at > from && (line[at - 1] == ' ' || line[at - 1] == '-')) --at;
  return at;
}

std::string_view level_of(std::string_view line) {
  const std::string_view head = line.substr(0, 100);
  for (const auto level : kLevels) {
    for (std::size_t at = 0; at + level.size() <= head.size(); ++at) {
      const bool upper = head.substr(at, level.size()) == level;
      const bool lower = !upper && at > 0 && (head[at - 1] == '[' || head[at - 1] == '=') &&
                         starts_with_ci(head.substr(at), level);
      if (!upper && !lower) continue;
      const char before = at == 0 ? ' ' : head[at - 1];
      if ((before >= 'A' && before <= 'Z') || (before >= 'a' && before <= 'z')) continue;
      return level;
    }
  }
  return {};
}

// A line without what changes from one to the next.
std::string pattern_of(std::string_view line) {
  std::string out;
  for (const char c : brief(line.substr(stamp_length(line)), 90)) {
    if (!is_digit(c)) {
      out.push_back(c);
    } else if (out.empty() || out.back() != '#') {
      out.push_back('#');
    }
  }
  return std::string(trim(out));
}

bool starts_with_one(std::string_view line, std::initializer_list<std::string_view> list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view start) { return line.starts_with(start); });
}

bool is_import(std::string_view line) {
  return starts_with_one(line, {"import ", "#include", "use ", "using ", "require ", "require(",
                                "@import", "source "}) ||
         (line.starts_with("from ") && line.find(" import ") != std::string_view::npos) ||
         (starts_with_one(line, {"const ", "let ", "var "}) &&
          line.find("require(") != std::string_view::npos);
}

bool is_definition(std::string_view line, std::size_t indent) {
  if (indent > 4) return false;
  if (starts_with_one(line, {"def ",
                             "async def ",
                             "class ",
                             "function ",
                             "async function ",
                             "export function ",
                             "export async function ",
                             "export class ",
                             "export default ",
                             "export const ",
                             "export interface ",
                             "export type ",
                             "func ",
                             "fn ",
                             "pub fn ",
                             "pub struct ",
                             "pub enum ",
                             "pub trait ",
                             "struct ",
                             "enum ",
                             "interface ",
                             "trait ",
                             "impl ",
                             "namespace ",
                             "module ",
                             "template ",
                             "create ",
                             "CREATE ",
                             "public class ",
                             "public interface ",
                             "public enum ",
                             "abstract class ",
                             "object ",
                             "data class ",
                             "fun ",
                             "sub "})) {
    return true;
  }
  // "Result<int> name(args) {"
  const bool opens = line.ends_with("{") || line.ends_with(") {");
  const auto bracket = line.find('(');
  return opens && indent <= 4 && bracket != std::string_view::npos && bracket > 2 &&
         line.find(' ') < bracket && line.find('=') == std::string_view::npos &&
         !starts_with_one(line, {"if ", "for ", "while ", "switch ", "return ", "else ", "} ",
                                 "case ", "catch ", "do "});
}

std::string numbered(const std::vector<std::pair<std::size_t, std::string>>& found,
                     std::size_t shown) {
  std::vector<std::string> out;
  for (const auto& [line, text] : found) out.push_back(text + " (line " + grouped(line) + ")");
  return listed(out, shown);
}

}  // namespace

Lines lines_of(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string brief(std::string_view text, std::size_t chars_max) {
  std::string line = collapse_space(prefix_bytes(text, 8 * chars_max + 64));
  if (count_code_points(line) <= chars_max) return line;
  return std::string(trim(prefix_code_points(line, chars_max - 1))) + "…";
}

std::string listed(const std::vector<std::string>& items, std::size_t shown) {
  std::string out;
  for (std::size_t n = 0; n < items.size() && n < shown; ++n) {
    out += (n == 0 ? "" : ", ") + items[n];
  }
  if (items.size() > shown) out += " and " + grouped(items.size() - shown) + " more";
  return out;
}

bool looks_like_log(const Lines& lines) {
  std::size_t said = 0, stamped = 0;
  for (const auto line : lines) {
    if (trim(line).empty()) continue;
    if (++said > kLooked) break;
    const bool level = starts_with_one(
        line, {"ERROR", "WARN", "INFO", "DEBUG", "TRACE", "[INFO", "[ERROR", "[WARN", "[DEBUG"});
    stamped += level || stamp_length(line) > 0;
  }
  if (said < 5 || stamped * 2 <= std::min(said, kLooked)) return false;
  // A table whose first column holds times is none.
  const char delimiter = table_delimiter(lines);
  return delimiter == 0 || delimiter == '|';
}

std::string log_shape(const Lines& lines) {
  std::map<std::string_view, std::size_t> levels;
  std::map<std::string, std::size_t> patterns;
  std::vector<std::pair<std::size_t, std::string>> errors;
  std::string first, last;
  std::size_t number = 0, failures = 0;
  for (const auto line : lines) {
    ++number;
    if (const std::size_t stamp = stamp_length(line); stamp > 0) {
      last = std::string(line.substr(0, stamp));
      if (last.starts_with("[")) last.erase(0, 1);
      if (first.empty()) first = last;
    }
    const std::string_view level = level_of(line);
    if (!level.empty()) ++levels[level];
    if (level == "FATAL" || level == "CRITICAL" || level == "ERROR") {
      ++failures;
      if (errors.size() < kErrors) errors.emplace_back(number, brief(line, kLine));
    }
    if (patterns.size() < 5000) ++patterns[pattern_of(line)];
  }
  std::string out;
  if (!first.empty()) out += "From " + first + " to " + last + "\n";
  std::vector<std::string> counts;
  for (const auto level : kLevels) {
    if (levels.contains(level)) {
      counts.push_back(std::string(level) + " " + grouped(levels[level]));
    }
  }
  if (!counts.empty()) out += "Levels: " + listed(counts, kLevels.size()) + "\n";
  for (const auto& [line, text] : errors) out += "Line " + grouped(line) + ": " + text + "\n";
  if (failures > errors.size()) {
    out += "and " + grouped(failures - errors.size()) + " more lines with errors\n";
  }
  std::vector<std::pair<std::size_t, std::string>> often;
  for (auto& [pattern, count] : patterns) {
    if (count > 1 && !pattern.empty()) often.emplace_back(count, pattern);
  }
  std::stable_sort(often.begin(), often.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t n = 0; n < often.size() && n < kPatterns; ++n) {
    out += grouped(often[n].first) + " times: " + often[n].second + "\n";
  }
  return out;
}

bool looks_like_code(const Lines& lines) {
  std::size_t said = 0, signs = 0, ends = 0;
  for (const auto line : lines) {
    const std::string_view body = trim(line);
    if (body.empty()) continue;
    if (++said > kLooked) break;
    const auto indent = static_cast<std::size_t>(body.data() - line.data());
    signs += is_import(body) || is_definition(body, indent);
    ends += body.ends_with(";") || body.ends_with("{") || body == "}" || body.ends_with("):") ||
            body.ends_with(");") || body.starts_with("//") || body.starts_with("return ");
  }
  said = std::min(said, kLooked);
  return said >= 10 && signs >= 3 && (signs + ends) * 5 >= said;
}

std::string code_shape(const Lines& lines) {
  std::vector<std::string> imports;
  std::vector<std::pair<std::size_t, std::string>> definitions;
  std::size_t number = 0;
  for (const auto line : lines) {
    ++number;
    const std::string_view body = trim(line);
    if (body.empty()) continue;
    const auto indent = static_cast<std::size_t>(body.data() - line.data());
    if (is_import(body)) {
      imports.push_back(brief(body, 80));
    } else if (is_definition(body, indent)) {
      std::string_view head = body;
      while (head.ends_with("{") || head.ends_with(" ") || head.ends_with(":")) {
        head.remove_suffix(1);
      }
      definitions.emplace_back(number, brief(head, 90));
    }
  }
  std::string out;
  if (!imports.empty()) {
    out += grouped(imports.size()) + " imports: " + listed(imports, kImports) + "\n";
  }
  return out + grouped(definitions.size()) +
         " definitions: " + numbered(definitions, kDefinitions) + "\n";
}

std::string text_shape(const Lines& lines) {
  std::size_t words = 0, paragraphs = 0, number = 0;
  bool within = false;
  std::vector<std::pair<std::size_t, std::string>> headings;
  for (const auto line : lines) {
    ++number;
    const std::string_view body = trim(line);
    if (body.empty()) {
      within = false;
      continue;
    }
    paragraphs += !within;
    within = true;
    bool blank = true;
    for (const char c : body) {
      words += blank && c != ' ';
      blank = c == ' ' || c == '\t';
    }
    if (body.front() == '#' && body.find_first_not_of('#') != std::string_view::npos) {
      headings.emplace_back(number, brief(body, 80));
    }
  }
  std::string out = grouped(words) + " words in " + grouped(paragraphs) + " paragraphs";
  if (!headings.empty()) out += "\nHeadings: " + numbered(headings, kHeadings);
  return out;
}

}  // namespace clawmark::shapes
