// doctor: what is inside the store, beyond its log.

#include "base/clock.h"
#include "base/disk.h"
#include "base/files.h"
#include "base/limits.h"
#include "cmd/doctor_parts.h"
#include "cmd/terminal.h"
#include "log/cursor.h"
#include "log/event_log.h"
#include "log/store.h"
#include "projections/history.h"
#include "projections/overview.h"
#include "projections/projection.h"
#include "projections/rebuild.h"
#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::size_t kSkippedTold = 20;
constexpr std::int64_t kRoomLeastBytes = 100 << 20;

std::string mebibytes(std::int64_t bytes) {
  return format_count(bytes / (1 << 20)) + " MiB";
}

std::vector<Check> unreadable(const char* name, const Error& error) {
  if (error.kind == ErrorKind::kNotFound) return {};  // the check of the store says so
  return {check_bad(name, describe(error), "see the check of the store")};
}

}  // namespace

std::vector<Check> check_disk(const Config& config) {
  const std::string folder = dir_name(config.db_path);
  const auto free = free_bytes(folder);
  if (!free) return {};
  const auto file = stat_file(config.db_path);
  const std::int64_t size = file ? file->size : 0;
  const std::string room = mebibytes(*free) + " free in " + folder;
  if (*free < kRoomLeastBytes) {
    return {check_bad("disk", room + ": the store cannot grow",
                      "free space there; work resumes by itself")};
  }
  if (*free < size + kRoomLeastBytes) {
    return {check_warn("disk", room + ", the store has " + mebibytes(size),
                       "a purge, a rebuild or an upgrade needs as much again: free space there")};
  }
  return {check_ok("disk", room)};
}

std::vector<Check> check_projections(const Config& config) {
  auto db = Store::open_read_only(config.db_path);
  if (!db.ok()) return unreadable("projections", db.error());
  BodyStore bodies(Retention::kReference, nullptr);
  const std::unique_ptr<Projection> all[] = {
      make_messages_projection(), make_facts_projection({}),
      make_search_projection(bodies, [](std::string_view raw) { return std::string(raw); }),
      make_history_projection(bodies, [](std::string_view raw) { return std::string(raw); })};
  std::vector<Projection*> list;
  for (const auto& projection : all) list.push_back(projection.get());
  const auto outdated = outdated_projections(*db, list);
  if (!outdated.ok()) return unreadable("projections", outdated.error());
  std::vector<Check> out;
  for (const std::string& name : *outdated) {
    out.push_back(check_bad("projections",
                            name + " is of another fold, or tables of it are missing",
                            "clawmark rebuild " + name));
  }
  const auto leftovers = has_leftovers(*db);
  if (leftovers.ok() && *leftovers) {
    out.push_back(check_warn("projections", "a rebuild runs, or was killed",
                             "if none runs: clawmark rebuild goes on where it was cut"));
  }
  if (out.empty()) out.push_back(check_ok("projections", "all are there, of this program's folds"));
  return out;
}

std::vector<Check> check_index(const Config& config) {
  auto db = Store::open_read_only(config.db_path);
  if (!db.ok()) return unreadable("index", db.error());
  const SystemClock clock;
  std::vector<Check> out;
  const auto fit = read_store_fit(*db, clock.now());
  const auto counts = search_counts(*db);
  if (!fit.ok()) return unreadable("index", fit.error());
  if (!counts.ok()) {
    return {check_bad("index", describe(counts.error()), "clawmark rebuild search")};
  }
  if (const auto ready = register_search(*db); ready.ok()) {
    LexicalQuery query;
    query.text = "clawmark";
    query.agent = "main";
    query.audiences = {"agent"};
    const auto answer = lexical_search(*db, query);
    if (!answer.ok() || !answer->degraded.empty()) {
      out.push_back(
          check_bad("index", "the search index does not answer", "clawmark rebuild search"));
    }
  }
  const std::int64_t missing = fit->recallable - counts->indexed - counts->gone;
  if (missing > 0) {
    out.push_back(check_warn("index",
                             format_count(missing) + " messages are not in the search index yet",
                             "wait, or clawmark reconcile; if it stays: clawmark rebuild search"));
  }
  if (fit->chunks_astray > 0) {
    out.push_back(check_warn("index",
                             format_count(fit->chunks_astray) +
                                 " messages have vectors and are not in the message index",
                             "clawmark rebuild messages"));
  }
  const auto unread = count_unread(*db);
  if (unread.ok() && *unread > 0) {
    out.push_back(check_warn(
        "index",
        format_count(*unread) +
            " messages cannot be found by their words: their texts could not be read when they "
            "were indexed",
        "once OpenClaw's folder is where state_dir says: clawmark rebuild search, then clawmark "
        "rebuild history"));
  }
  if (out.empty()) {
    out.push_back(check_ok("index", format_count(counts->indexed) + " messages can be searched, " +
                                        format_count(counts->gone) + " have lost their text"));
  }
  return out;
}

std::vector<Check> check_readable(const Config& config) {
  auto db = Store::open_read_only(config.db_path);
  if (!db.ok()) return unreadable("skipped", db.error());
  const auto overview = read_overview(*db);
  const auto rows = read_skipped(*db, kSkippedTold);
  if (!overview.ok()) return unreadable("skipped", overview.error());
  if (!rows.ok()) return unreadable("skipped", rows.error());
  std::vector<Check> out = {check_ok("skipped", "every line could be read"),
                            check_ok("texts", "no message has lost its text"),
                            check_ok("unplaced", "of every message it is known whose it is")};
  if (overview->skipped_lines > 0) {
    std::string text = format_count(overview->skipped_lines) + " lines could not be read";
    bool stopped = false;
    for (const SkippedRow& row : *rows) {
      if (row.line < 0) {
        text += "\n  " + row.file + " to its end: " + row.reason;
        stopped = true;
        continue;
      }
      text += "\n  " + row.file + (row.byte < 0 ? " row " : " line ") + std::to_string(row.line);
      if (row.byte >= 0) text += " (byte " + std::to_string(row.byte) + ")";
      text += ": " + row.reason;
    }
    out[0] = check_warn("skipped", text,
                        stopped ? "put a damaged or missing file back from a backup, and give the "
                                  "service the right to read one that it may not; all else is read"
                                : "the host wrote them so; all other lines are read");
  }
  if (overview->texts_gone > 0) {
    out[1] = check_warn("texts",
                        format_count(overview->texts_gone) +
                            " messages have lost their text: the host has rewritten or removed it, "
                            "and no copy was kept",
                        "facts from them stay; retention=auto keeps what transcript files show, "
                        "retention=verbatim every text, from then on");
  }
  if (overview->unplaced > 0) {
    out[2] = check_warn(
        "unplaced",
        format_count(overview->unplaced) +
            " messages stand in sessions that no index names: no prompt gets them, clawmark search "
            "finds them",
        "restore the agent's sessions.json or its session table; they are placed by themselves");
  }
  return out;
}

std::vector<Check> check_forgotten(const Config& config) {
  auto db = Store::open_read_only(config.db_path);
  if (!db.ok()) return unreadable("forgotten", db.error());
  const SystemClock clock;
  const auto fit = read_store_fit(*db, {clock.now().value - 2 * kFollowForgettingMs});
  if (!fit.ok()) return unreadable("forgotten", fit.error());
  if (fit->waiting() > 0) {
    return {check_warn(
        "forgotten",
        format_count(fit->waiting()) + " forgotten messages or facts are still in the store",
        "start clawmarkd, or: clawmark forget --purge")};
  }
  const auto young = read_store_fit(*db, clock.now());
  if (young.ok() && young->waiting() > 0) {
    return {check_ok("forgotten",
                     format_count(young->waiting()) +
                         " lately forgotten messages or facts leave the log within the hour; at "
                         "once: clawmark forget --purge")};
  }
  return {check_ok("forgotten", "what was forgotten is out of the log")};
}

}  // namespace clawmark
