#pragma once
// The store as lines of JSON, to be carried elsewhere and read by anything: the whole log with its
// chain, the texts of the vault, and the state that is neither in the log nor folded from it
// (docs/moving.md). Each line holds a check over itself and all lines before it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "log/store.h"

namespace clawmark {

struct MoveCounts {
  std::int64_t events = 0, bodies = 0, rows = 0;
  std::int64_t elsewhere = 0;  // of an export: texts that only the host's files have
  std::int64_t fresh = 0;      // of an import: events that were not there before
};

// Writes lines to `sink` (each with its newline) in one read transaction. An error of the sink ends
// it.
Result<MoveCounts> export_store(Database& db, const std::function<Status(std::string_view)>& sink);

// The lines of one file, checked as they are read. Errors: invalid, stage "import", reasons
// "not_an_export", "newer", "damaged" (names the line), "cut_off".
class ExportReader {
 public:
  explicit ExportReader(std::string path) : path_(std::move(path)) {}
  // Calls `each` for every line but the last, which has to say what was counted.
  Result<MoveCounts> read(const std::function<Status(const json::object&)>& each);
  Error bad_line(const char* reason, const std::string& what) const;

 private:
  std::string path_;
  std::int64_t line_ = 0;
};

// Makes the store what the file is, in one transaction or not at all. The store's log has to be
// empty or the beginning of the file's (same events, by chain): then what follows is appended. A
// file whose log is the beginning of the store's, or equal to it, adds no event. What the log says
// was blanked is blanked here, too. Errors: those of ExportReader; conflict "diverged" when the two
// logs hold different events. Without `keep` it is all tried and nothing stays.
Result<MoveCounts> import_store(Store& store, const std::string& path, bool keep = true);

// Tables that travel beside log and vault: name, and its columns with their kinds (i, t, r, b).
struct MovedTable {
  std::string_view name;
  std::vector<std::pair<std::string_view, char>> columns;
  std::string_view where;  // which rows; empty: all
};
const std::vector<MovedTable>& moved_tables();

}  // namespace clawmark
