// Decisions, with their reason and what they settle.

#include <algorithm>

#include "base/utf8.h"
#include "models/graph/choice.h"
#include "models/rules/lexicon.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

// "For the shop we decided …": where the statement begins, and what it is for.
struct Lead {
  std::size_t begin = 0;
  Subject subject;
};

Lead read_lead(const Reading& reading, const Context& context) {
  constexpr std::size_t kLeadWordsMax = 5;
  Lead lead;
  const auto& words = context.words();
  if (context.is(0, {"for"})) {
    std::size_t at = 1;
    while (at < words.size() && at <= kLeadWordsMax && !words[at].is_pause &&
           !context.is(at, {"we", "we've", "i", "i've", "let's"})) {
      ++at;
    }
    if (at < words.size() && context.is(at, {"we", "we've", "i", "i've", "let's"})) {
      lead.begin = at;
      lead.subject = read_subject(context, {1, at});
    }
    return lead;
  }
  if (reading.at == 0) return lead;
  const Clause& before = reading.clauses[reading.at - 1];
  const std::size_t count = before.words.size();
  const bool fits = before.begin == reading.clause().begin && count > 1 &&
                    count <= kLeadWordsMax + 1 && before.words[0].lower == "for";
  if (!fits) return lead;
  const Context earlier{context.message, before, context.said, context.zone, context.found};
  lead.subject = read_subject(earlier, {1, count});
  return lead;
}

// Where "it" stands for what was just named ("Next: the newsletter. … to send it on …").
std::string with_referent(const Reading& reading, const Context& context, Span span) {
  std::string text(context.text(span));
  const auto& words = context.words();
  for (std::size_t at = span.first; at < span.last; ++at) {
    if (words[at].lower != "it" || reading.at == 0) continue;
    const GraphNode* named = nullptr;
    for (const auto& node : reading.out.nodes) {
      if (node.type == "task" && node.evidence[0].message == reading.message.message) named = &node;
    }
    if (named == nullptr) return {};
    const std::size_t offset = words[at].begin - words[span.first].begin;
    return text.replace(offset, 2, "the " + named->name);
  }
  for (std::size_t at = span.first; at < span.last; ++at) {
    if (rules::is_deictic(words[at].lower) && words[at].lower != "other") return {};
  }
  return text;
}

// "paint the door red instead of blue": it replaces "paint the door blue".
void read_instead(const Context& context, Span span, GraphNode& decision) {
  decision.choice = collapse_space(decision.name);
  for (std::size_t at = span.first + 1; at + 2 < span.last; ++at) {
    if (!context.is(at, {"instead"}) || !context.is(at + 1, {"of"})) continue;
    std::size_t end = at + 2;
    while (end < span.last && !context.words()[end].is_pause) ++end;
    const std::size_t count = end - at - 2;  // as many words make way
    if (span.first + count >= at) return;
    decision.choice = collapse_space(context.text({span.first, at}));
    decision.replaces = collapse_space(std::string(context.text({span.first, at - count})) + " " +
                                       std::string(context.text({at + 2, end})));
    return;
  }
}

// "paint the door red": a thing has one colour.
void read_color(const Context& context, Span span, GraphNode& decision) {
  std::size_t last = span.first;
  while (last < span.last && !context.words()[last].is_pause &&
         !context.is(last, {"instead", "and", "rather"})) {
    ++last;
  }
  if (!context.is(span.first, {"paint", "color", "dye"}) || last < span.first + 3) return;
  if (context.is(last, {"and"}) || !rules::is_color(context.words()[last - 1].lower)) return;
  decision.slot = fold_case(context.text({span.first, last - 1}));
}

// One person's choices are decisions when it is said what they settle: not every dinner.
bool settles_something(const Context& context, const Choice& choice) {
  const bool tool = !choice.parts.empty() && !kind_of(context, choice.parts[0]).empty();
  return tool || !choice.purpose.empty() || !choice.replaces.empty();
}

// "Vue for the shop and React for the admin page": where the second choice begins; `last` when
// there is one only.
std::size_t second_choice(const Context& context, std::size_t from, std::size_t last) {
  const auto& words = context.words();
  const auto is_purpose = [&](std::size_t at) { return context.is(at, {"for", "as", "in", "on"}); };
  bool purpose = false;
  for (std::size_t at = from; at + 3 < last; ++at) {
    purpose = purpose || is_purpose(at);
    if (!purpose || !context.is(at, {"and"})) continue;
    if (!names_something(context, {at + 1, at + 2})) continue;
    for (std::size_t next = at + 2; next < last && next < at + 5 && !words[next].is_pause; ++next) {
      if (is_purpose(next)) return at + 1;
    }
  }
  return last;
}

bool add_choice(Reading& reading, const Context& context, const Lead& lead, std::size_t from,
                bool outright) {
  const std::size_t reason = reason_at(context, from);
  const std::size_t second = second_choice(context, from, reason);
  Choice choice = read_choice(context, {from, second < reason ? second - 1 : reason});
  if (choice.chosen.empty() || context.is(from, {"to", "not"})) return false;
  if (!outright && !settles_something(context, choice)) return false;
  if (choice.subject.name.empty() && !choice.subject.unclear) choice.subject = lead.subject;
  const std::size_t verb = context.is(from - 1, {"with", "on", "for"}) ? from - 2 : from - 1;
  const std::size_t end = second < reason ? second - 1 : reason;
  add_choice_decision(reading, context, choice, context.text({verb, end}), reason);
  if (second == reason) return true;
  const Choice other = read_choice(context, {second, reason});
  if (other.chosen.empty()) return true;
  const std::string text = "use " + std::string(context.text({second, reason}));
  add_choice_decision(reading, context, other, text, reason);
  return true;
}

// "that we will use X", "use X": the word after the verb.
std::optional<std::size_t> use_after(const Context& context, std::size_t at) {
  if (context.is(at, {"that"})) ++at;
  if (context.is(at, {"we", "we'll", "i'll"})) ++at;
  if (context.is(at, {"will"})) ++at;
  if (context.is(at, {"use", "adopt", "choose"})) return at + 1;
  if (context.is(at, {"go"}) && context.is(at + 1, {"with"})) return at + 2;
  return std::nullopt;
}

bool find_chosen(Reading& reading, const Context& context, const Lead& lead) {
  static const Pattern kChose(
      "we|we've finally|just|have|also|now? finally|just|also? chose|picked|chosen *");
  static const Pattern kIChose(
      "i|i've finally|just|have|also|now? finally|just|also? chose|picked|chosen *");
  static const Pattern kGo(
      "we|we've|we'll|we're|i|i've|i'll|i'm have|just|now|finally|will? going|go|gone|went with *");
  static const Pattern kLet("let's go with|for *");
  static const Pattern kSettled(
      "we|we've|i|i've finally|just|have|also|now? decided|agreed|settled on|for *");
  const auto& words = context.words();
  if (const auto match = kChose.match(words, lead.begin)) {
    return add_choice(reading, context, lead, match->captures.back().first, true);
  }
  if (const auto match = kLet.match(words, lead.begin)) {
    const Span what = match->captures.back();
    bool named = names_something(context, {what.first, what.first + 1});
    for (std::size_t at = what.first; at < what.last; ++at) {
      named = named && !context.is(at, {"to", "and"});  // an outing
    }
    return add_choice(reading, context, lead, what.first, named);
  }
  for (const Pattern* pattern : {&kIChose, &kGo, &kSettled}) {
    const auto match = pattern->match(words, lead.begin);
    if (match && add_choice(reading, context, lead, match->captures.back().first, false)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool find_decision(Reading& reading, const Context& context) {
  static const Pattern kDecided(
      "we|we've finally|just|all|have|also|now|both? finally|just|all|also|now? decided|agreed to "
      "*");
  static const Pattern kIDecided(
      "i|i've finally|just|have|also|now? finally|just|also? decided to *");
  static const Pattern kThat(
      "we|we've finally|just|all|have|also|now|both? finally|just|all|also|now? decided|agreed "
      "that|on? *");
  static const Pattern kDecision("the|our? final? decision is|was to|that? *");
  const Lead lead = read_lead(reading, context);
  if (find_chosen(reading, context, lead)) return true;
  const auto& words = context.words();
  std::optional<std::size_t> from;
  bool one_person = false;
  if (const auto match = kDecided.match(words, lead.begin)) {
    from = match->captures.back().first;
  } else if (const auto mine = kIDecided.match(words, lead.begin)) {
    from = mine->captures.back().first;
    one_person = true;
  } else if (const auto that = kThat.match(words, lead.begin)) {
    from = that->captures.back().first;
  } else if (const auto noun = kDecision.match(words)) {
    from = noun->captures.back().first;
  } else if (words.size() > 3 && context.is(0, {"decision", "decided"}) && words[1].is_pause) {
    from = 2;
  }
  if (!from) return false;
  if (const auto used = use_after(context, *from)) {
    if (add_choice(reading, context, lead, *used, true)) return true;
  }
  if (!one_person && add_dated_decision(reading, context, *from)) return true;
  if (add_change(reading, context, *from, true) || add_stop(reading, context, *from, true)) {
    return true;
  }
  if (one_person) return false;
  const std::size_t reason = reason_at(context, *from);
  if (reason < *from + 2) return false;
  if (context.is(*from, {"the"}) && context.is(*from + 1, {"following", "next"})) return false;
  const std::string name = with_referent(reading, context, {*from, reason});
  if (name.empty()) return false;
  GraphNode decision;
  decision.name = name;
  read_instead(context, {*from, reason}, decision);
  read_color(context, {*from, reason}, decision);
  const bool change = !decision.replaces.empty();
  finish_decision(reading, context, std::move(decision), reason, change);
  return true;
}

}  // namespace clawmark::graph_rules
