// doctor: what `verify` looks at, without writing: the file's pages, folds and indexes, texts,
// vectors.

#include "base/clock.h"
#include "base/limits.h"
#include "cmd/doctor_parts.h"
#include "cmd/source_options.h"
#include "cmd/terminal.h"
#include "log/event_log.h"
#include "log/store.h"
#include "projections/graph_projection.h"
#include "projections/history.h"
#include "projections/rebuild.h"
#include "workers/source_bodies.h"
#include "workers/stored_check.h"

namespace clawmark {
namespace {

constexpr std::int64_t kFoldedInMemoryMax = 2'000'000;  // events; verify folds on the disk
constexpr char kFixCommand[] = "clawmark doctor --fix";

std::string as_read(std::string_view raw) {
  return std::string(raw);
}

// A problem says what to do behind its last semicolon.
Check told(const char* name, const std::string& problem) {
  const auto at = problem.rfind("; ");
  return check_bad(name, problem.substr(0, at), kFixCommand);
}

}  // namespace

std::vector<Check> check_pages(const Config& config) {
  auto db = Store::open_read_only(config.db_path);
  if (!db.ok()) return {};
  const auto found = db->query_text("PRAGMA quick_check(1)");
  if (found.ok() && found->value_or("") == "ok") return {check_ok("file", "every page is sound")};
  return {check_bad("file", found.ok() ? found->value_or("") : describe(found.error()),
                    "stop clawmarkd, keep this file, restore the newest backup beside it")};
}

std::vector<Check> check_digests(const Config& config) {
  auto db = Store::open_read_only(config.db_path);
  if (!db.ok()) return {};
  const auto head = EventLog::head(*db);
  if (head.ok() && head->value > kFoldedInMemoryMax) {
    return {{"digests", CheckState::kSkip,
             format_count(head->value) + " events are too many to fold here", "clawmark verify"}};
  }
  BodyStore bodies(Retention::kReference, nullptr);
  const std::unique_ptr<Projection> all[] = {
      make_messages_projection(), make_facts_projection({config.confidence_threshold}),
      make_graph_projection(), make_search_projection(bodies, as_read),
      make_history_projection(bodies, as_read)};
  std::vector<Projection*> list;
  for (const auto& projection : all) list.push_back(projection.get());
  const auto report = verify_projections(*db, list);
  if (!report.ok()) return {check_bad("digests", describe(report.error()), kFixCommand)};
  std::vector<Check> out;
  for (const auto& problem : report->problems) out.push_back(told("digests", problem));
  if (out.empty()) {
    out.push_back(check_ok("digests", "what was folded is what the log folds to; the indexes fit"));
  }
  return out;
}

std::vector<Check> check_vault(const Config& config) {
  auto db = Store::open_read_only(config.db_path);
  if (!db.ok()) return {};
  const SystemClock clock;
  SourceBodies sources(
      [options = source_options(config), &clock] { return discover_sources(options, clock); },
      clock);
  const Retention retention = config.retention == "verbatim"    ? Retention::kVerbatim
                              : config.retention == "reference" ? Retention::kReference
                                                                : Retention::kRewritten;
  BodyStore bodies(retention, &sources);
  const auto state = check_stored(*db, bodies);
  if (!state.ok()) return {check_bad("vault", describe(state.error()), kFixCommand)};
  std::vector<Check> out;
  for (const auto& problem : vault_problems(*state)) out.push_back(told("vault", problem));
  if (out.empty()) {
    out.push_back(check_ok("vault", format_count(state->bodies) + " texts are what they were"));
  }
  const auto vectors = vector_problems(*state);
  for (const auto& problem : vectors) out.push_back(told("vectors", problem));
  if (vectors.empty()) {
    out.push_back(check_ok("vectors", format_count(state->vectors) + " are there, none is amiss"));
  }
  return out;
}

}  // namespace clawmark
