#include "serve/manifest.h"

#include "serve/serving.h"

namespace clawmark {
namespace {

constexpr std::size_t kKeptMax = 200;
constexpr std::int64_t kLarge = 10'000;  // messages; counting fewer takes milliseconds

std::string name_of(const Sight& sight) {
  std::string name = sight.scope.agent;
  for (const std::string& audience : sight.audiences) name += '\n' + audience;
  return name;
}

}  // namespace

Result<HistoryExtent> Manifests::extent(Database& db, const Sight& sight) {
  if (!sight.open() || sight.audiences.empty()) return HistoryExtent{};
  const std::string name = name_of(sight);
  const std::int64_t now = clock_.steady_ms();
  {
    const std::lock_guard lock(mutex_);
    const auto known = kept_.find(name);
    if (known != kept_.end() && now - known->second.at_ms < kExtentMs) return known->second.extent;
  }
  CLAWMARK_ASSIGN(const HistoryExtent extent,
                  history_extent(db, sight.scope.agent, sight.audiences));
  if (extent.messages < kLarge) return extent;
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kKeptMax) kept_.clear();
  kept_[name] = {extent, now};
  return extent;
}

json::object to_json(const HistoryExtent& extent, const std::string& zone) {
  json::object out = protocol_object();
  out["messages"] = extent.messages;
  out["sessions"] = extent.sessions;
  if (extent.oldest) out["oldest_day"] = format_date(*extent.oldest, zone);
  return out;
}

}  // namespace clawmark
