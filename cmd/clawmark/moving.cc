// clawmark export: the store as lines of JSON. clawmark import: such a file back, or nothing of it.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "cmd/clawmark/outward.h"
#include "cmd/terminal.h"
#include "log/moving.h"
#include "projections/overview.h"
#include "workers/foreign_import.h"

namespace clawmark {
namespace {

constexpr std::int64_t kRebuildMs = 24 * kHourMs;

json::object counts_json(const MoveCounts& counts) {
  return {{"events", counts.events}, {"texts", counts.bodies}, {"rows", counts.rows}};
}

Error export_error(const char* reason, std::string message) {
  return make_error(ErrorKind::kInvalid, "export", reason, std::move(message));
}

// A file of that name appears whole or not at all, and nothing is overwritten.
Result<MoveCounts> export_to_file(Database& db, const std::string& path) {
  const std::string part = path + ".part" + std::to_string(::getpid());
  const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  std::FILE* file = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (file == nullptr) {
    return export_error("target", "cannot write " + path + ": " + std::strerror(errno));
  }
  auto written = export_store(db, [&](std::string_view line) -> Status {
    if (std::fwrite(line.data(), 1, line.size(), file) == line.size()) return Ok{};
    return export_error("target", "cannot write " + path + ": " + std::strerror(errno));
  });
  const bool synced = std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  std::fclose(file);
  if (written.ok() && !synced) written = export_error("target", "cannot write " + path);
  if (written.ok() &&
      ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    written = export_error("exists", path + " is there already, and nothing is overwritten");
  }
  if (!written.ok()) ::unlink(part.c_str());
  return written;
}

int export_all(Session& session, const std::string& path) {
  auto db = Store::open_read_only(session.config().db_path);
  if (!db.ok()) return session.fail(db.error());
  // What was forgotten a moment ago is still in the log's payloads: it must not travel.
  const auto fit = read_store_fit(*db, SystemClock().now());
  if (!fit.ok()) return session.fail(fit.error());
  if (fit->waiting() > 0) {
    return session.fail(make_error(ErrorKind::kConflict, "export", "forgotten_waits",
                                   format_count(fit->waiting()) +
                                       " forgotten messages or facts are still in the store; "
                                       "clawmark forget --purge takes it out, then export again"));
  }
  if (path != "-" && stat_file(path)) {
    return session.fail(
        export_error("exists", path + " is there already, and nothing is overwritten"));
  }
  if (path == "-") {
    const auto written = export_store(*db, [](std::string_view line) -> Status {
      if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size()) return Ok{};
      return export_error("target", "cannot write to the standard output");
    });
    return written.ok() ? kExitOk : session.fail(written.error());
  }
  const auto written = export_to_file(*db, path);
  if (!written.ok()) return session.fail(written.error());
  json::object answer = counts_json(*written);
  answer["file"] = path;
  answer["texts_elsewhere"] = written->elsewhere;
  return session.finish(answer, [](const json::object& done) {
    std::printf("%s: %s events, %s texts\n", get_string(done, "file").c_str(),
                format_count(get_int(done, "events")).c_str(),
                format_count(get_int(done, "texts")).c_str());
    const std::int64_t elsewhere = get_int(done, "texts_elsewhere");
    if (elsewhere == 0) return;
    std::printf(
        "%s texts are only in OpenClaw's own history and not in this file: take that along, "
        "or keep every text from now on (retention=verbatim)\n",
        format_count(elsewhere).c_str());
  });
}

// A store that was only made for what it then refused is no store. What else lies beside it (copies
// of an older one, a daemon's socket) is none of ours.
void drop_new_store(const Config& config) {
  for (const char* part : {"", "-wal", "-shm", ".lock"}) ::unlink((config.db_path + part).c_str());
}

Result<MoveCounts> import_file(const Config& config, const std::string& path, bool keep) {
  // First the whole file, so that a damaged one does not even make a store.
  ExportReader reader(path);
  CLAWMARK_ASSIGN(MoveCounts counts, reader.read([](const json::object&) { return Status(Ok{}); }));
  const bool is_new = !stat_file(config.db_path);
  if (!keep && is_new) {
    counts.fresh = counts.events;
    return counts;
  }
  const SystemClock clock;
  StoreOptions options;
  options.path = config.db_path;
  options.holder = "clawmark import pid " + std::to_string(::getpid());
  auto taken = [&]() -> Result<MoveCounts> {
    CLAWMARK_ASSIGN(Store store, Store::open(options, clock));
    return import_store(store, path, keep);
  }();
  if (!taken.ok() && is_new && taken.error().stage == "import") drop_new_store(config);
  return taken;
}

int import_all(Session& session, const std::string& path, bool dry_run) {
  const auto taken = import_file(session.config(), path, !dry_run);
  if (!taken.ok()) return session.fail(taken.error());
  if (!dry_run && taken->fresh > 0) {
    const auto folded = session.ask("rebuild", {}, Access::kWrite, kRebuildMs);
    if (!folded.ok()) return session.fail(folded.error());
  }
  json::object answer = counts_json(*taken);
  answer["fresh"] = taken->fresh;
  answer["dry_run"] = dry_run;
  return session.finish(answer, [](const json::object& done) {
    std::printf("%s events in the file, %s of them %s; %s texts\n",
                format_count(get_int(done, "events")).c_str(),
                format_count(get_int(done, "fresh")).c_str(),
                get_bool(done, "dry_run") ? "would be new" : "new",
                format_count(get_int(done, "texts")).c_str());
  });
}

// "agent", "group:…" and "session:…" as they are; else a person.
std::string holder_of(const std::string& as) {
  const bool whole = as == "agent" || as.starts_with("group:") || as.starts_with("session:");
  return whole ? as : "person:" + (as.empty() ? std::string("owner") : as);
}

Result<ForeignCounts> import_other(const Globals& globals, const Config& config,
                                   const std::string& kind, const std::string& path, bool keep) {
  const SystemClock clock;
  StoreOptions options;
  options.path = config.db_path;
  options.holder = "clawmark import pid " + std::to_string(::getpid());
  ForeignTarget target;
  if (!globals.agent.empty()) target.agent = globals.agent;
  target.session_key = globals.session_key;
  if (target.session_key.empty() && (kind == "memory-files" || kind == "clawmark")) {
    target.session_key = "agent:" + target.agent + ":main";  // the owner's, as the host shows them
  }
  target.holder = holder_of(globals.as);
  // Where there is no store yet, a look is taken with one that goes again.
  std::string scratch;
  const bool is_new = !stat_file(config.db_path);
  if (!keep && is_new) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "clawmark-look-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return export_error("target", "no temporary folder");
    scratch = pattern;
    options.path = join_path(scratch, "clawmark.db");
  }
  auto done = [&]() -> Result<ForeignCounts> {
    CLAWMARK_ASSIGN(Store store, Store::open(options, clock));
    return import_foreign(store, kind, path, target, clock, keep);
  }();
  std::error_code code;
  if (!scratch.empty()) std::filesystem::remove_all(scratch, code);
  if (keep && is_new && !done.ok() && done.error().stage != "lock") drop_new_store(config);
  return done;
}

int import_from(Session& session, const std::string& kind, const std::string& path, bool dry_run) {
  const auto taken = import_other(session.globals(), session.config(), kind, path, !dry_run);
  if (!taken.ok()) return session.fail(taken.error());
  if (!dry_run && taken->new_messages + taken->new_facts > 0) {
    const auto folded = session.ask("rebuild", {}, Access::kWrite, kRebuildMs);
    if (!folded.ok()) return session.fail(folded.error());
  }
  json::array left_out;
  for (const auto& what : taken->left_out) left_out.emplace_back(what);
  const json::object answer{{"from", kind},
                            {"dry_run", dry_run},
                            {"messages", taken->messages},
                            {"new_messages", taken->new_messages},
                            {"facts", taken->facts},
                            {"new_facts", taken->new_facts},
                            {"refused", taken->refused},
                            {"deleted_there", taken->deleted},
                            {"left_out", std::move(left_out)}};
  return session.finish(answer, [](const json::object& done) {
    const char* verb = get_bool(done, "dry_run") ? "would be new" : "new";
    std::printf("%s messages, %s of them %s\n", format_count(get_int(done, "messages")).c_str(),
                format_count(get_int(done, "new_messages")).c_str(), verb);
    std::printf("%s facts, %s stated ones %s, %s refused by a rule, %s deleted there\n",
                format_count(get_int(done, "facts")).c_str(),
                format_count(get_int(done, "new_facts")).c_str(), verb,
                format_count(get_int(done, "refused")).c_str(),
                format_count(get_int(done, "deleted_there")).c_str());
    if (const auto* left = find_array(done, "left_out")) {
      for (const auto& what : *left) std::printf("left out: %s\n", what.get_string().c_str());
    }
  });
}

}  // namespace

void add_moving(Registry& registry) {
  struct Options {
    std::string to, from, kind;
    bool dry_run = false;
  };
  auto options = std::make_shared<Options>();
  registry
      .add("export", "the whole memory as lines of JSON; the daemon may run",
           [options](Session& session) { return export_all(session, options->to); })
      .text("file", options->to, "file to write; nothing is overwritten; -: standard output", true);
  Arguments& arguments = registry.add(
      "import", "a file of clawmark export, or with --from the memory of something else",
      [options](Session& session) {
        if (options->kind.empty()) return import_all(session, options->from, options->dry_run);
        return import_from(session, options->kind, options->from, options->dry_run);
      });
  arguments.text("file", options->from, "file to read; for memory-files the agent's workspace",
                 true);
  arguments.text("--from", options->kind,
                 "what it is: clawmark, recursive-claw, worldclaw, lcm, memory-files", false);
  arguments.flag("--dry-run", options->dry_run, "only look, and say what would be new");
}

}  // namespace clawmark
