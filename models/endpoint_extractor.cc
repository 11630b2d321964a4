// Any server that speaks OpenAI's POST /v1/chat/completions.

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "models/answer_parser.h"
#include "models/chat.h"
#include "models/evidence.h"
#include "models/extract_prompt.h"
#include "models/fact_key.h"
#include "models/model.h"

namespace clawmark {
namespace {

constexpr double kConfidenceUnsaid = 0.8;  // of an item without one

// Two different keys of one answer that the rule maps to one: the one that was legal as written
// stays, the others are dropped rather than merged.
class KeyGuard {
 public:
  std::optional<std::string> admit(const std::string& raw) {
    auto legal = normal_fact_key(raw);
    if (!legal) return std::nullopt;
    const auto [at, fresh] = owners_.emplace(*legal, raw);
    if (!fresh && at->second != raw) return std::nullopt;
    return legal;
  }
  void prefer(const std::string& raw) {
    if (const auto legal = normal_fact_key(raw); legal && *legal == raw) owners_[*legal] = raw;
  }

 private:
  std::map<std::string, std::string> owners_;  // legal key → as the model wrote it
};

std::optional<ExtractedFact> to_fact(const ParsedFact& item, KeyGuard& keys) {
  ExtractedFact fact;
  const auto key = keys.admit(item.key);
  if (!key || key_holds_secret(item.key) || key_holds_secret(*key)) return std::nullopt;
  fact.key = *key;
  fact.value = redact_secrets(trim(item.value));
  if (fact.value.empty() || count_code_points(fact.value) > kFactValueMax) return std::nullopt;
  fact.confidence = item.confidence.value_or(kConfidenceUnsaid);
  for (const ParsedEvidence& evidence : item.evidence) {
    fact.evidence.push_back({evidence.message.value_or(0), redact_secrets(evidence.quote)});
  }
  if (!item.due.empty()) {
    std::string due = item.due;
    if (const std::size_t gap = due.find(" +"); gap != std::string::npos) due.erase(gap, 1);
    if (const std::size_t gap = due.find(" -"); gap != std::string::npos) due.erase(gap, 1);
    fact.due = parse_iso(due);
  }
  return fact;
}

class EndpointExtractor final : public Extractor {
 public:
  explicit EndpointExtractor(const EndpointOptions& options) : chat_(options, "extract") {}

  std::string model() const override { return chat_.name(); }
  std::string prompt_version() const override { return std::string(kPromptVersion); }
  bool is_local() const override { return false; }

  Result<ExtractAnswer> extract_local(std::span<const WindowMessage>, std::string_view) override {
    return make_error(ErrorKind::kFatal, "extract", "not_local", "this extractor asks an endpoint");
  }

  HttpRequest plan(std::span<const WindowMessage> window, std::string_view zone) const override;
  Result<ExtractAnswer> interpret(const Result<HttpResponse>& response,
                                  std::span<const WindowMessage> window) const override;

 private:
  Chat chat_;
};

HttpRequest EndpointExtractor::plan(std::span<const WindowMessage> window,
                                    std::string_view zone) const {
  return chat_.request(extract_instructions(zone), transcript_block(window, zone), true);
}

Result<ExtractAnswer> EndpointExtractor::interpret(const Result<HttpResponse>& response,
                                                   std::span<const WindowMessage> window) const {
  CLAWMARK_ASSIGN(const ChatReply reply, chat_.read(response));
  const ParsedAnswer parsed = parse_answer(reply.content);
  if (!parsed.found) return chat_.no_answer(reply.cut, "no JSON list of facts in it");

  ExtractAnswer answer;
  answer.usage = reply.usage;
  answer.cut = parsed.cut || reply.cut;
  answer.dropped = parsed.dropped;
  KeyGuard keys;
  for (const ParsedFact& item : parsed.facts) keys.prefer(item.key);
  for (const ParsedFact& item : parsed.facts) {
    auto fact = answer.facts.size() < kFactsPerAnswerMax ? to_fact(item, keys) : std::nullopt;
    if (!fact) {
      ++answer.dropped;
      continue;
    }
    find_evidence(*fact, window);
    answer.facts.push_back(*std::move(fact));
  }
  verify_evidence(answer.facts, window);
  return answer;
}

}  // namespace

std::unique_ptr<Extractor> make_endpoint_extractor(const EndpointOptions& options) {
  return std::make_unique<EndpointExtractor>(options);
}

}  // namespace clawmark
