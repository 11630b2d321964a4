// The order of what was found: one weighted sum, neighbours put together, sessions in turns.

#include <cmath>
#include <unordered_map>

#include "base/clock.h"
#include "serve/retrieval_pool.h"

namespace clawmark {
namespace {

// Weights of what makes a rank; hand-rounded, on plateaus (docs/recall.md).
constexpr double kLexical = 6.5;  // of the best
struct NearWeights {
  double peers = 0, assistant = 0;  // × cosine
  double before = 0, after = 0;     // × that of the neighbours; among peers
};
constexpr NearWeights kNearBuiltin{3, 6, 1, 0.5}, kNearEncoder{6, 12, 2, 1};
constexpr NearWeights kNearEndpoint{8, 8, 2, 1};
constexpr double kNamed = 2.8;                 // the query names who speaks
constexpr double kWhen = 2, kHowMany = 1;      // asked for, and there
constexpr double kLength = 0.8;                // × ln(1 + tokens); among peers
constexpr double kAsks = 0.5, kAnswers = 0.5;  // among peers: questions say little, answers more
constexpr double kAssistant = 3;               // long answers repeat the question's words
constexpr double kStanding = 1.5, kPrefers = 0.7;  // what a person wants for always
constexpr double kRecency = 0.35;                  // at most; halves every 30 days
constexpr double kRecencyHalfDays = 30;
constexpr std::size_t kPerSession = 2;  // excerpts of one session while others wait
// Messages in one excerpt: what would not be shown is not swallowed either.
constexpr std::size_t kClusterMax = 2;
constexpr std::int64_t kTalkMs = 30 * kMinuteMs;  // said further apart is no one exchange

bool are_neighbours(const MessageRow& a, const MessageRow& b) {
  if (a.session_id != b.session_id || a.agent != b.agent) return false;
  if (std::abs(a.occurred.value - b.occurred.value) > kTalkMs) return false;
  if (a.parent == b.seq || b.parent == a.seq) return true;
  return std::abs(a.seq.value - b.seq.value) <= 2;
}

NearWeights near_weights(ModelKind kind) {
  switch (kind) {
    case ModelKind::kBuiltin:
      return kNearBuiltin;
    case ModelKind::kEncoder:
      return kNearEncoder;
    case ModelKind::kEndpoint:
      break;
  }
  return kNearEndpoint;
}

// One sum for all; which cues bear on a text depends on who talks there.
double weigh(const Candidate& c, const QueryCues& asked, bool named, NearWeights weights) {
  double sum = kLexical * c.lexical;
  const double near = std::max(0.0, c.cosine);
  if (named) sum += kNamed;
  if (asked.asks_how_many && c.cues.names_number) sum += kHowMany;
  if (asked.asks_when && c.cues.names_time) sum += kWhen;
  if (c.cues.among_peers) {
    sum += weights.peers * near + weights.before * c.before + weights.after * c.after;
    sum += kLength * std::log1p(static_cast<double>(c.cues.tokens));
    if (c.cues.asks) sum -= kAsks;
    if (c.cues.answers) sum += kAnswers;
    return sum;
  }
  sum += weights.assistant * near;
  if (c.row.role == "assistant") return asked.asks_agent ? sum : sum - kAssistant;
  if (c.cues.is_standing) sum += kStanding;
  if (c.cues.prefers) sum += kPrefers;
  return sum;
}

}  // namespace

void Retrieval::rank(Pool& pool) {
  const TimeMs now = clock_.now();
  const QueryCues asked = query_cues(pool.answer.query);
  const NearWeights weights = near_weights(pool.vectors.kind);
  for (Candidate& c : pool.candidates) {
    const double age_days =
        static_cast<double>(std::max<std::int64_t>(0, now.value - c.row.occurred.value)) / kDayMs;
    c.fused = weigh(c, asked, pool.terms.names(c.cues.speaker), weights) +
              kRecency * std::exp2(-age_days / kRecencyHalfDays);
  }
  std::sort(pool.candidates.begin(), pool.candidates.end(),
            [](const Candidate& a, const Candidate& b) {
              return a.fused != b.fused ? a.fused > b.fused : a.row.seq > b.row.seq;
            });
  for (const Candidate& c : pool.candidates) {
    if (pool.answer.ranked.size() >= pool.query.ranked_max) break;
    pool.answer.ranked.push_back(c.row.seq);
  }
  // Neighbours join the cluster that their better one has begun.
  for (std::size_t i = 0; i < pool.candidates.size(); ++i) {
    const auto joins = [&](const Cluster& cluster) {
      return cluster.members.size() < kClusterMax &&
             std::any_of(
                 cluster.members.begin(), cluster.members.end(),
                 [&](std::size_t m) {
                   return are_neighbours(pool.candidates[m].row, pool.candidates[i].row);
                 });
    };
    const auto home = std::find_if(pool.clusters.begin(), pool.clusters.end(), joins);
    if (home != pool.clusters.end()) {
      home->members.push_back(i);
    } else {
      pool.clusters.push_back({{i}, pool.candidates[i].fused});
    }
  }
  // Sessions take turns: at most kPerSession clusters of each before the rest.
  std::unordered_map<std::string, std::size_t> taken;
  std::vector<Cluster> first, rest;
  for (Cluster& cluster : pool.clusters) {
    const std::size_t n = taken[pool.candidates[cluster.members.front()].row.session_id]++;
    (n < kPerSession ? first : rest).push_back(std::move(cluster));
  }
  std::move(rest.begin(), rest.end(), std::back_inserter(first));
  pool.clusters = std::move(first);
  const std::size_t looked_at = std::max<std::size_t>(pool.query.limit * 2, 8);
  if (pool.clusters.size() > looked_at) pool.clusters.resize(looked_at);
}

}  // namespace clawmark
