#pragma once
// keep: while every text is to be kept, those that were seen earlier are copied into the vault,
// too, oldest first. What holds a secret or cannot be had is passed. Idle otherwise.

#include <vector>

#include "log/body_store.h"
#include "log/store.h"
#include "workers/body_patience.h"
#include "workers/port.h"

namespace clawmark {

class KeepPort final : public Port {
 public:
  KeepPort(Store& store, BodyStore& bodies) : store_(store), bodies_(bodies) {}
  WorkerId id() const override { return {"keep", 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  // Events that have not been looked at.
  Result<std::int64_t> pending(TimeMs now) override;

 private:
  Store& store_;
  BodyStore& bodies_;
  BodyPatience patience_;
  std::vector<std::string> texts_;
  Seq from_, to_;
};

}  // namespace clawmark
