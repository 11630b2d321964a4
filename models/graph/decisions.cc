// Decisions with their reason, what is used, and what happens when.

#include <algorithm>

#include "base/utf8.h"
#include "models/graph/rules.h"
#include "models/rules/dates.h"
#include "models/rules/lexicon.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

constexpr char kProject[] = "project";  // the one a conversation is about, while it has no name

// "because …", "since …", "due to …": where the reason begins; size() when there is none.
std::size_t reason_at(const Context& context, std::size_t from) {
  const auto& words = context.words();
  for (std::size_t at = from; at < words.size(); ++at) {
    if (context.is(at, {"because", "since", "cause"})) return at;
    if (context.is(at, {"due"}) && context.is(at + 1, {"to"})) return at;
    if (context.is(at, {"so"}) && context.is(at + 1, {"that"})) return at;
  }
  return words.size();
}

struct Choice {
  std::string chosen, purpose, replaces;
  std::vector<Span> parts;  // "Flask", "SQLite"
};

// What follows "use", "go with", "switch to": the thing, what it is for, what it replaces.
Choice read_choice(const Context& context, Span span) {
  const auto& words = context.words();
  Choice out;
  std::size_t last = span.first;
  while (last < span.last && !words[last].is_pause &&
         !context.is(last, {"as", "for", "instead", "over", "rather", "not", "because", "since",
                            "on", "in", "from", "so"})) {
    ++last;
  }
  const Span what{span.first, last};
  if (last == span.first) return out;
  out.chosen = thing(context, what, 6);
  Span part{what.first, what.first};
  for (std::size_t at = what.first; at <= what.last; ++at) {
    const bool border = at == what.last || context.is(at, {"with", "and", "plus"});
    if (!border) continue;
    part.last = at;
    if (part.last > part.first) out.parts.push_back(part);
    part.first = at + 1;
  }
  for (std::size_t at = last; at < span.last; ++at) {
    const std::size_t after = context.is(at, {"instead", "rather"}) ? at + 2 : at + 1;
    if (context.is(at, {"as"})) {
      out.purpose = thing(context, {at + 1, span.last}, 4);
    } else if (context.is(at, {"instead", "rather", "over", "not"})) {
      std::size_t end = after;
      while (end < span.last && !words[end].is_pause && !context.is(end, {"as", "for", "because"}))
        ++end;
      if (after < end) out.replaces = thing(context, {after, end}, 4);
    }
  }
  return out;
}

// The tool or name that stands alone in a part; its kind is what it settles.
std::string kind_of(const Context& context, Span part) {
  for (std::size_t at = part.first; at < part.last; ++at) {
    if (const auto kind = rules::tool_kind(context.words()[at].lower)) {
      return std::string(kind->kind);
    }
  }
  return {};
}

// Components of a choice, and that the project rests on them.
void add_components(Reading& reading, const Context& context, const Choice& choice,
                    const std::string& decision) {
  for (const Span part : choice.parts) {
    const std::string name = thing(context, part, 3);
    if (name.empty() || !names_something(context, part)) continue;
    add_node(reading, "component", name, rules::kPlain);
    if (!decision.empty()) {
      add_edge(reading, "AFFECTS", "decision", decision, "component", name);
    }
    const std::string kind = kind_of(context, part);
    if (kind.empty()) continue;
    GraphNode& project = add_node(reading, "project", kProject, rules::kPlain);
    project.description.clear();
    add_edge(reading, "DEPENDS_ON", "project", kProject, "component", name).slot = kind;
  }
}

std::string decision_slot(const Context& context, const Choice& choice) {
  if (!choice.purpose.empty()) return choice.purpose;
  return choice.parts.size() == 1 ? kind_of(context, choice.parts[0]) : std::string();
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

void finish_decision(Reading& reading, const Context& context, GraphNode decision,
                     std::size_t reason) {
  if (reason < context.words().size()) {
    const std::size_t from = reason + (context.is(reason, {"due", "so"}) ? 2 : 1);
    decision.reason = std::string(context.text({from, context.words().size()}));
  }
  const std::string name = decision.name;
  const bool change = !decision.replaces.empty();
  const double salience = change ? 0.9 : decision.reason.empty() ? 0.8 : 0.85;
  GraphNode& node = add_node(reading, "decision", name, rules::kOutright);
  node.reason = std::move(decision.reason);
  node.slot = std::move(decision.slot);
  node.choice = std::move(decision.choice);
  node.replaces = std::move(decision.replaces);
  add_episode(reading, change ? "plan_change" : "decision", name, salience).nodes = {name};
  by_speaker(reading, "DECIDED_BY", "decision", name);
}

// "use Stripe as the payment provider" and its like, from word `from` on.
bool add_choice(Reading& reading, const Context& context, std::size_t from) {
  const std::size_t reason = reason_at(context, from);
  const Choice choice = read_choice(context, {from, reason});
  if (choice.chosen.empty()) return false;
  GraphNode decision;
  decision.choice = choice.chosen;
  decision.replaces = choice.replaces;
  decision.slot = decision_slot(context, choice);
  decision.name = decision.slot.empty() ? std::string(context.text({from - 1, reason}))
                                        : decision.slot + ": " + choice.chosen;
  const std::string name = collapse_space(decision.name);
  finish_decision(reading, context, std::move(decision), reason);
  add_components(reading, context, choice, name);
  return true;
}

}  // namespace

bool find_decision(Reading& reading, const Context& context) {
  static const Pattern kUse(
      "we|we've|i|i've finally|just|all|have|eventually? decided|agreed to use|adopt|choose *");
  static const Pattern kChose("we|we've finally|just|have? chose|picked|chosen *");
  static const Pattern kGo(
      "we|we've|let's|we'll|we're have|just|now|finally? going|go|gone|went with *");
  static const Pattern kSettled("we|we've finally|just|have? settled on|for *");
  for (const Pattern* pattern : {&kUse, &kChose, &kGo, &kSettled}) {
    const auto match = pattern->match(context.words());
    if (match && add_choice(reading, context, match->captures.back().first)) return true;
  }
  static const Pattern kDecided(
      "we|we've finally|just|all|have? decided|agreed|decided to|that|on *");
  static const Pattern kDecision("the|our? final? decision is|was to|that? *");
  const auto& words = context.words();
  std::optional<std::size_t> from;
  if (const auto match = kDecided.match(words)) from = match->captures.back().first;
  if (const auto match = kDecision.match(words); match && !from)
    from = match->captures.back().first;
  if (!from && words.size() > 3 && context.is(0, {"decision", "decided"}) && words[1].is_pause) {
    from = 2;
  }
  if (!from) return false;
  const std::size_t reason = reason_at(context, *from);
  if (reason < *from + 2) return false;
  if (context.is(*from, {"the"}) && context.is(*from + 1, {"following", "next"})) return false;
  const std::string name = with_referent(reading, context, {*from, reason});
  if (name.empty()) return false;
  GraphNode decision;
  decision.name = name;
  finish_decision(reading, context, std::move(decision), reason);
  return true;
}

bool find_move(Reading& reading, const Context& context) {
  static const Pattern kMovedFrom(
      "we've|we have|just|now|recently|already|finally? moved|switched|migrated from {3} to *");
  static const Pattern kMoved(
      "we've|we have|just|now|recently|already|finally? moved|switched|migrated over|it|all? to *");
  static const Pattern kUse("we currently|now|only|still|always|all|mostly|also? use *");
  static const Pattern kStopped("we|we've no|stopped|don't|dropped|removed longer|using|use? *");
  const auto& words = context.words();
  for (const Pattern* pattern : {&kMovedFrom, &kMoved}) {
    const auto match = pattern->match(words);
    if (!match) continue;
    const std::size_t from = match->captures.back().first;
    const std::size_t reason = reason_at(context, from);
    const Choice choice = read_choice(context, {from, reason});
    if (choice.parts.empty() || !names_something(context, choice.parts[0])) return false;
    GraphNode decision;
    decision.choice = choice.chosen;
    decision.slot = decision_slot(context, choice);
    if (pattern == &kMovedFrom) decision.replaces = thing(context, match->captures[0], 3);
    if (decision.choice.empty() || (decision.slot.empty() && decision.replaces.empty())) {
      return false;
    }
    decision.name =
        decision.slot.empty() ? "move to " + choice.chosen : decision.slot + ": " + choice.chosen;
    const std::string name = collapse_space(decision.name);
    finish_decision(reading, context, std::move(decision), reason);
    add_components(reading, context, choice, name);
    return true;
  }
  if (const auto match = kUse.match(words)) {
    const Span object = match->captures.back();
    const Choice choice = read_choice(context, {object.first, reason_at(context, object.first)});
    const std::size_t before = reading.out.nodes.size();
    for (const Span part : choice.parts) {
      if (kind_of(context, part).empty()) return false;  // only what is known to be a tool
    }
    add_components(reading, context, choice, {});
    return reading.out.nodes.size() > before;
  }
  if (const auto match = kStopped.match(words)) {
    const Span object = match->captures.back();
    if (!rules::tool_kind(words[object.first].lower)) return false;
    const std::string name = thing(context, {object.first, object.first + 1}, 1);
    GraphEdge& edge = add_edge(reading, "DEPENDS_ON", "project", kProject, "component", name);
    edge.slot = kind_of(context, {object.first, object.first + 1});
    edge.closes = true;
    return true;
  }
  return false;
}

// "the premiere is on 6 December", "the shop opens on …", "posters come on …": one at a time.
bool find_dated(Reading& reading, const Context& context) {
  static const Pattern kEvent(
      "{4} is|are|starts|begins|opens|closes|ends|leaves|arrives|happens|comes|come|takes|moved "
      "place|been|now|due|scheduled|planned|set? for|on|to|at|by? *");
  const auto match = kEvent.match(context.words());
  if (!match) return false;
  const auto date = rules::find_date(
      context.clause, match->captures.back().first > 0 ? match->captures.back().first - 1 : 0,
      context.said, context.zone);
  if (!date || date->words.first > match->captures.back().first + 2) return false;
  const std::string what = thing(context, match->captures[0], 4);
  if (what.empty() ||
      context.is(match->captures[0].last - 1, {"weather", "day", "weekend", "week", "thing"})) {
    return false;
  }
  const std::size_t verb = match->captures[0].last;
  const bool named_verb =
      context.is(verb, {"starts", "begins", "opens", "closes", "ends", "leaves", "arrives"});
  const std::string slot = named_verb ? what + " " + context.words()[verb].lower : what;
  // "2026-11-20 18:00 +00:00": the zone is that of all answers.
  std::string day = date->text;
  if (const auto blank = day.rfind(' ');
      blank != std::string::npos && (day[blank + 1] == '+' || day[blank + 1] == '-')) {
    day.resize(blank);
  }
  GraphNode& node = add_node(reading, "constraint", slot + ": " + day, rules::kPlain);
  node.slot = slot;
  node.choice = day;
  node.due = date->at;
  const std::size_t reason = reason_at(context, verb);
  if (reason < context.words().size()) {
    const std::size_t from = reason + (context.is(reason, {"due", "so"}) ? 2 : 1);
    node.reason = std::string(context.text({from, context.words().size()}));
  }
  return true;
}

}  // namespace clawmark::graph_rules
