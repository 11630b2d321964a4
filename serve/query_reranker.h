#pragma once
// Asks the reranking endpoint, within a deadline. What does not come in time is done without.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/transport.h"

namespace clawmark {

struct RerankScores {
  std::vector<double> scores;  // of each text; empty: none
  std::string degraded;        // why not: "rerank_timeout", "rerank_<reason>"
};

class QueryReranker {
 public:
  // `transport` must outlive it and the answers under way.
  QueryReranker(std::string url, Transport& transport)
      : url_(std::move(url)), transport_(transport) {}
  // Safe from several threads.
  RerankScores rerank(const std::string& query, const std::vector<std::string>& texts,
                      std::int64_t wait_ms) const;

 private:
  const std::string url_;
  Transport& transport_;
};

}  // namespace clawmark
