#pragma once
// The store: one SQLite file, its lock, its migrations. One daemon per store.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event_log.h"
#include "schema/schema.h"

namespace clawmark {

struct StoreOptions {
  std::string path;                 // "…/clawmark.db"; a symbolic link is followed to its target
  std::string holder = "clawmark";  // written into the lock file: "clawmarkd pid 4711 since …"
  // What this binary knows of the schema; tests give another list.
  std::span<const Migration> schema = migrations();
  // Type of a file system that cannot carry the store, else empty; tests give another probe.
  std::function<std::string(const std::string&)> unsafe_filesystem = clawmark::unsafe_filesystem;
};

class Store {
 public:
  // Folder 0700 (when made here or the default one), files 0600, file-system check, one name only
  // (a hard link: fatal "linked"), lock, then
  // schema: a newer file than this binary knows is refused without touching it (fatal
  // "schema_newer", names the newest backup beside it); an older one is copied to `<path>.v<N>.bak`
  // before the first statement and migrated, each migration in one transaction; the real shape
  // (tables, columns, triggers, indexes) is then compared with the expected one: "schema_shape"
  // names what is missing. Missing triggers and indexes are made again. Errors have stage "store",
  // but for the lock (conflict, "lock", "held") and a log with holes (fatal, "log").
  static Result<Store> open(const StoreOptions& options, const Clock& clock);
  // Read commands: no lock, no migration, query_only. Error: not_found when there is no store yet;
  // fatal "schema_newer" or "schema_older" when the file is not of this binary's version.
  static Result<Database> open_read_only(const std::string& path);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Database& db();  // the one writer connection
  EventLog& log();
  const std::string& path() const;
  const std::string& origin() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace clawmark
