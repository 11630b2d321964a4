#pragma once
// project: events into one projection. Each has its own cursor, so a slow one delays nobody.

#include "log/store.h"
#include "projections/projection.h"
#include "workers/port.h"

namespace clawmark {

class ProjectPort final : public Port {
 public:
  ProjectPort(Store& store, Projection& projection) : store_(store), projection_(projection) {}
  WorkerId id() const override;
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;

 private:
  Store& store_;
  Projection& projection_;
  int generation_ = 0;
};

}  // namespace clawmark
