// Choices: what was taken, what for, instead of what.

#include "models/graph/choice.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "models/rules/dates.h"
#include "models/rules/lexicon.h"

namespace clawmark::graph_rules {
namespace {

// Where the next thing that is said of a choice begins.
bool is_border(const Context& context, std::size_t at) {
  return context.is(at, {"as", "for", "instead", "over", "rather", "not", "because", "since", "on",
                         "in", "from", "so"});
}

std::size_t border_after(const Context& context, std::size_t from, std::size_t last) {
  std::size_t at = from;
  while (at < last && !context.words()[at].is_pause && !is_border(context, at)) ++at;
  return at;
}

bool is_subject_word(const Context& context, std::size_t at) {
  return context.is(at, {"for", "in", "on"});
}

// "for now", "for the lower fees", "in the meeting": no subject.
bool names_no_subject(const Context& context, Span span) {
  return context.is(span.first, {"january", "february", "march", "april", "may", "june", "july",
                                 "august", "september", "october", "november", "december"}) ||
         context.is(span.first,
                    {"now", "its", "their", "better", "lower", "easier", "faster", "more", "good",
                     "sure", "example", "instance", "all", "version"}) ||
         context.is(
             span.last - 1,
             {"now",     "everything", "everyone",  "us",          "me",         "project",
              "future",  "end",        "beginning", "moment",      "being",      "meantime",
              "run",     "meeting",    "call",      "workshop",    "time",       "speed",
              "fees",    "price",      "prices",    "cost",        "costs",      "reasons",
              "reason",  "support",    "safety",    "performance", "security",   "simplicity",
              "license", "first",      "principle", "general",     "reliability"});
}

// "main database" and "database" are one.
std::string plain_purpose(const Context& context, Span span) {
  while (span.first + 1 < span.last &&
         context.is(span.first, {"the", "a", "an", "our", "my", "its", "main", "primary", "new",
                                 "default", "current", "only"})) {
    ++span.first;
  }
  return thing(context, span, 4);
}

// "as agreed", "as planned", "as well": says nothing of what it is for.
bool says_role(const Context& context, std::size_t at) {
  return !context.is(
      at, {"agreed", "planned",   "discussed", "usual",    "before", "well", "soon", "long",
           "we",     "i",         "it",        "he",       "she",    "they", "you",  "always",
           "said",   "suggested", "proposed",  "promised", "far",    "of",   "if",   "there"});
}

void read_replaced(const Context& context, std::size_t at, std::size_t last, Choice& out) {
  const bool spelled = context.is(at, {"instead", "rather"});
  if (spelled && !context.is(at + 1, {"of", "than"})) return;
  const Span other{at + (spelled ? 2 : 1), border_after(context, at + (spelled ? 2 : 1), last)};
  if (other.first >= other.last) return;
  if (context.is(other.last - 1, {"weekend", "week", "month", "year", "summer", "winter"})) return;
  const std::string name = thing(context, other, 4);
  if (name.empty()) return;
  out.replaces = name;
  out.is_change = context.is(at, {"instead"});
}

}  // namespace

std::size_t reason_at(const Context& context, std::size_t from) {
  const auto& words = context.words();
  for (std::size_t at = from; at < words.size(); ++at) {
    if (context.is(at, {"because", "since", "cause"})) return at;
    if (context.is(at, {"due"}) && context.is(at + 1, {"to"})) return at;
    if (context.is(at, {"so"}) && context.is(at + 1, {"that"})) return at;
  }
  return words.size();
}

std::string reason_text(const Context& context, std::size_t reason) {
  if (reason >= context.words().size()) return {};
  const std::size_t from = reason + (context.is(reason, {"due", "so"}) ? 2 : 1);
  return std::string(context.text({from, context.words().size()}));
}

Subject read_subject(const Context& context, Span span) {
  Subject out;
  if (span.first >= span.last || names_no_subject(context, span)) return out;
  const auto date = rules::find_date(context.clause, span.first - 1, context.said, context.zone);
  if (date && date->words.first <= span.first) return out;
  out.name = thing(context, span, 5);
  out.unclear = out.name.empty();
  out.is_definite = context.is(span.first, {"the", "our", "my"});
  return out;
}

Choice read_choice(const Context& context, Span span) {
  Choice out;
  const std::size_t last = border_after(context, span.first, span.last);
  if (last == span.first) return out;
  Span what{span.first, last};
  while (what.last > what.first + 1 && context.is(what.last - 1, {"only", "just", "simply"})) {
    --what.last;
  }
  out.chosen = thing(context, what, 6);
  Span part{what.first, what.first};
  for (std::size_t at = what.first; at <= what.last; ++at) {
    const bool ends = at == what.last || context.is(at, {"with", "and", "plus"});
    if (!ends) continue;
    part.last = at;
    if (part.last > part.first) out.parts.push_back(part);
    part.first = at + 1;
  }
  for (std::size_t at = last; at < span.last; ++at) {
    const std::size_t next = border_after(context, at + 1, span.last);
    if (context.is(at, {"as"}) && at + 1 < next && says_role(context, at + 1)) {
      if (out.purpose.empty()) out.purpose = plain_purpose(context, {at + 1, next});
    } else if (is_subject_word(context, at) && out.subject.name.empty()) {
      out.subject = read_subject(context, {at + 1, next});
    } else if (context.is(at, {"instead", "rather", "over", "not"}) && out.replaces.empty()) {
      read_replaced(context, at, span.last, out);
    }
  }
  if (out.purpose.empty() && is_role(out.subject.name)) {  // "Hetzner for the hosting"
    out.purpose = out.subject.name;
    out.subject = {};
  }
  return out;
}

bool is_role(std::string_view name) {
  constexpr std::array<std::string_view, 14> kRoles = {
      "provider", "database", "db",    "framework", "library", "language", "hosting",
      "host",     "cache",    "queue", "editor",    "shell",   "browser",  "tracker"};
  const std::string lower = fold_case(name);
  const std::string_view last = std::string_view(lower).substr(
      lower.find_last_of(' ') == std::string::npos ? 0 : lower.find_last_of(' ') + 1);
  return std::find(kRoles.begin(), kRoles.end(), last) != kRoles.end();
}

std::string kind_of(const Context& context, Span part) {
  for (std::size_t at = part.first; at < part.last; ++at) {
    if (const auto kind = rules::tool_kind(context.words()[at].lower)) {
      return std::string(kind->kind);
    }
  }
  return {};
}

std::string settled_by(const Context& context, const Choice& choice) {
  std::string kind = choice.parts.size() == 1 ? kind_of(context, choice.parts[0]) : std::string();
  if (kind.empty() && choice.is_change && choice.parts.size() == 1) {
    if (const auto other = rules::tool_kind(fold_case(choice.replaces))) kind = other->kind;
  }
  if (choice.purpose.empty()) return kind;
  std::string joined = fold_case(choice.purpose);
  std::replace(joined.begin(), joined.end(), ' ', '_');
  return joined == kind ? kind : choice.purpose;
}

std::string slot_for(const std::string& settled, const std::string& subject) {
  // "Postgres for the database" settles the database.
  const bool itself = subject.empty() || fold_case(subject) == fold_case(settled);
  return itself ? settled : settled + " for " + subject;
}

std::string slot_of(const Context& context, const Choice& choice) {
  if (choice.subject.unclear) return {};
  const std::string settled = settled_by(context, choice);
  const std::string& subject = choice.subject.name;
  if (!settled.empty()) return slot_for(settled, subject);
  if (subject.empty() || choice.parts.size() != 1) return {};
  // Nothing says what it is: it settles the place that it, or the one before it, has there.
  const bool replaces = choice.is_change && !choice.replaces.empty();
  if (!replaces && !names_something(context, choice.parts[0])) return {};
  return (replaces ? choice.replaces : choice.chosen) + " for " + subject;
}

std::string for_subject(const Subject& subject) {
  if (subject.name.empty()) return {};
  return std::string(" for ") + (subject.is_definite ? "the " : "") + subject.name;
}

std::string choice_name(const Context& context, const Choice& choice) {
  const std::string settled = settled_by(context, choice);
  if (settled.empty() || choice.subject.unclear) return {};
  const bool itself = fold_case(choice.subject.name) == fold_case(settled);
  return settled + (itself ? "" : for_subject(choice.subject)) + ": " + choice.chosen;
}

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
    if (kind.empty() || choice.subject.unclear) continue;
    GraphNode& project = add_node(reading, "project", kProject, rules::kPlain);
    project.description.clear();
    add_edge(reading, "DEPENDS_ON", "project", kProject, "component", name).slot =
        slot_for(kind, choice.subject.name);
  }
}

void finish_decision(Reading& reading, const Context& context, GraphNode decision,
                     std::size_t reason, bool is_change) {
  decision.reason = reason_text(context, reason);
  const std::string name = decision.name;
  const double salience = is_change ? 0.9 : decision.reason.empty() ? 0.8 : 0.85;
  GraphNode& node = add_node(reading, "decision", name, rules::kOutright);
  node.reason = std::move(decision.reason);
  node.slot = std::move(decision.slot);
  node.choice = std::move(decision.choice);
  node.replaces = std::move(decision.replaces);
  add_episode(reading, is_change ? "plan_change" : "decision", name, salience).nodes = {name};
  by_speaker(reading, "DECIDED_BY", "decision", name);
}

void add_choice_decision(Reading& reading, const Context& context, const Choice& choice,
                         std::string_view verb_text, std::size_t reason) {
  GraphNode decision;
  decision.choice = choice.chosen;
  decision.slot = slot_of(context, choice);
  // What is replaced is known by its name alone, whatever it was for: with a subject of its own
  // only the slot tells. What was merely not taken ("over", "not") was perhaps never in use.
  const bool by_name = choice.subject.name.empty() && (choice.is_change || decision.slot.empty());
  if (by_name) decision.replaces = choice.replaces;
  decision.name = choice_name(context, choice);
  if (decision.name.empty()) decision.name = verb_text;
  const std::string name = collapse_space(decision.name);
  finish_decision(reading, context, std::move(decision), reason, choice.is_change);
  add_components(reading, context, choice, name);
}

}  // namespace clawmark::graph_rules
