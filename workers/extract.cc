#include "workers/extract.h"

#include "base/limits.h"
#include "base/secrets.h"
#include "models/fact_key.h"

namespace clawmark {
namespace {

WindowOptions window_options(const Extractor& extractor, const ExtractOptions& options) {
  WindowOptions out;
  out.worker = "extract";
  out.completed_type = event_type::kExtractionCompleted;
  out.model = extractor.model();
  out.local = extractor.is_local();
  out.idle_hours = options.idle_hours;
  out.window_messages = options.window_messages == 0 ? kWindowMessages : options.window_messages;
  out.window_chars = kWindowChars;
  out.limits = options.limits;
  return out;
}

SpanAnswer span_answer(ExtractAnswer answer) {
  SpanAnswer out;
  out.cut = answer.cut;
  out.usage = answer.usage;
  out.extraction = std::move(answer);
  return out;
}

}  // namespace

std::vector<WindowMessage> window_of(std::span<const WorkItem> items) {
  std::vector<WindowMessage> window;
  window.reserve(items.size());
  for (const auto& item : items) window.push_back(item.window);
  return window;
}

HttpRequest ExtractWork::plan(std::span<const WorkItem> items) const {
  return extractor_->plan(window_of(items), zone_);
}

Result<SpanAnswer> ExtractWork::interpret(const Result<HttpResponse>& response,
                                          std::span<const WorkItem> items) {
  CLAWMARK_ASSIGN(auto answer, extractor_->interpret(response, window_of(items)));
  return span_answer(std::move(answer));
}

Result<SpanAnswer> ExtractWork::run_local(std::span<const WorkItem> items) {
  CLAWMARK_ASSIGN(auto answer, extractor_->extract_local(window_of(items), zone_));
  return span_answer(std::move(answer));
}

std::vector<WorkItem> ExtractWork::canary() const {
  WorkItem item;
  item.window.message = 1;
  item.window.role = "user";
  item.window.text = "hello";
  return {item};
}

ExtractPort::ExtractPort(Store& store, BodyStore& bodies, std::shared_ptr<Extractor> extractor,
                         const ExtractOptions& options)
    : WindowPort(store, bodies, window_options(*extractor, options)),
      extractor_(std::move(extractor)) {}

json::object ExtractPort::fact_json(ExtractedFact& fact, const MessageRow* fallback) const {
  json::array evidence;
  for (const auto& item : fact.evidence) {
    evidence.push_back(
        json::object{{"message", item.message}, {"quote", redact_secrets(item.quote)}});
  }
  const MessageRow* vouching = this->vouching(fact.evidence);
  if (vouching == nullptr) fact.verified = false;
  const MessageRow* from = vouching != nullptr ? vouching : fallback;
  const std::string holder = from != nullptr ? from->audience : "";
  json::object out{
      {"key", redact_secrets(fact.key)},
      {"value", redact_secrets(fact.value)},
      {"confidence", fact.confidence},
      {"replaces", redact_secrets(fact.replaces)},
      {"subject", from != nullptr ? fact_subject(fact.key, holder, from->sender) : ""},
      {"holder", holder},
      {"evidence", std::move(evidence)},
      {"verified", fact.verified},
      {"why", fact.why},
      {"observed_ms", (vouching != nullptr ? vouching->occurred : fact.observed).value},
      {"due_ms", fact.due ? fact.due->value : 0}};
  return out;
}

std::optional<NewEvent> ExtractPort::completed(const std::vector<const WorkItem*>& items,
                                               const SpanAnswer& given) const {
  ExtractAnswer answer = *given.extraction;
  if (extractor_->is_local() && answer.facts.empty() && answer.dropped == 0) return std::nullopt;
  std::vector<WindowMessage> window;
  const MessageRow* person = nullptr;
  for (const WorkItem* item : items) {
    window.push_back(item->window);
    if (item->window.role == "user") person = row_of(item->message);
  }
  verify_evidence(answer.facts, window);
  json::array facts;
  for (auto& fact : answer.facts) {
    if (facts.size() >= kFactsPerAnswerMax * (extractor_->is_local() ? 10 : 1)) break;
    facts.push_back(fact_json(fact, person));
  }
  NewEvent event = window_event(items, "extract", extractor_->prompt_version());
  event.payload["facts"] = std::move(facts);
  event.payload["dropped"] = answer.dropped;
  event.payload["usage"] = json::object{{"input_tokens", answer.usage.input_tokens},
                                        {"output_tokens", answer.usage.output_tokens}};
  return event;
}

}  // namespace clawmark
