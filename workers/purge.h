#pragma once
// What was forgotten leaves the log's payloads, the vault and the embedding cache. Payloads are
// blanked in place (event.redacted), so that the chain holds; an extraction that also holds facts
// which stand is replaced by one with only those. Runs by itself an hour after a forgetting or a
// deletion at the source; a purge does it at once, rewrites the files and looks whether the texts
// are really gone.

#include <string>
#include <vector>

#include "log/purge.h"
#include "log/store.h"
#include "projections/projection.h"
#include "workers/port.h"

namespace clawmark {

struct PurgeReport {
  std::int64_t events = 0;  // blanked
  PurgedTexts texts;
  std::vector<std::string> backups;   // removed
  std::vector<std::string> still_in;  // files that hold one of the texts all the same
  std::size_t looked_for = 0;         // texts
};

// Blanks what was forgotten, in one transaction, and folds the projections again. What it took away
// is added to `texts` unless that is null. `before`: deletions at the source and tombstones
// recorded later are left for the next time.
Status withdraw_forgotten(Store& store, std::span<Projection* const> projections, TimeMs now,
                          TimeMs before, PurgeReport& report, std::vector<std::string>* texts);

// All of it: withdraws, builds the search index again, removes the backups made before upgrades,
// rewrites the database and looks for the texts in every file of the store. May simply be run
// again. Error: retriable while a reader stands in the way.
Result<PurgeReport> purge(Store& store, std::span<Projection* const> projections, TimeMs now);

// Follows forgettings and deletions by itself.
class ForgetPort final : public Port {
 public:
  ForgetPort(Store& store, std::span<Projection* const> projections)
      : store_(store), projections_(projections) {}
  WorkerId id() const override { return {"forget", 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;

 private:
  Result<std::int64_t> waiting(TimeMs before);

  Store& store_;
  std::span<Projection* const> projections_;
};

}  // namespace clawmark
