#pragma once
// Scores rows of the index: BM25 over a chunk's own words, and the same with the words of the
// messages around it counted in part (reference: eval.md, ctx-bm25). An answer often holds none of
// the words of the question before it. Inside projections/ only.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace clawmark {

constexpr std::size_t kScoredTermsMax = 24;

// How often a chunk holds each term of a query.
struct TermHits {
  std::int64_t rowid = 0;
  std::array<std::uint8_t, kScoredTermsMax> hits{};
};

struct PlaceScore {
  std::int64_t place = 0;
  float mild = 0, strong = 0;  // with a little and with much of what stands around it
  float score = 0;             // the two, each against the best of the answer, in one: 0..1
};

class ContextScorer {
 public:
  // `weights`: of each term, its inverse document frequency. `rows`: any order, each rowid once.
  // Without `context` only a chunk's own words count.
  ContextScorer(std::span<const double> weights, double average_tokens, bool context,
                std::vector<TermHits> rows);

  // Every place that scores, in no order.
  std::vector<PlaceScore> all();
  // One place again, with those neighbours only that `counts` lets count.
  double score(std::int64_t place, const std::function<bool(std::int64_t)>& counts) const;

 private:
  struct Near {
    std::int64_t place;
    std::size_t first, count;  // rows
  };
  using Weights = std::array<float, kScoredTermsMax>;
  // `lowest`: index of the first place that may count for this one.
  template <class Counts>
  PlaceScore score_place(std::int64_t place, std::size_t lowest, const Counts& counts) const;
  void add_chunk(const TermHits* own, double tokens, const Weights& mild, const Weights& strong,
                 PlaceScore& best) const;
  float combine(const PlaceScore& at) const;
  std::size_t lowest_of(std::int64_t place) const;

  std::size_t terms_;
  Weights weights_{};
  const double average_;
  const bool context_;
  std::vector<TermHits> rows_;
  std::vector<Near> places_;  // ascending
  float best_mild_ = 0, best_strong_ = 0;
};

}  // namespace clawmark
