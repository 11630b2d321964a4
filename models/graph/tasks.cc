// Work that is to be done, and who is to do it.

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "models/graph/work.h"
#include "models/rules/dates.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

void add_pending(Reading& reading, const TaskName& named) {
  GraphNode& task = add_task(reading, named.name, "pending");
  task.due = named.due;
  if (!named.alias.empty()) task.aliases = {named.alias};
}

// Fields of work that have names like people: "Billing", "Support".
bool is_field(const Context& context, Span span) {
  constexpr std::array<std::string_view, 26> kFields = {
      "support",  "sales",   "finance",   "legal",    "design",   "frontend",   "backend",
      "payments", "search",  "checkout",  "security", "ops",      "operations", "qa",
      "hr",       "docs",    "website",   "infra",    "research", "logistics",  "press",
      "catering", "tickets", "front-end", "back-end", "devops"};
  const std::string& word = context.words()[span.last - 1].lower;
  return std::find(kFields.begin(), kFields.end(), word) != kFields.end() ||
         (word.size() > 5 && (word.ends_with("ing") || word.ends_with("tion") ||
                              word.ends_with("ment") || word.ends_with("ics")));
}

bool is_group(const Context& context, Span span) {
  return context.is(span.last - 1,
                    {"team", "project", "group", "department", "squad", "desk", "crew"});
}

// One or two capitalised words without a number: "Noa", "Gregor Hahn".
bool is_like_person(const Context& context, Span span) {
  if (span.last - span.first > 3 || is_field(context, span) || is_group(context, span)) {
    return false;
  }
  for (std::size_t at = span.first; at < span.last; ++at) {
    const auto& word = context.words()[at];
    if (!word.is_capital || word.lower.find_first_of("0123456789_/.") != std::string::npos ||
        is_identifier(word) || context.is(at, {"the", "our", "my", "a", "everyone", "nobody"})) {
      return false;
    }
  }
  return true;
}

struct Assignment {
  std::string who, what;
  bool is_field = false;  // one of several works there
};

Span without_trailing(const Context& context, Span span) {
  while (span.last > span.first + 1 &&
         context.is(span.last - 1, {"any_more", "now", "again", "too", "already", "today"})) {
    --span.last;
  }
  return span;
}

// Which of the two is who; nullopt: both could be, or none.
std::optional<Assignment> read_assignment(const Context& context, Span a, Span b) {
  a = without_trailing(context, a);
  b = without_trailing(context, b);
  const bool first = is_like_person(context, a), second = is_like_person(context, b);
  if (first == second) return std::nullopt;
  const Span who = first ? a : b, what = first ? b : a;
  Assignment out;
  out.who = context.text(who);
  out.what = thing(context, what, 6);
  const bool bare = !context.is(what.first, {"the", "our", "my", "a", "an"});
  out.is_field = is_group(context, what) ||
                 (bare && context.words()[what.first].is_capital && is_field(context, what));
  if (out.what.empty()) return std::nullopt;
  return out;
}

void assign(Reading& reading, const Assignment& found) {
  if (found.is_field) {
    add_node(reading, "person", found.who, rules::kPlain);
    add_node(reading, "component", found.what, rules::kPlain);
    add_edge(reading, "ASSIGNED_TO", "person", found.who, "component", found.what);
    return;
  }
  add_task(reading, found.what, "pending");
  add_node(reading, "person", found.who, rules::kPlain);
  add_edge(reading, "ASSIGNED_TO", "task", found.what, "person", found.who);
}

void unassign(Reading& reading, const Assignment& found) {
  if (found.is_field) {
    add_edge(reading, "ASSIGNED_TO", "person", found.who, "component", found.what).closes = true;
  }
  add_edge(reading, "ASSIGNED_TO", "task", found.what, "person", found.who).closes = true;
}

bool find_assigned(Reading& reading, const Context& context) {
  static const Pattern kAssigned("{5} is|are|was|were now|also|again? assigned to *");
  static const Pattern kResponsible("{2} is now|also? responsible for *");
  static const Pattern kEnded("{5} is|are no longer assigned|responsible to|for *");
  static const Pattern kNot("{5} is|are|isn't|aren't not? assigned|responsible to|for *");
  static const Pattern kTakenOff("{3} is|was|has been? taken|pulled off *");
  const auto& words = context.words();
  for (const Pattern* pattern : {&kEnded, &kNot, &kTakenOff}) {
    const auto match = pattern->match(words);
    if (!match) continue;
    bool negated = pattern != &kNot, any_more = false;
    const Span rest = match->captures[1];
    for (std::size_t at = match->captures[0].last; at < rest.last; ++at) {
      negated = negated || context.is(at, {"not", "isn't", "aren't"});
      any_more = any_more || context.is(at, {"any_more"});
    }
    if (!negated) continue;
    if (pattern == &kNot && !any_more) return false;  // perhaps it never was
    const auto found = read_assignment(context, match->captures[0], rest);
    if (!found) return false;
    unassign(reading, *found);
    return true;
  }
  for (const Pattern* pattern : {&kAssigned, &kResponsible}) {
    const auto match = pattern->match(words);
    if (!match) continue;
    if (context.is(match->captures[0].last, {"was", "were"}) && !context.clause.is_first) {
      return false;
    }
    const auto found = read_assignment(context, match->captures[0], match->captures[1]);
    if (!found) return false;
    assign(reading, *found);
    return true;
  }
  return false;
}

// "Next: the newsletter", and other words before a colon.
std::optional<Span> listed_span(const Context& context) {
  const auto& words = context.words();
  std::size_t colon = 0;
  while (colon < words.size() && !words[colon].is_pause) ++colon;
  if (colon + 1 >= words.size() || words[colon].lower != ":") return std::nullopt;
  const bool marks =
      (colon == 1 && context.is(0, {"next", "todo", "task", "to-do"})) ||
      (colon == 2 && context.is(0, {"next", "to"}) && context.is(1, {"step", "do", "task", "up"}));
  if (!marks) return std::nullopt;
  return Span{colon + 1, words.size()};
}

}  // namespace

bool find_task(Reading& reading, const Context& context) {
  static const Pattern kNeed("we|i still|also|now? need|have to *");
  static const Pattern kWill("i'll|we'll *"), kShall("i|we will *");
  static const Pattern kRemember("to *");
  const auto& words = context.words();
  if (const auto listed = listed_span(context)) {
    const auto named = listed_name(context, *listed);
    if (!named) return false;
    add_pending(reading, *named);
    return true;
  }
  if (find_assigned(reading, context)) return true;
  for (const Pattern* pattern : {&kNeed, &kWill, &kShall, &kRemember}) {
    // "Remember to call Jonas".
    if (pattern == &kRemember && !context.clause.is_explicit) continue;
    const auto match = pattern->match(words);
    if (!match) continue;
    const Span rest = match->captures.back();
    if (pattern != &kRemember && is_errand_verb(words[rest.first].lower)) return false;
    const auto named = task_name(context, rest);
    if (!named) return false;
    add_pending(reading, *named);
    if (context.is(0, {"i", "i'll"})) by_speaker(reading, "ASSIGNED_TO", "task", named->name);
    return true;
  }
  // "Migration 0007 tomorrow at 8": a numbered thing, and when.
  const bool numbered = words.size() >= 3 && words[0].is_capital && !words[0].is_pause &&
                        words[1].lower.find_first_of("0123456789") != std::string::npos;
  if (numbered && context.is(2, {"today", "tonight", "tomorrow", "on", "monday", "tuesday",
                                 "wednesday", "thursday", "friday", "saturday", "sunday"})) {
    const auto date = rules::find_date(context.clause, 2, context.said, context.zone);
    if (!date) return false;
    GraphNode& task = add_task(reading, std::string(context.text({0, 2})), "pending");
    task.due = date->at;
    return true;
  }
  return false;
}

bool find_failure(Reading& reading, const Context& context) {
  static const Pattern kFails("the|our {4} fails|failed|crashes|crashed|broke");
  const auto match = kFails.match(context.words());
  if (!match) return false;
  const std::string what = thing(context, match->captures[0], 4);
  if (what.empty()) return false;
  const std::string verb(context.words()[match->captures[0].last].lower);
  add_episode(reading, "error", upper_first(what) + " " + verb, 0.6);
  return true;
}

}  // namespace clawmark::graph_rules
