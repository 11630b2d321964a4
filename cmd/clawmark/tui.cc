// clawmark tui: the memory on a terminal.

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/files.h"
#include "cmd/clawmark/outward.h"
#include "cmd/console_port.h"
#include "cmd/tui/run.h"
#include "cmd/unix_client.h"

namespace clawmark {
namespace {

int run_tui(Session& session, const std::string& db) {
  Config config = session.config();
  if (!db.empty()) config.db_path = db;
  const auto file = stat_file(config.db_path);
  const bool stored = file.has_value() && file->size > 0;
  if (!stored && (!db.empty() || !is_listening(config.socket))) {
    return session.fail(make_error(ErrorKind::kNotFound, "store", "missing",
                                   "there is no store at " + config.db_path +
                                       " yet: start clawmarkd once, or correct the path"));
  }
  tui::ModelOptions options;
  options.eyes = session.with_eyes({});
  options.store_only = !db.empty();
  options.store = config.db_path;
  if (!config.timezone.empty()) options.zone = config.timezone;
  ConsolePort port(std::move(config), !db.empty());
  const auto ended = tui::run(port, std::move(options));
  if (!ended.ok()) return session.fail(ended.error());
  return *ended == 0 || *ended == SIGINT ? int{kExitOk} : 128 + *ended;
}

}  // namespace

void add_tui(Registry& registry) {
  auto db = std::make_shared<std::string>();
  Arguments& arguments = registry.add(
      "tui", "look through the memory on a terminal: six views, facts, health; ? helps",
      [db](Session& session) { return run_tui(session, *db); });
  arguments.text("--db", *db, "look at this store by itself, read only, without the service",
                 false);
}

}  // namespace clawmark
