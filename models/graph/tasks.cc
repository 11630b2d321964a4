// Work: what is to be done, by whom, how it stands, what is in its way.

#include <algorithm>

#include "base/utf8.h"
#include "models/graph/rules.h"
#include "models/rules/dates.h"
#include "models/rules/lexicon.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

constexpr std::string_view kWorkVerbs[] = {
    "write",   "send",   "fix",     "build",   "make",       "add",      "deploy", "implement",
    "test",    "finish", "prepare", "update",  "create",     "draft",    "review", "order",
    "print",   "check",  "migrate", "ship",    "refactor",   "document", "design", "publish",
    "install", "set",    "upload",  "book",    "clean",      "remove",   "rename", "replace",
    "rewrite", "debug",  "merge",   "release", "investigate"};

bool is_work_verb(const Context& context, std::size_t at) {
  return at < context.words().size() &&
         std::find(std::begin(kWorkVerbs), std::end(kWorkVerbs), context.words()[at].lower) !=
             std::end(kWorkVerbs);
}

GraphNode& add_task(Reading& reading, std::string name, std::string_view status) {
  GraphNode& node = add_node(reading, "task", std::move(name), rules::kPlain);
  node.status = std::string(status);
  return node;
}

// The nearest identifier in this clause or those before it in the message.
struct Named {
  std::string name;
  std::size_t clause = 0;
};
std::optional<Named> nearest_identifier(const Reading& reading) {
  for (std::size_t n = reading.at + 1; n-- > 0;) {
    const Clause& clause = reading.clauses[n];
    for (const auto& word : clause.words) {
      if (!is_identifier(word)) continue;
      return Named{reading.message.text.substr(word.begin, word.end - word.begin), n};
    }
  }
  return std::nullopt;
}

// "blocked by this": what was said just before.
bool add_blocker_before(Reading& reading) {
  if (reading.at == 0) return false;
  const auto named = nearest_identifier(reading);
  const Clause& before = reading.clauses[reading.at - 1];
  std::string name =
      named ? named->name
            : std::string(rules::words_text(reading.message.text, before, 0, before.words.size()));
  GraphNode& task = add_task(reading, std::move(name), "blocked");
  task.description =
      collapse_space(std::string_view(reading.message.text)
                         .substr(reading.clauses[0].begin, before.end - reading.clauses[0].begin));
  task.evidence = reading.evidence(0);
  const std::string title = "Blocked: " + task.name;
  const std::string node = task.name;
  GraphEpisode& episode = add_episode(reading, "blocker", title, 0.9);
  episode.nodes = {node};
  episode.evidence = reading.evidence(0);
  episode.description = collapse_space(reading.quote_from(0));
  return true;
}

}  // namespace

bool find_blocker(Reading& reading, const Context& context) {
  static const Pattern kUs("we|we're|i'm|i|work are|am|is|currently|still? blocked|stuck by|on *");
  static const Pattern kIt("{6} is|are|was still|currently|now? blocked by|on *");
  static const Pattern kBlocks("{6} blocks *"), kBlocking("{6} is|are blocking *");
  const auto& words = context.words();
  if (const auto match = kUs.match(words)) {
    const Span by = match->captures.back();
    if (context.is(by.first, {"this", "that", "it"})) return add_blocker_before(reading);
    const std::string name = thing(context, by, 8);
    if (name.empty()) return false;
    add_task(reading, name, "blocked");
    add_episode(reading, "blocker", "Blocked: " + name, 0.9).nodes = {name};
    return true;
  }
  const auto is_blocked = kIt.match(words);
  auto blocks = is_blocked ? std::nullopt : kBlocks.match(words);
  if (!is_blocked && !blocks) blocks = kBlocking.match(words);
  if (!is_blocked && !blocks) return false;
  const auto& match = is_blocked ? is_blocked : blocks;
  std::string what = thing(context, match->captures[0], 6);
  std::string by = thing(context, match->captures[1], 8);
  if (blocks) std::swap(what, by);
  if (what.empty() || by.empty()) return false;
  add_task(reading, what, "blocked");
  add_node(reading, "concept", by, rules::kPlain);
  add_edge(reading, "BLOCKED_BY", "task", what, "concept", by);
  add_episode(reading, "blocker", upper_first(what) + " is blocked by " + by, 0.9).nodes = {what,
                                                                                            by};
  return true;
}

bool find_status(Reading& reading, const Context& context) {
  struct Rule {
    Pattern pattern;
    std::string_view status;
    bool creates;
    bool solves;
  };
  static const std::vector<Rule> kRules = {
      {Pattern("{5} is|are|was|were now|finally|all|already? solved|fixed|resolved"), "done", false,
       true},
      {Pattern("{5} is|are|was|were now|finally|all|already? "
               "done|finished|completed|shipped|deployed|merged|released"),
       "done", false, false},
      {Pattern("{5} went through"), "done", false, false},
      {Pattern("{5} is|are now|finally? cancelled|canceled|dropped"), "cancelled", false, false},
      {Pattern("{5} is|are now|still? in progress"), "active", false, false},
      {Pattern("{5} is|are now|currently? on hold"), "pending", false, false},
      {Pattern("{5} is|are no|not longer? blocked"), "active", false, false},
      {Pattern("i've|i|we've|we have|just|finally|already? solved|fixed|resolved *"), "done", true,
       true},
      {Pattern("i've|i|we've|we have|just|finally|already? "
               "finished|completed|shipped|deployed|merged|released *"),
       "done", true, false},
      {Pattern("i've|i|we've|we have|just|finally|already? started working|work? on? *"), "active",
       true, false},
      {Pattern("i'm|we're now|currently|still? working on *"), "active", true, false},
      {Pattern("i've|i|we've|we have|just? cancelled|canceled *"), "cancelled", true, false},
  };
  for (const Rule& rule : kRules) {
    const auto match = rule.pattern.match(context.words());
    if (!match) continue;
    const Span span = match->captures.back();
    if (context.is(span.first, {"i", "we", "you", "i'm", "we're", "not"})) continue;
    const std::string name = thing(context, span, 5);
    if (name.empty()) return false;
    const bool hard = names_something(context, span) || is_identifier(context.words()[span.first]);
    if (!rule.creates || rule.status != "active") {
      // "not done", "almost done": no statement that it is.
      const std::size_t verb = span.last;
      if (!rule.creates && context.is(verb + 1, {"not", "almost", "nearly", "half"})) return false;
    }
    GraphNode& task = add_task(reading, name, rule.status);
    task.only_status = !rule.creates;
    if (rule.status == "done" && (hard || rule.creates)) {
      const std::string says = rule.solves                       ? " is solved"
                               : context.is(span.last, {"went"}) ? " went through"
                                                                 : " is done";
      add_episode(reading, rule.solves ? "breakthrough" : "completion", upper_first(name) + says,
                  rule.solves ? 0.85 : 0.75)
          .nodes = {name};
    }
    if (rule.creates && rule.status == "active") {
      by_speaker(reading, "ASSIGNED_TO", "task", name);
    }
    return true;
  }
  return false;
}

bool find_task(Reading& reading, const Context& context) {
  static const Pattern kNeed("we|i still|also? need|have to *");
  static const Pattern kWill("i'll|we'll|i|we will? *");
  static const Pattern kAssigned("{5} is|are assigned to *");
  static const Pattern kOwner("{2} is responsible for *");
  const auto& words = context.words();
  // "Next: the newsletter", "To do: …".
  std::size_t colon = 0;
  while (colon < words.size() && !words[colon].is_pause) ++colon;
  if (colon + 1 < words.size() && words[colon].lower == ":") {
    const bool marks =
        (colon == 1 && context.is(0, {"next", "todo", "task"})) ||
        (colon == 2 && context.is(0, {"next", "to"}) && context.is(1, {"step", "do", "task"}));
    if (marks) {
      const std::string name = thing(context, {colon + 1, words.size()}, 8);
      if (name.empty()) return false;
      add_task(reading, name, "pending");
      return true;
    }
  }
  if (const auto match = kAssigned.match(words)) {
    const std::string name = thing(context, match->captures[0], 5);
    const std::string who = thing(context, match->captures[1], 2);
    if (name.empty() || who.empty() || !words[match->captures[1].first].is_capital) return false;
    add_task(reading, name, "pending");
    add_node(reading, "person", who, rules::kPlain);
    add_edge(reading, "ASSIGNED_TO", "task", name, "person", who);
    return true;
  }
  if (const auto match = kOwner.match(words); match && words[0].is_capital) {
    const std::string who(context.text(match->captures[0]));
    const std::string name = thing(context, match->captures[1], 6);
    if (name.empty()) return false;
    add_task(reading, name, "pending");
    add_node(reading, "person", who, rules::kPlain);
    add_edge(reading, "ASSIGNED_TO", "task", name, "person", who);
    return true;
  }
  for (const Pattern* pattern : {&kNeed, &kWill}) {
    const auto match = pattern->match(words);
    if (!match) continue;
    const Span rest = match->captures.back();
    const bool promise = pattern == &kWill;
    if (promise && context.is(0, {"i", "we"}) && !context.is(1, {"will"})) continue;
    if (!is_work_verb(context, rest.first)) return false;
    const std::string name = thing(context, rest, 9);
    if (name.empty() || rest.first + 1 >= rest.last) return false;
    add_task(reading, name, "pending");
    if (context.is(0, {"i", "i'll"})) by_speaker(reading, "ASSIGNED_TO", "task", name);
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
