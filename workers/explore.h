#pragma once
// explore: a message of so many tokens becomes known by the hash of what is in it, with a summary
// of its structure (file.explored). No model; the text stays where it is, and is read back from
// there.

#include <vector>

#include "base/limits_world.h"
#include "log/store.h"
#include "projections/messages.h"
#include "workers/body_patience.h"
#include "workers/port.h"

namespace clawmark {

class ExplorePort final : public Port {
 public:
  ExplorePort(Store& store, BodyStore& bodies, std::size_t tokens_min = kLargeFileTokens)
      : store_(store), bodies_(bodies), tokens_min_(tokens_min) {}
  WorkerId id() const override { return {"explore", 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;

 private:
  bool may_be_large(const Event& event) const;
  Status explore_texts(const std::vector<Event>& events, TimeMs now);

  Store& store_;
  BodyStore& bodies_;
  std::size_t tokens_min_;
  BodyPatience patience_;
  Seq from_, to_;  // of what load() looked at
  std::vector<NewEvent> explored_;
};

}  // namespace clawmark
