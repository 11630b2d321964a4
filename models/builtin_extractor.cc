// The extractor that needs no model: rules for what people state outright. It would rather miss
// than guess.

#include <algorithm>

#include "base/limits.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "models/evidence.h"
#include "models/model.h"
#include "models/rules/context.h"
#include "models/rules/lexicon.h"

namespace clawmark {
namespace {

using rules::Clause;
using rules::Context;
using rules::Finding;
using rules::Pattern;
using rules::Span;

constexpr std::size_t kPastedBytes =
    3000;  // a message this long is mostly pasted: only "remember …" counts in it

// How a value reads to a correction: "no, it's 9091" corrects a number, not a name.
enum class ValueShape { kNumber, kTool, kName, kWords };

ValueShape shape_of(std::string_view value) {
  if (value.find_first_of("0123456789") == 0) return ValueShape::kNumber;
  if (rules::tool_kind(lower_ascii(value.substr(0, value.find(' '))))) return ValueShape::kTool;
  const bool capital = !value.empty() && value[0] >= 'A' && value[0] <= 'Z';
  return capital ? ValueShape::kName : ValueShape::kWords;
}

class Extraction {
 public:
  explicit Extraction(std::string_view zone) : zone_(zone) {}

  void read(const WindowMessage& message) {
    const bool pasted = message.text.size() > kPastedBytes;
    for (const Clause& clause : rules::split_clauses(message.text)) {
      if (pasted && !clause.is_explicit) continue;
      std::vector<Finding> found;
      const Context context{message.text, clause, message.at, zone_, found};
      apply(context, message);
      for (Finding& finding : found) keep(message, clause, std::move(finding));
    }
  }

  std::vector<ExtractedFact> take() { return std::move(facts_); }

 private:
  void apply(const Context& context, const WindowMessage& message) {
    if (rules::find_schedule(context) || rules::find_identity(context) ||
        rules::find_preference(context) || rules::find_project(context) ||
        rules::find_instruction(context)) {
      return;
    }
    if (find_correction(context, message)) return;
    rules::find_note(context);
  }

  // "no, it's 9091", "actually it's Postgres", "not 9090 but 9091": of the newest fact of the same
  // person here whose value has the same shape, or is the one that is denied.
  bool find_correction(const Context& context, const WindowMessage& message) {
    static const Pattern kIts("it's|its|that's|make now|actually|supposed|meant? to? be? *");
    static const Pattern kItIs("it is *"), kMakeIt("make it|that *"), kShould("it should be *");
    static const Pattern kNotBut("not {4} but *"), kNotIts("it's not {4} it's *");
    static const Pattern kItsNotBut("it's not {4} but *");
    for (const Pattern* pattern : {&kNotBut, &kItsNotBut, &kNotIts}) {
      if (const auto match = pattern->match(context.words())) {
        return replace(context, message, match->captures[0], match->captures[1]);
      }
    }
    if (!context.clause.is_correction) return false;
    for (const Pattern* pattern : {&kIts, &kItIs, &kMakeIt, &kShould}) {
      const auto match = pattern->match(context.words());
      if (!match) continue;
      const auto& words = context.words();
      const Span rest = match->captures.back();
      // "it's X, not Y": Y is the old value.
      if (rest.last + 1 < words.size() && context.is(rest.last + 1, {"not"})) {
        return replace(context, message, Span{rest.last + 2, words.size()}, rest);
      }
      return replace(context, message, std::nullopt, rest);
    }
    return false;
  }

  bool replace(const Context& context, const WindowMessage& message, std::optional<Span> old_value,
               Span new_value) {
    const auto object = rules::object_of(context, new_value, 5);
    if (!object) return false;
    Span value_span = *object;
    if (context.is(value_span.first, {"the", "a", "an"}) && value_span.last > value_span.first + 1)
      ++value_span.first;
    const std::string value(context.text(value_span));
    const std::string old_text = old_value ? lower_ascii(context.text(*old_value)) : "";
    for (auto fact = facts_.rbegin(); fact != facts_.rend(); ++fact) {
      if (fact->subject != message.sender || fact->due) continue;
      const bool denied = !old_text.empty() && lower_ascii(fact->value) == old_text;
      const bool alike = old_text.empty() && shape_of(fact->value) == shape_of(value) &&
                         shape_of(value) != ValueShape::kWords;
      if (!denied && !alike) continue;
      context.add(fact->key, value, rules::kPlain);
      return true;
    }
    return false;
  }

  void keep(const WindowMessage& message, const Clause& clause, Finding finding) {
    const bool hidden =
        finding.value.find("[secret") != std::string::npos || !is_valid_utf8(finding.value);
    if (finding.key.empty() || finding.value.empty() || hidden) return;
    if (key_holds_secret(finding.key)) return;
    if (finding.key.size() > kFactKeyMax || count_code_points(finding.value) > kFactValueMax)
      return;
    ExtractedFact fact;
    fact.key = std::move(finding.key);
    fact.value = collapse_space(finding.value);
    fact.confidence = finding.confidence;
    fact.due = finding.due;
    fact.replaces = collapse_space(finding.replaces);
    fact.observed = message.at;
    fact.subject = message.sender;
    fact.evidence = {
        {message.message, message.text.substr(clause.begin, clause.end - clause.begin)}};
    const bool again = std::any_of(facts_.begin(), facts_.end(), [&](const ExtractedFact& other) {
      return other.key == fact.key && other.value == fact.value && other.subject == fact.subject &&
             other.evidence[0].message == message.message;
    });
    if (!again) facts_.push_back(std::move(fact));
  }

  std::string_view zone_;
  std::vector<ExtractedFact> facts_;
};

class BuiltinExtractor final : public Extractor {
 public:
  std::string model() const override { return "builtin-rules"; }
  std::string prompt_version() const override { return "rules-1"; }
  bool is_local() const override { return true; }

  Result<ExtractAnswer> extract_local(std::span<const WindowMessage> window,
                                      std::string_view zone) override {
    Extraction extraction(zone);
    for (const WindowMessage& message : window) {
      if (is_person(message)) extraction.read(message);
    }
    ExtractAnswer answer;
    answer.facts = extraction.take();
    for (ExtractedFact& fact : answer.facts)
      fact.verified = true;  // quotes are the message's own bytes
    return answer;
  }

  HttpRequest plan(std::span<const WindowMessage>, std::string_view) const override { return {}; }

  Result<ExtractAnswer> interpret(const Result<HttpResponse>&,
                                  std::span<const WindowMessage>) const override {
    return make_error(ErrorKind::kFatal, "extract", "local",
                      "the built-in extractor answers without a request");
  }
};

}  // namespace

std::unique_ptr<Extractor> make_builtin_extractor() {
  return std::make_unique<BuiltinExtractor>();
}

}  // namespace clawmark
