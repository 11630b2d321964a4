#include "models/reranker.h"

#include <optional>

#include "base/json.h"
#include "models/endpoint.h"

namespace clawmark {

HttpRequest plan_rerank(const std::string& url, std::string_view query,
                        std::span<const std::string> texts, std::int64_t timeout_ms) {
  json::array documents;
  for (const std::string& text : texts) documents.emplace_back(text);
  HttpRequest request;
  request.url = url;
  request.headers = {{"content-type", "application/json"}, {"accept", "application/json"}};
  request.body = to_text(json::object{{"query", query},
                                      {"documents", documents},
                                      {"texts", documents},
                                      {"top_n", texts.size()},
                                      {"return_documents", false}});
  request.timeout_ms = timeout_ms;
  return request;
}

Result<std::vector<double>> interpret_rerank(const Result<HttpResponse>& response,
                                             const std::string& url, std::size_t expected) {
  EndpointOptions options;
  options.url = url;
  if (auto failure = failure_of(response, "rerank", options)) return *std::move(failure);
  const auto parsed = parse_json(response->body);
  if (!parsed.ok()) return bad_body(*response, "rerank", options);
  const json::array* rows = parsed->is_array() ? &parsed->as_array() : nullptr;
  if (parsed->is_object()) {
    rows = find_array(parsed->as_object(), "results");
    if (rows == nullptr) rows = find_array(parsed->as_object(), "data");
  }
  if (rows == nullptr) return bad_body(*response, "rerank", options);
  const auto mismatch = [] {
    return make_error(ErrorKind::kRetriable, "rerank", "mismatch",
                      "the reranking endpoint did not score each text once");
  };
  std::vector<std::optional<double>> scores(expected);
  for (const json::value& row : *rows) {
    if (!row.is_object()) return mismatch();
    const auto& object = row.as_object();
    const auto index = get_optional_int(object, "index");
    const json::value* score = find(object, "relevance_score");
    if (score == nullptr) score = find(object, "score");
    if (!index || *index < 0 || static_cast<std::size_t>(*index) >= expected || score == nullptr ||
        !score->is_number() || scores[static_cast<std::size_t>(*index)]) {
      return mismatch();
    }
    scores[static_cast<std::size_t>(*index)] = score->to_number<double>();
  }
  std::vector<double> out;
  for (const auto& score : scores) {
    if (!score) return mismatch();
    out.push_back(*score);
  }
  return out;
}

}  // namespace clawmark
