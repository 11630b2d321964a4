#include "workers/source_bodies.h"

#include <algorithm>

namespace clawmark {
namespace {

constexpr std::int64_t kRefreshMs = 10'000;
constexpr std::int64_t kWaitForMs = 10 * kMinuteMs;

std::string carrier_of(std::string_view agent, std::string_view carrier) {
  return std::string(agent) + '\n' + std::string(carrier);
}

}  // namespace

void SourceBodies::refresh(bool now_please) {
  const std::int64_t now = clock_.steady_ms();
  if (refreshed_ms_ >= 0 && !now_please && now - refreshed_ms_ < kRefreshMs) return;
  sources_ = discover_();
  std::stable_sort(sources_.begin(), sources_.end(), [](const OpenSource& a, const OpenSource& b) {
    return a.preference < b.preference;
  });
  refreshed_ms_ = now;
}

void SourceBodies::ask(OpenSource& open, std::span<const BodyRequest> wanted,
                       std::vector<std::optional<std::string>>& out) {
  std::vector<MessageSource::Wanted> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (out[i]) continue;
    if (!open.agent.empty() && open.agent != wanted[i].agent) continue;
    for (const Locator& locator : wanted[i].locators) {
      if (locator.carrier != open.source->carrier()) continue;
      asked.push_back({locator.stream, locator.place, wanted[i].entry_id, wanted[i].hash});
      places.push_back(i);
    }
  }
  if (asked.empty()) return;
  auto texts = open.source->bodies(asked);
  for (std::size_t k = 0; k < texts.size() && k < places.size(); ++k) {
    auto& slot = out[places[k]];
    if (!slot && texts[k] && sha256(*texts[k]) == wanted[places[k]].hash) {
      slot = std::move(texts[k]);
      away_since_ms_[carrier_of(wanted[places[k]].agent, open.source->carrier())] = -1;
    }
  }
}

std::vector<std::optional<std::string>> SourceBodies::resolve(std::span<const BodyRequest> wanted) {
  std::vector<std::optional<std::string>> out(wanted.size());
  const auto missing = [&] {
    return std::any_of(out.begin(), out.end(), [](const auto& text) { return !text; });
  };
  readable_.clear();
  const bool was_fresh = refreshed_ms_ < 0;
  refresh(false);
  for (auto& open : sources_) ask(open, wanted, out);
  if (missing() && !was_fresh && clock_.steady_ms() - refreshed_ms_ > 1000) {
    refresh(true);  // a carrier may have come, or moved
    for (auto& open : sources_) ask(open, wanted, out);
  }
  return out;
}

bool SourceBodies::is_readable(OpenSource& open) {
  const auto [known, fresh] = readable_.try_emplace(open.source.get());
  if (fresh) {
    const SourceState state = open.source->validate().state;
    known->second = state == SourceState::kOk || state == SourceState::kStale;
  }
  return known->second;
}

Absence SourceBodies::absence(const BodyRequest& wanted) {
  const std::int64_t now = clock_.steady_ms();
  Absence out = Absence::kGone;
  for (const Locator& locator : wanted.locators) {
    const bool readable = std::any_of(sources_.begin(), sources_.end(), [&](OpenSource& open) {
      const bool of_agent = open.agent.empty() || open.agent == wanted.agent;
      return of_agent && open.source->carrier() == locator.carrier && is_readable(open);
    });
    if (readable) return Absence::kGone;
    const auto known = away_since_ms_.find(carrier_of(wanted.agent, locator.carrier));
    if (known == away_since_ms_.end()) {
      if (out == Absence::kGone) out = Absence::kLasting;
      continue;
    }
    if (known->second < 0) known->second = now;
    out = now - known->second < kWaitForMs ? Absence::kMoment : Absence::kLasting;
  }
  return out;
}

}  // namespace clawmark
