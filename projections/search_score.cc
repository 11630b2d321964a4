#include "projections/search_score.h"

#include <algorithm>

#include "projections/search_index.h"

namespace clawmark {
namespace {

constexpr double kK1 = 0.9;
constexpr double kB = 0.4;

// Share of the words of the message so many turns away counts (reference: eval.md, section 3).
struct Turn {
  float mild, strong;
};
constexpr std::int64_t kBefore = 3, kAfter = 2;  // the furthest that count
constexpr std::array<Turn, kBefore + 1 + kAfter> kTurns = {
    {{0, 0.1F}, {0.1F, 0.3F}, {0.3F, 0.5F}, {0, 0}, {0.15F, 0.3F}, {0, 0.15F}}};

constexpr float kMildShare = 0.25F, kStrongShare = 0.75F;

float share_of(float value, float best) {
  return best > 0 ? value / best : 0;
}

}  // namespace

ContextScorer::ContextScorer(std::span<const double> weights, double average_tokens, bool context,
                             std::vector<TermHits> rows)
    : terms_(std::min(weights.size(), kScoredTermsMax)),
      average_(std::max(1.0, average_tokens)),
      context_(context),
      rows_(std::move(rows)) {
  for (std::size_t i = 0; i < terms_; ++i) {
    weights_[i] = static_cast<float>(weights[i] * (kK1 + 1));
  }
  std::sort(rows_.begin(), rows_.end(),
            [](const TermHits& a, const TermHits& b) { return a.rowid < b.rowid; });
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int64_t place = place_of_rowid(rows_[i].rowid);
    if (places_.empty() || places_.back().place != place) places_.push_back({place, i, 0});
    ++places_.back().count;
  }
}

std::size_t ContextScorer::lowest_of(std::int64_t place) const {
  const std::int64_t from = context_ ? place - kBefore : place;
  const auto at = std::lower_bound(places_.begin(), places_.end(), from,
                                   [](const Near& a, std::int64_t b) { return a.place < b; });
  return static_cast<std::size_t>(at - places_.begin());
}

void ContextScorer::add_chunk(const TermHits* own, double tokens, const Weights& mild,
                              const Weights& strong, PlaceScore& best) const {
  const auto norm = static_cast<float>(kK1 * (1 - kB + kB * tokens / average_));
  float milder = 0, stronger = 0;
  for (std::size_t i = 0; i < terms_; ++i) {
    const float here = own == nullptr ? 0.F : static_cast<float>(own->hits[i]);
    const float with_mild = here + mild[i], with_strong = here + strong[i];
    milder += weights_[i] * with_mild / (with_mild + norm);
    stronger += weights_[i] * with_strong / (with_strong + norm);
  }
  best.mild = std::max(best.mild, milder);
  best.strong = std::max(best.strong, stronger);
}

template <class Counts>
PlaceScore ContextScorer::score_place(std::int64_t place, std::size_t lowest,
                                      const Counts& counts) const {
  Weights mild{}, strong{};
  const Near* here = nullptr;
  for (std::size_t n = lowest; n < places_.size() && places_[n].place <= place + kAfter; ++n) {
    const Near& near = places_[n];
    if (near.place == place) here = &near;
    if (!context_ || near.place == place || !same_talk(near.place, place)) continue;
    const TermHits& first = rows_[near.first];  // the beginning of a long text only
    if (ordinal_of_rowid(first.rowid) != 0 || !counts(near.place)) continue;
    const Turn turn = kTurns[static_cast<std::size_t>(near.place - place + kBefore)];
    for (std::size_t i = 0; i < terms_; ++i) {
      mild[i] += turn.mild * static_cast<float>(first.hits[i]);
      strong[i] += turn.strong * static_cast<float>(first.hits[i]);
    }
  }
  PlaceScore out{place};
  if (here == nullptr) {
    add_chunk(nullptr, average_, mild, strong, out);
    return out;
  }
  for (std::size_t i = here->first; i < here->first + here->count; ++i) {
    add_chunk(&rows_[i], tokens_of_rowid(rows_[i].rowid), mild, strong, out);
  }
  return out;
}

float ContextScorer::combine(const PlaceScore& at) const {
  return kMildShare * share_of(at.mild, best_mild_) +
         kStrongShare * share_of(at.strong, best_strong_);
}

std::vector<PlaceScore> ContextScorer::all() {
  std::vector<PlaceScore> out;
  out.reserve(places_.size() * (context_ ? 3 : 1));
  const auto everyone = [](std::int64_t) { return true; };
  std::int64_t done = -1;  // places up to this one have been looked at
  std::size_t lowest = 0;
  for (const Near& near : places_) {
    // A message's words count for those up to kBefore after it and kAfter before it.
    const std::int64_t from = context_ ? std::max(done + 1, near.place - kAfter) : near.place;
    const std::int64_t to = context_ ? near.place + kBefore : near.place;
    for (std::int64_t place = from; place <= to; ++place) {
      if (!same_talk(place, near.place)) continue;
      while (places_[lowest].place < place - (context_ ? kBefore : 0)) ++lowest;
      const PlaceScore at = score_place(place, lowest, everyone);
      if (at.strong <= 0) continue;
      best_mild_ = std::max(best_mild_, at.mild);
      best_strong_ = std::max(best_strong_, at.strong);
      out.push_back(at);
    }
    done = std::max(done, to);
  }
  for (PlaceScore& at : out) at.score = combine(at);
  return out;
}

double ContextScorer::score(std::int64_t place,
                            const std::function<bool(std::int64_t)>& counts) const {
  return static_cast<double>(combine(score_place(place, lowest_of(place), counts)));
}

}  // namespace clawmark
