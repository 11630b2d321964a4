#pragma once
// Message texts from the carriers themselves. Not shared between threads: each reader makes its
// own.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "log/body_store.h"
#include "sources/source.h"

namespace clawmark {

class SourceBodies final : public BodyResolver {
 public:
  using Discover = std::function<std::vector<OpenSource>()>;
  SourceBodies(Discover discover, const Clock& clock)
      : discover_(std::move(discover)), clock_(clock) {}
  // Asks every carrier that has a locator, the preferred one first, until a text with the right
  // hash is there.
  std::vector<std::optional<std::string>> resolve(std::span<const BodyRequest> wanted) override;
  // A carrier that gave a text in this process is waited for, ten minutes at most.
  Absence absence(const BodyRequest& wanted) override;

 private:
  void refresh(bool now_please);
  bool is_readable(OpenSource& open);
  void ask(OpenSource& open, std::span<const BodyRequest> wanted,
           std::vector<std::optional<std::string>>& out);

  Discover discover_;
  const Clock& clock_;
  std::vector<OpenSource> sources_;
  std::int64_t refreshed_ms_ = -1;
  std::map<const MessageSource*, bool> readable_;      // looked at once after each resolve()
  std::map<std::string, std::int64_t> away_since_ms_;  // by agent and carrier; -1: it is there
};

}  // namespace clawmark
