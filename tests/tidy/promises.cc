// Checks of what documents and tables promise (checks.h).

#include <algorithm>
#include <cctype>
#include <set>

#include "checks.h"

namespace clawmark::tidy {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string first_word(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_word(c)) {
      out += c;
    } else if (!out.empty()) {
      break;
    }
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

int line_at(std::string_view source, std::size_t at) {
  return 1 +
         static_cast<int>(std::count(source.begin(), source.begin() + static_cast<long>(at), '\n'));
}

// The text between an opening parenthesis at `at` and its own closing one; empty: there is none.
std::string_view in_parentheses(std::string_view source, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < source.size(); ++i) {
    depth += source[i] == '(' ? 1 : source[i] == ')' ? -1 : 0;
    if (depth == 0) return source.substr(at + 1, i - at - 1);
  }
  return {};
}

// Parts between commas that stand in no parentheses.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

struct Table {
  std::vector<std::string> columns, key;
};

Table read_table(std::string_view body) {
  Table out;
  for (const std::string& part : parts_of(body)) {
    const std::string word = first_word(part);
    const std::size_t primary = upper(part).find("PRIMARY KEY");
    if (upper(word) == "PRIMARY") {
      const std::size_t open = part.find('(', primary);
      if (open == std::string::npos) continue;
      for (const auto& column : parts_of(in_parentheses(part, open))) {
        out.key.push_back(first_word(column));
      }
      continue;
    }
    const std::set<std::string> constraints = {"UNIQUE", "FOREIGN", "CHECK", "CONSTRAINT", ""};
    if (constraints.contains(upper(word))) continue;
    out.columns.push_back(word);
    if (primary != std::string::npos) out.key.push_back(word);
  }
  return out;
}

// SQL comments and the borders between C++ literals, blanked out.
std::string sql_only(std::string_view source, bool is_sql) {
  std::string out(source);
  for (std::size_t at = out.find("--"); is_sql && at != std::string::npos;
       at = out.find("--", at)) {
    while (at < out.size() && out[at] != '\n') out[at++] = ' ';
  }
  if (!is_sql) std::replace(out.begin(), out.end(), '"', ' ');
  return out;
}

}  // namespace

std::vector<Finding> check_table_keys(const std::string& path, std::string_view source) {
  std::vector<Finding> out;
  const std::string sql = sql_only(source, path.ends_with(".sql"));
  constexpr std::string_view kCreate = "CREATE TABLE ";
  for (std::size_t at = sql.find(kCreate); at != std::string::npos;
       at = sql.find(kCreate, at + 1)) {
    const std::size_t open = sql.find('(', at), end = sql.find(';', at);
    const std::string_view body =
        open == std::string::npos ? std::string_view() : in_parentheses(sql, open);
    if (body.empty()) continue;
    const std::size_t after = open + body.size() + 2;
    const std::string options = sql.substr(after, end == std::string::npos ? 80 : end - after);
    if (options.find("WITHOUT ROWID") == std::string::npos) continue;
    const Table table = read_table(body);
    const bool fits = !table.key.empty() && table.key.size() <= table.columns.size() &&
                      std::equal(table.key.begin(), table.key.end(), table.columns.begin());
    if (!fits) {
      out.push_back(
          {path, line_at(sql, at), "a table WITHOUT ROWID must begin with the columns of its key"});
    }
  }
  return out;
}

std::vector<std::string> test_names(std::string_view source) {
  std::vector<std::string> out;
  for (std::size_t at = source.find("TEST"); at != std::string_view::npos;
       at = source.find("TEST", at + 4)) {
    std::size_t open = at + 4;
    if (source.substr(open, 2) == "_F" || source.substr(open, 2) == "_P") open += 2;
    const bool begins_line = at == 0 || source[at - 1] == '\n';
    if (!begins_line || open >= source.size() || source[open] != '(') continue;
    const auto names = parts_of(in_parentheses(source, open));
    if (names.size() == 2) out.push_back(first_word(names[0]) + "." + first_word(names[1]));
  }
  return out;
}

std::vector<Finding> check_named_tests(const std::string& path, std::string_view document,
                                       const std::vector<std::string>& tests) {
  const std::set<std::string, std::less<>> known(tests.begin(), tests.end());
  std::set<std::string, std::less<>> suites;
  for (const auto& test : tests) suites.insert(test.substr(0, test.find('.')));
  std::vector<Finding> out;
  for (std::size_t at = document.find('`'); at != std::string_view::npos;) {
    const std::size_t end = document.find('`', at + 1);
    if (end == std::string_view::npos) break;
    const std::string_view name = document.substr(at + 1, end - at - 1);
    const std::size_t dot = name.find('.');
    const std::string_view suite = name.substr(0, dot);
    const std::string_view test = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    const bool is_name = !test.empty() && std::isupper(static_cast<unsigned char>(name[0])) != 0 &&
                         std::all_of(suite.begin(), suite.end(), is_word) &&
                         (test == "*" || std::all_of(test.begin(), test.end(), is_word));
    // Upper-case names are files (README.md) and settings.
    const bool is_test = is_name && (test == "*" || test.find('_') != std::string_view::npos);
    if (is_test && !(test == "*" ? suites.contains(suite) : known.contains(name))) {
      out.push_back({path, line_at(document, at), "no test is named " + std::string(name)});
    }
    at = document.find('`', end + 1);
  }
  return out;
}

}  // namespace clawmark::tidy
