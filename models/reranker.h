#pragma once
// A reranking endpoint as Cohere, Jina, vLLM and Hugging Face's TEI speak it: POST {query,
// documents, texts} → [{index, relevance_score | score}], bare or under "results" or "data".

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"

namespace clawmark {

// `url` is used as it stands; credentials in it travel in a header.
HttpRequest plan_rerank(const std::string& url, std::string_view query,
                        std::span<const std::string> texts, std::int64_t timeout_ms);
// One score per text, higher is better. Error: stage "rerank"; "mismatch" when a text has no score,
// or two.
Result<std::vector<double>> interpret_rerank(const Result<HttpResponse>& response,
                                             const std::string& url, std::size_t expected);

}  // namespace clawmark
