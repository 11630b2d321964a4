#pragma once
// What a backlog will cost about: one reckoning for what is in the log and waits, and for what a
// first start would read.

#include <cstdint>
#include <string>

#include "workers/prices.h"

namespace clawmark {

struct BacklogEstimate {
  std::int64_t messages_to_embed = 0, messages_to_extract = 0;
  std::int64_t embed_tokens = 0, extract_tokens = 0;  // about; 0 for built-in models
  double usd = 0;                                     // about, by the models' prices
};

struct BacklogCounts {
  std::int64_t messages_to_embed = 0, messages_to_extract = 0;
  double bytes_mean = 0;                   // of a message's text
  std::string embed_model, extract_model;  // empty: built in, which costs nothing
};

BacklogEstimate estimate_backlog(const BacklogCounts& counts, const PriceTable& prices);

}  // namespace clawmark
