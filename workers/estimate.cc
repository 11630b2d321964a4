#include "workers/estimate.h"

namespace clawmark {
namespace {

constexpr double kBytesPerToken = 4;
constexpr std::int64_t kWindowGuess = 30;    // messages of one extraction, about
constexpr std::int64_t kAnswerTokens = 300;  // of its answer, about

double usd_of(const Price& price, std::int64_t input, std::int64_t output) {
  return static_cast<double>(cost_micro_usd(price, input, output)) / 1e6;
}

}  // namespace

BacklogEstimate estimate_backlog(const BacklogCounts& counts, const PriceTable& prices) {
  BacklogEstimate out;
  out.messages_to_embed = counts.messages_to_embed;
  out.messages_to_extract = counts.messages_to_extract;
  const auto tokens_of = [&](std::int64_t messages) {
    return static_cast<std::int64_t>(static_cast<double>(messages) * counts.bytes_mean /
                                     kBytesPerToken);
  };
  if (!counts.embed_model.empty()) {
    out.embed_tokens = tokens_of(counts.messages_to_embed);
    out.usd += usd_of(price_of(prices, counts.embed_model), out.embed_tokens, 0);
  }
  if (!counts.extract_model.empty()) {
    const std::int64_t tokens = tokens_of(counts.messages_to_extract);
    const std::int64_t answers = counts.messages_to_extract / kWindowGuess * kAnswerTokens;
    out.extract_tokens = tokens + answers;
    out.usd += usd_of(price_of(prices, counts.extract_model), tokens, answers);
  }
  return out;
}

}  // namespace clawmark
