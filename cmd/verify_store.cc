#include "cmd/verify_store.h"

#include <algorithm>
#include <set>

#include "projections/rebuild.h"
#include "workers/driver.h"
#include "workers/stored_check.h"

namespace clawmark {
namespace {

struct Findings {
  VerifyReport report;
  StoredState stored;
  std::vector<std::string> problems;
};

Result<Findings> look(Pipeline& pipeline, const Clock& clock) {
  Findings out;
  CLAWMARK_TRY(pipeline.run_on_writer([&](Store& store) -> Status {
    CLAWMARK_ASSIGN(out.report, verify(store.db(), pipeline.projections(), clock.now()));
    CLAWMARK_ASSIGN(out.stored, check_stored(store.db(), pipeline.bodies()));
    return Ok{};
  }));
  out.problems = out.report.problems;
  for (const auto& found : {vault_problems(out.stored), vector_problems(out.stored)}) {
    out.problems.insert(out.problems.end(), found.begin(), found.end());
  }
  return out;
}

bool has_stopped(Pipeline& pipeline) {
  const auto rows = pipeline.status();
  return std::any_of(rows.begin(), rows.end(),
                     [](const auto& row) { return row.condition.state == "stopped"; });
}

// Texts first: an index that is made again is made of them.
Result<std::vector<std::string>> mend(Pipeline& pipeline, const Clock& clock, const Findings& found,
                                      const RebuildOne& rebuild) {
  std::vector<std::string> done;
  std::vector<std::string> to_rebuild = found.report.to_rebuild;
  CLAWMARK_TRY(pipeline.run_on_writer([&](Store& store) -> Status {
    CLAWMARK_ASSIGN(done, mend_cursors(store, to_rebuild));
    CLAWMARK_ASSIGN(const auto more, mend_stored(store, pipeline.bodies(), found.stored,
                                                 pipeline.running(), clock.now()));
    done.insert(done.end(), more.begin(), more.end());
    return Ok{};
  }));
  for (const std::string& name : std::set<std::string>(to_rebuild.begin(), to_rebuild.end())) {
    CLAWMARK_TRY(rebuild(name));
    done.push_back(name + " was folded again from the log");
  }
  pipeline.notify();
  if (pipeline.running() && has_stopped(pipeline)) {
    done.push_back("a worker has stopped; it goes on after: systemctl --user restart clawmark");
  }
  return done;
}

json::array list_of(const std::vector<std::string>& lines) {
  return json::array(lines.begin(), lines.end());
}

json::object log_json(const LogCheck& log) {
  json::object out{{"events", log.events}, {"dense", log.dense}, {"chain_valid", log.chain_valid}};
  if (log.first_bad) out["first_bad"] = log.first_bad->value;
  return out;
}

}  // namespace

Result<json::object> verify_store(Pipeline& pipeline, const Clock& clock,
                                  const RebuildOne& rebuild) {
  CLAWMARK_ASSIGN(Findings found, look(pipeline, clock));
  std::vector<std::string> mended;
  if (rebuild && !found.problems.empty()) {
    CLAWMARK_ASSIGN(mended, mend(pipeline, clock, found, rebuild));
    CLAWMARK_ASSIGN(found, look(pipeline, clock));
  }
  json::array rows, notes;
  for (const auto& row : found.report.projections) {
    rows.push_back(json::object{
        {"name", row.name}, {"equal", row.equal}, {"live", row.live}, {"rebuilt", row.rebuilt}});
  }
  for (const auto& name : pipeline.folded_again()) {
    notes.emplace_back("the tables of " + name +
                       " were missing, of an older version or ahead of the log: they were folded "
                       "again from the log when the store was opened");
  }
  json::object out{{"ok", found.problems.empty()},    {"log", log_json(found.report.log)},
                   {"projections", std::move(rows)},  {"texts", found.stored.bodies},
                   {"vectors", found.stored.vectors}, {"problems", list_of(found.problems)},
                   {"notes", std::move(notes)}};
  if (rebuild) out["mended"] = list_of(mended);
  return out;
}

}  // namespace clawmark
