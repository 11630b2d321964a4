// clawmark uninstall: takes back what clawmark init did, from its receipt, and nothing else. The
// memory stays unless it is named.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/files.h"
#include "cmd/clawmark/outward.h"
#include "cmd/setup/setup.h"

namespace clawmark {
namespace {

struct Options {
  bool yes = false, dry_run = false, purge = false;
  std::string folder;  // confirms --purge-memory
};

Status purge_allowed(const Config& config, const Options& options, bool can_ask) {
  const std::string folder = dir_name(config.db_path);
  if (options.folder == folder) return Ok{};
  if (!options.folder.empty()) {
    return make_error(
        ErrorKind::kInvalid, "uninstall", "folder",
        "the memory is in " + folder + ", not in " + options.folder + "; nothing was changed");
  }
  if (can_ask) {
    std::printf("This deletes the memory in %s for good. Type that folder to confirm: ",
                folder.c_str());
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    if (answer == folder) return Ok{};
  }
  return make_error(ErrorKind::kInvalid, "uninstall", "folder",
                    "to delete the memory, name its folder: --purge-memory --confirm " + folder +
                        "; nothing was changed");
}

void show(const Undo& undo, bool really) {
  for (const auto& action : undo.actions) {
    std::printf("  %-8s %s%s\n", undo.name.c_str(), really ? "" : "would: ", action.c_str());
  }
  if (!undo.left.empty()) std::printf("  %-8s %s\n", undo.name.c_str(), undo.left.c_str());
}

json::object row_of(const Undo& undo) {
  json::array actions;
  for (const auto& action : undo.actions) actions.emplace_back(action);
  return {{"step", undo.name}, {"actions", std::move(actions)}, {"left", undo.left}};
}

// Newest first, as the receipt lists them; what was taken back leaves the receipt at once.
Result<json::array> take_back(json::array receipt, bool really, bool quiet) {
  json::array rows;
  while (!receipt.empty()) {
    const json::object record =
        receipt.front().is_object() ? receipt.front().get_object() : json::object();
    CLAWMARK_ASSIGN(const Undo undo, undo_step(record, really));
    rows.push_back(row_of(undo));
    if (!quiet) show(undo, really);
    receipt.erase(receipt.begin());
    if (really) CLAWMARK_TRY(write_receipt(receipt));
  }
  return rows;
}

Status purge_memory(const std::vector<std::string>& files, const Config& config) {
  for (const auto& file : files) {
    std::error_code code;
    std::filesystem::remove(file, code);
    if (code) {
      return make_error(ErrorKind::kFatal, "uninstall", "remove", file + ": " + code.message());
    }
  }
  std::error_code code;
  std::filesystem::remove(dir_name(config.db_path), code);  // only when nothing else is in it
  return Ok{};
}

int uninstall(Session& session, const Options& options) {
  const bool as_json = session.globals().json;
  const Config& config = session.config();
  auto receipt = read_receipt();
  if (!receipt.ok()) return session.fail(receipt.error());
  const auto files = options.purge ? memory_files(config) : std::vector<std::string>();
  if (receipt->empty() && files.empty()) {
    return session.fail(make_error(ErrorKind::kNotFound, "uninstall", "nothing",
                                   "clawmark init has set nothing up here (no " + receipt_path() +
                                       "): there is nothing to take back"));
  }
  const bool can_ask = !options.yes && !as_json && ::isatty(STDIN_FILENO) != 0;
  if (!options.dry_run) {
    if (!options.yes && !can_ask) {
      return session.fail(make_error(ErrorKind::kInvalid, "uninstall", "nobody_to_ask",
                                     "there is nobody to ask: add --yes, or --dry-run to only see "
                                     "it; nothing was changed"));
    }
    if (options.purge) {
      if (const auto allowed = purge_allowed(config, options, can_ask); !allowed.ok()) {
        return session.fail(allowed.error());
      }
    }
    if (can_ask) {
      (void)take_back(*receipt, false, false);
      std::printf("Go on? [y/N] ");
      std::fflush(stdout);
      std::string answer;
      std::getline(std::cin, answer);
      if (answer != "y" && answer != "Y" && answer != "yes") return kExitOk;
    }
  }
  auto rows = take_back(*receipt, !options.dry_run, as_json);
  if (!rows.ok()) return session.fail(rows.error());
  if (options.purge && !options.dry_run && session.daemon_answers()) {
    return session.fail(make_error(ErrorKind::kConflict, "lock", "held",
                                   "a clawmarkd still runs on the memory: stop it, then repeat"));
  }
  json::array removed;
  for (const auto& file : files) removed.emplace_back(file);
  if (options.purge && !options.dry_run) {
    if (const auto gone = purge_memory(files, config); !gone.ok())
      return session.fail(gone.error());
  }
  if (as_json) {
    std::printf("%s\n", to_text(json::object{{"ok", true},
                                             {"dry_run", options.dry_run},
                                             {"steps", *std::move(rows)},
                                             {"memory", config.db_path},
                                             {"removed", std::move(removed)}})
                            .c_str());
    return kExitOk;
  }
  for (const auto& file : files) {
    std::printf("  memory   %s%s\n", options.dry_run ? "would: rm " : "rm ", file.c_str());
  }
  if (!options.purge) {
    const bool there = stat_file(config.db_path).has_value();
    std::printf(there ? "The memory stays in %s.\n" : "There is no memory in %s.\n",
                dir_name(config.db_path).c_str());
  }
  return kExitOk;
}

}  // namespace

void add_uninstall(Registry& registry) {
  auto options = std::make_shared<Options>();
  Arguments& arguments =
      registry.add("uninstall", "take back what `clawmark init` set up; the memory stays",
                   [options](Session& session) { return uninstall(session, *options); });
  arguments.flag("--yes", options->yes, "do it without asking");
  arguments.flag("--dry-run", options->dry_run, "only show what it would do");
  arguments.flag("--purge-memory", options->purge, "delete the memory, too");
  arguments.text("--confirm", options->folder, "with --purge-memory: the folder of the memory",
                 false);
}

}  // namespace clawmark
