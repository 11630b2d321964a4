#include <cmath>

#include "base/limits.h"
#include "models/answer_parser.h"
#include "models/model.h"
#include "tests/fuzz/targets.h"

namespace clawmark::fuzz {
namespace {

EndpointOptions endpoint() {
  EndpointOptions options;
  options.url = "http://model.test/v1";
  options.model = "m";
  options.api_key = "sk-fuzz-0123456789";
  return options;
}

void check_vectors(std::string_view data) {
  const auto embedder = make_endpoint_embedder(endpoint());
  HttpResponse response;
  response.status = data.size() % 5 == 0 ? 500 : 200;
  response.body = std::string(data);
  const auto answer = embedder->interpret(response, 3);
  if (!answer.ok()) return;
  require(answer->vectors.size() == 3, "one vector or none for each text");
  for (const auto& vector : answer->vectors) {
    double squares = 0;
    for (const float x : vector.value_or(Vector{1.0F})) {
      require(std::isfinite(x), "vectors are finite");
      squares += static_cast<double>(x) * static_cast<double>(x);
    }
    require(std::abs(squares - 1) < 1e-3, "vectors have unit length");
  }
}

void check_facts(std::string_view data) {
  const auto extractor = make_endpoint_extractor(endpoint());
  WindowMessage message;
  message.message = 7;
  message.role = "user";
  message.text = "I use helix";
  HttpResponse response;
  response.status = 200;
  response.body = std::string(data);
  const auto answer = extractor->interpret(response, {&message, 1});
  if (!answer.ok()) return;
  require(answer->facts.size() <= kFactsPerAnswerMax, "facts of an answer are bounded");
  for (const auto& fact : answer->facts) {
    for (const auto& evidence : fact.evidence) {
      require(!fact.verified || evidence.message == 7, "verified evidence is of the window");
    }
  }
}

}  // namespace

void fuzz_answer(std::string_view data) {
  const ParsedAnswer parsed = parse_answer(data);
  require(parsed.found || parsed.facts.empty(), "no facts without a list of facts");
  for (const auto& fact : parsed.facts) {
    const double confidence = fact.confidence.value_or(0);
    require(confidence >= 0 && confidence <= 1, "confidence is between 0 and 1");
  }
  check_vectors(data);
  check_facts(data);
  (void)parse_retry_after(data, {1'795'000'000'000});
}

}  // namespace clawmark::fuzz
