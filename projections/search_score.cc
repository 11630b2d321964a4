#include "projections/search_score.h"

#include <algorithm>

#include "projections/search_index.h"

namespace clawmark {
namespace {

constexpr double kK1 = 0.9;
constexpr double kB = 0.4;

// Share of the words of the message so many turns away (reference: eval.md, section 3).
struct Turn {
  std::int64_t offset;
  double mild, strong;
};
constexpr std::array<Turn, 5> kTurns = {
    {{-1, 0.3, 0.5}, {1, 0.15, 0.3}, {-2, 0.1, 0.3}, {2, 0, 0.15}, {-3, 0, 0.1}}};
constexpr std::int64_t kBefore = 3, kAfter = 2;  // the furthest of them

constexpr double kPlainShare = 1.5, kMildShare = 2.0, kStrongShare = 3.0;

using Counts = std::array<double, kScoredTermsMax>;

}  // namespace

ContextScorer::ContextScorer(std::span<const double> weights, double average_tokens, bool context,
                             std::vector<TermHits> rows)
    : weights_(weights.begin(), weights.end()),
      average_(std::max(1.0, average_tokens)),
      context_(context),
      rows_(std::move(rows)) {
  std::sort(rows_.begin(), rows_.end(),
            [](const TermHits& a, const TermHits& b) { return a.rowid < b.rowid; });
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int64_t place = place_of_rowid(rows_[i].rowid);
    if (places_.empty() || places_.back().place != place) places_.push_back({place, i, 0});
    ++places_.back().count;
  }
}

const ContextScorer::Near* ContextScorer::find(std::int64_t place) const {
  const auto at = std::lower_bound(places_.begin(), places_.end(), place,
                                   [](const Near& a, std::int64_t b) { return a.place < b; });
  return at == places_.end() || at->place != place ? nullptr : &*at;
}

template <class CountsFn>
PlaceScore ContextScorer::score_place(std::int64_t place, const CountsFn& counts) const {
  Counts mild{}, strong{};
  bool near_words = false;
  if (context_) {
    const auto lowest =
        std::lower_bound(places_.begin(), places_.end(), place - kBefore,
                         [](const Near& a, std::int64_t b) { return a.place < b; });
    for (auto at = lowest; at != places_.end() && at->place <= place + kAfter; ++at) {
      const std::int64_t offset = at->place - place;
      const auto turn = std::find_if(kTurns.begin(), kTurns.end(),
                                     [&](const Turn& t) { return t.offset == offset; });
      if (turn == kTurns.end() || !same_talk(at->place, place)) continue;
      const TermHits& first = rows_[at->first];
      if (ordinal_of_rowid(first.rowid) != 0 || !counts(at->place)) continue;
      for (std::size_t i = 0; i < weights_.size(); ++i) {
        mild[i] += turn->mild * first.hits[i];
        strong[i] += turn->strong * first.hits[i];
      }
      near_words = true;
    }
  }
  PlaceScore out{place};
  const auto add_chunk = [&](const TermHits* own, double tokens) {
    const double norm = kK1 * (1 - kB + kB * tokens / average_);
    double plain = 0, milder = 0, stronger = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double here = own == nullptr ? 0 : own->hits[i];
      const double with_mild = here + mild[i], with_strong = here + strong[i];
      if (with_strong <= 0) continue;
      plain += weights_[i] * here * (kK1 + 1) / (here + norm);
      milder += weights_[i] * with_mild * (kK1 + 1) / (with_mild + norm);
      stronger += weights_[i] * with_strong * (kK1 + 1) / (with_strong + norm);
    }
    out.plain = std::max(out.plain, plain);
    out.mild = std::max(out.mild, milder);
    out.strong = std::max(out.strong, stronger);
  };
  const Near* const here = find(place);
  if (here != nullptr) {
    for (std::size_t i = here->first; i < here->first + here->count; ++i) {
      add_chunk(&rows_[i], tokens_of_rowid(rows_[i].rowid));
    }
  } else if (near_words) {
    add_chunk(nullptr, average_);
  }
  return out;
}

double ContextScorer::combine(const PlaceScore& at) const {
  const auto share = [](double value, double best) { return best > 0 ? value / best : 0; };
  return (kPlainShare * share(at.plain, best_plain_) + kMildShare * share(at.mild, best_mild_) +
          kStrongShare * share(at.strong, best_strong_)) /
         (kPlainShare + kMildShare + kStrongShare);
}

std::vector<PlaceScore> ContextScorer::all() {
  std::vector<PlaceScore> out;
  const auto everyone = [](std::int64_t) { return true; };
  std::int64_t done = -1;  // places up to this one have been looked at
  for (const Near& near : places_) {
    // A message's words count for those up to kBefore after it and kAfter before it.
    const std::int64_t from = context_ ? std::max(done + 1, near.place - kAfter) : near.place;
    const std::int64_t to = context_ ? near.place + kBefore : near.place;
    for (std::int64_t place = from; place <= to; ++place) {
      if (!same_talk(place, near.place)) continue;
      const PlaceScore at = score_place(place, everyone);
      if (at.strong <= 0) continue;
      best_plain_ = std::max(best_plain_, at.plain);
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
  return combine(score_place(place, counts));
}

}  // namespace clawmark
