#include "checks.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/utf8.h"

namespace clawmark::tidy {
namespace {

struct Edge {
  std::string_view from, to;
};

// docs/architecture.md, "The rooms". "projections" → "models" is absent on purpose: a fold that can
// call a model is not a fold. bench and tests may include everything, cmd all rooms below it;
// nobody below includes them.
constexpr Edge kAllowed[] = {
    {"log", "base"},       {"log", "schema"},          {"sources", "base"},
    {"models", "base"},    {"projections", "base"},    {"projections", "log"},
    {"workers", "base"},   {"workers", "log"},         {"workers", "sources"},
    {"workers", "models"}, {"workers", "projections"}, {"serve", "base"},
    {"serve", "log"},      {"serve", "projections"},   {"serve", "models"},
    {"serve", "sources"},
};
// The sample is told with the same builders of host stores as the tests.
constexpr Edge kFolders[] = {{"cmd/clawmark-sample/", "tests"}};
constexpr std::string_view kRooms[] = {"base",   "schema",      "log",     "sources",
                                       "models", "projections", "workers", "serve",
                                       "cmd",    "bench",       "tests"};
constexpr std::string_view kOpenRooms[] = {"cmd", "bench", "tests"};

// Path prefixes where Asio and Beast may be seen: compiling them takes half a minute a file, and
// coroutines belong to the drivers.
constexpr std::string_view kAsioPlaces[] = {
    "models/transport", "workers/driver", "serve/http_server", "cmd/", "cmake/net/",
    "bench/",           "tests/"};
constexpr std::string_view kClockPlaces[] = {"base/clock.", "bench/"};
// The node's own name, and the names of what a user states: both must be unique in the world.
constexpr std::string_view kChancePlaces[] = {"log/store.cc", "cmd/new_id.cc"};
// Waits for a child process to end, within a limit.
constexpr std::string_view kSleepPlaces[] = {"tests/cmd/process.cc"};
constexpr std::string_view kSqlRooms[] = {"log/",   "projections/", "sources/", "workers/",
                                          "tests/", "bench/",       "schema/"};
constexpr std::size_t kColumnsMax = 100;
// Read by the lint's self-test, compiled by nobody.
constexpr std::string_view kNoTarget[] = {"tests/lint/coroutine_bad.cc"};

template <class List>
bool starts_with_any(std::string_view path, const List& places) {
  return std::any_of(std::begin(places), std::end(places),
                     [&](std::string_view place) { return path.starts_with(place); });
}

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    visit(++number, text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

enum class Part { kCode, kComment, kLiteral };

// Which part of C++ each byte belongs to.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source), parts_(source.size(), Part::kCode) {
    while (at_ < source_.size()) step();
  }
  std::string keep(bool code, bool comments, bool literals) const {
    std::string out(source_);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool kept = parts_[i] == Part::kCode      ? code
                        : parts_[i] == Part::kComment ? comments
                                                      : literals;
      if (!kept && out[i] != '\n') out[i] = ' ';
    }
    return out;
  }

 private:
  void mark(std::size_t end, Part part) {
    end = std::min(end, source_.size());
    for (; at_ < end; ++at_) parts_[at_] = part;
  }
  std::size_t after(std::string_view what, std::size_t from) const {
    const auto found = source_.find(what, from);
    return found == std::string_view::npos ? source_.size() : found + what.size();
  }
  void step() {
    const auto rest = source_.substr(at_);
    const bool word_before = at_ > 0 && is_identifier(source_[at_ - 1]);
    if (rest.starts_with("//")) {
      mark(std::min(source_.find('\n', at_), source_.size()), Part::kComment);
    } else if (rest.starts_with("/*")) {
      mark(after("*/", at_ + 2), Part::kComment);
    } else if (rest.starts_with("R\"") && !word_before) {
      const auto open = source_.find('(', at_);
      const std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
      mark(after(close, open), Part::kLiteral);
    } else if (rest[0] == '"' || (rest[0] == '\'' && !word_before)) {
      std::size_t end = at_ + 1;
      while (end < source_.size() && source_[end] != rest[0] && source_[end] != '\n') {
        end += source_[end] == '\\' ? 2 : 1;
      }
      mark(end + 1, Part::kLiteral);
    } else {
      ++at_;
    }
  }
  std::string_view source_;
  std::vector<Part> parts_;
  std::size_t at_ = 0;
};

// `word` at a place where it is not the tail or the head of a longer name.
bool has_word(std::string_view line, std::string_view word) {
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool head = at == 0 || !is_identifier(word[0]) || !is_identifier(line[at - 1]);
    const bool tail =
        end >= line.size() || !is_identifier(word.back()) || !is_identifier(line[end]);
    if (head && tail) return true;
  }
  return false;
}

void find_words(const std::string& path, std::string_view text,
                const std::vector<std::string_view>& words, std::string_view why,
                std::vector<Finding>& out) {
  each_line(text, [&](int number, std::string_view line) {
    for (const auto word : words) {
      if (has_word(line, word)) out.push_back({path, number, std::string(word).append(why)});
    }
  });
}

}  // namespace

std::string without_comments(std::string_view source) {
  return Lexer(source).keep(true, false, true);
}
std::string code_only(std::string_view source) {
  return Lexer(source).keep(true, false, false);
}
std::string comments_only(std::string_view source) {
  return Lexer(source).keep(false, true, false);
}

std::vector<Finding> check_includes(const std::string& path, std::string_view source) {
  std::vector<Finding> out;
  const std::string from = path.substr(0, path.find('/'));
  each_line(without_comments(source), [&](int number, std::string_view line) {
    line = trim(line);
    if (!line.starts_with("#include")) return;
    line = trim(line.substr(8));
    if ((line.starts_with("<boost/asio") || line.starts_with("<boost/beast")) &&
        !starts_with_any(path, kAsioPlaces)) {
      out.push_back({path, number, "Asio or Beast outside its places"});
    }
    if (!line.starts_with('"') || line.find('/') == std::string_view::npos) return;
    const std::string to(line.substr(1, line.find('/') - 1));
    if (to == from || !contains(kRooms, to)) return;
    const bool open = contains(kOpenRooms, from) && (!contains(kOpenRooms, to) || from != "cmd");
    const bool allowed = open ||
                         std::any_of(std::begin(kAllowed), std::end(kAllowed),
                                     [&](const Edge& e) { return e.from == from && e.to == to; }) ||
                         std::any_of(std::begin(kFolders), std::end(kFolders), [&](const Edge& e) {
                           return path.starts_with(e.from) && e.to == to;
                         });
    if (!allowed) out.push_back({path, number, from + " may not include " + to});
  });
  return out;
}

std::vector<Finding> check_time_and_chance(const std::string& path, std::string_view source) {
  std::vector<Finding> out;
  const std::string code = code_only(source);
  if (!starts_with_any(path, kClockPlaces)) {
    find_words(path, code,
               {"system_clock::now", "steady_clock::now", "high_resolution_clock::now",
                "utc_clock::now", "gettimeofday(", "clock_gettime(", "timespec_get(",
                "time(nullptr)", "time(NULL)", "time(0)", "std::time(", "std::clock("},
               ": time enters through Clock only", out);
  }
  if (!starts_with_any(path, kChancePlaces)) {
    find_words(path, code,
               {"random_device", "RAND_bytes", "getrandom(", "arc4random", "rand()", "srand(",
                "default_random_engine", "uuid_generate"},
               ": randomness is seeded and handed in", out);
  }
  if (!starts_with_any(path, kSleepPlaces)) {
    find_words(path, code,
               {"sleep_for", "sleep_until", "usleep(", "nanosleep(", "std::this_thread::sleep"},
               ": nobody sleeps", out);
  }
  return out;
}

std::vector<Finding> check_words(const std::string& path, std::string_view source) {
  std::vector<Finding> out;
  const std::string program = without_comments(source);
  if (!path.starts_with("tests/")) {
    find_words(path, program, {"SELECT *"}, ": columns are named", out);
    find_words(path, code_only(source), {"std::regex", "<regex>"}, ": not linear in its input",
               out);
  }
  find_words(path, comments_only(source), {"TODO", "FIXME", "XXX", "HACK"},
             ": done or written down, not noted", out);
  if (!starts_with_any(path, kSqlRooms)) {
    find_words(path, program,
               {"\"SELECT ", "\"INSERT INTO ", "\"UPDATE ", "\"DELETE FROM ", "\"CREATE TABLE "},
               ": SQL stands in log, projections, sources and workers", out);
  }
  return out;
}

std::vector<Finding> check_size(const std::string& path, std::string_view source) {
  std::vector<Finding> out;
  int lines = 0;
  // A literal may run over the edge: a raw one cannot be broken, the others the formatter breaks.
  const std::string code = Lexer(source).keep(true, true, false);
  std::size_t at = 0;
  each_line(source, [&](int number, std::string_view line) {
    lines = number;
    const auto columns = count_code_points(line);
    const auto edge = prefix_code_points(line, kColumnsMax).size();
    if (columns > kColumnsMax && code[at + edge] == line[edge]) {
      out.push_back({path, number, std::to_string(columns) + " columns, at most 100"});
    }
    at += line.size() + 1;
  });
  const int lines_max = path.starts_with("tests/") ? 500 : 450;
  if (lines > lines_max) {
    out.push_back(
        {path, 0, std::to_string(lines) + " lines, at most " + std::to_string(lines_max)});
  }
  return out;
}

std::vector<Finding> check_file(const std::string& path, std::string_view source) {
  std::vector<Finding> out;
  for (const auto check : {check_includes, check_time_and_chance, check_words, check_size}) {
    const auto more = check(path, source);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::vector<Finding> check_targets(const std::vector<std::string>& sources,
                                   std::string_view compile_commands, const std::string& root) {
  std::vector<Finding> out;
  const auto commands = parse_json(compile_commands);
  if (!commands.ok() || !commands->is_array()) {
    return {{"compile_commands.json", 0, "cannot be read"}};
  }
  std::set<std::string> compiled;
  for (const auto& command : commands->get_array()) {
    if (command.is_object()) compiled.insert(get_string(command.get_object(), "file"));
  }
  for (const auto& source : sources) {
    if (contains(kNoTarget, source) || compiled.contains(join_path(root, source))) continue;
    out.push_back({source, 0, "is in no target"});
  }
  return out;
}

std::map<std::string, std::string> read_tree(const std::string& root) {
  namespace fs = std::filesystem;
  constexpr std::string_view kSkipped[] = {".git", "build", ".cache", "node_modules"};
  std::map<std::string, std::string> out;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator();
       ++it) {
    if (it->is_directory() && contains(kSkipped, it->path().filename().string())) {
      it.disable_recursion_pending();
      continue;
    }
    const auto extension = it->path().extension();
    if (!it->is_regular_file() || (extension != ".cc" && extension != ".h")) continue;
    out[fs::relative(it->path(), root).string()] = read_file(it->path().string()).value_or("");
  }
  return out;
}

std::string describe(const std::vector<Finding>& findings) {
  std::string out;
  for (const auto& finding : findings) {
    out += finding.path + ":" + std::to_string(finding.line) + ": " + finding.what + "\n";
  }
  return out;
}

}  // namespace clawmark::tidy
