// How tasks stand: done, under way, given up, open again.

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "models/graph/work.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

using Verbs = std::vector<std::string_view>;

// Whose thing is done with it: sent, shipped, made.
bool is_terminal(std::string_view verb) {
  constexpr std::array<std::string_view, 8> kTerminal = {"send",   "publish", "print", "ship",
                                                         "deploy", "release", "merge", "upload"};
  return is_making_verb(verb) ||
         std::find(kTerminal.begin(), kTerminal.end(), verb) != kTerminal.end();
}

bool is_repair(std::string_view verb) {
  return verb == "fix" || verb == "solve" || verb == "resolve";
}

// The verbs that a task may go under whose thing was so treated.
Verbs verbs_of(std::string_view verb) {
  if (verb.empty() || is_making_verb(verb)) return {};
  if (is_repair(verb) && verb != "fix") return {verb, "fix"};
  return {verb};
}

// Something definite of one's own work: not every book that was finished.
bool is_definite(const Context& context, Span span) {
  const auto& word = context.words()[span.first];
  if (context.text(span).find_first_of("\"\xE2") != std::string_view::npos) return false;
  const bool article = context.is(span.first, {"the", "our", "my", "all", "both"}) &&
                       !word.is_capital && span.last > span.first + 1;
  const bool number = word.lower.find_first_not_of("0123456789,.%") == std::string::npos;
  return article || (!number && names_something(context, {span.first, span.first + 1}));
}

void add_done_episode(Reading& reading, const std::string& name, std::string_view says,
                      bool breakthrough) {
  add_episode(reading, breakthrough ? "breakthrough" : "completion",
              upper_first(name) + std::string(says), breakthrough ? 0.85 : 0.75)
      .nodes = {name};
}

// "the invoice is done", "Migration 0007 went through".
bool find_thing_done(Reading& reading, const Context& context) {
  static const Pattern kIs(
      "{5} is|are|was|were|has|have been? now|finally|all|already|both? "
      "done|finished|completed|solved|fixed|resolved|shipped|deployed|merged|released|written|sent|"
      "built|made|implemented|tested|updated|created|reviewed|printed|checked|migrated|refactored|"
      "documented|published|uploaded|installed|booked|ordered|rewritten");
  static const Pattern kWent("{5} went through|out");
  const auto& words = context.words();
  auto match = kIs.match(words);
  const bool went = !match;
  if (went) match = kWent.match(words);
  if (!match) return false;
  const Span span = match->captures.back();
  if (context.is(span.first, {"i", "we", "you", "i'm", "we're", "not"})) return false;
  const std::string name = thing(context, span, 5);
  if (name.empty()) return false;
  const std::string& last = words[match->end - 1].lower;
  if (went && last == "out" && match->end < words.size() && !words[match->end].is_pause) {
    return false;  // "went out with"
  }
  const bool done = last == "done" || went;
  const std::string_view verb = done ? "" : work_verb_of_participle(last);
  Verbs verbs = verbs_of(verb);
  if (went && last == "out") verbs = {"send"};
  if (!done && !is_terminal(verb) && !is_repair(verb)) {
    add_status_of_work(reading, name, "done", verbs);  // there is more to it than a look at it
    return true;
  }
  add_status(reading, name, "done", verbs);
  const bool told = done || is_repair(verb) || last == "finished" || last == "completed" ||
                    last == "shipped" || last == "deployed" || last == "merged" ||
                    last == "released";
  const bool hard = names_something(context, span) || is_identifier(words[span.first]);
  if (told && hard) {
    add_done_episode(reading, name,
                     is_repair(verb)             ? " is solved"
                     : went && last == "through" ? " went through"
                                                 : " is done",
                     is_repair(verb));
  }
  return true;
}

// "I fixed the login page".
bool find_work_done(Reading& reading, const Context& context) {
  static const Pattern kDid(
      "i've|i|we've|we have|just|finally|already|also? just|finally|already? "
      "finished|completed|solved|fixed|resolved|shipped|deployed|merged|released|wrote|written|"
      "sent|built|made|implemented|tested|updated|created|reviewed|printed|checked|migrated|"
      "refactored|documented|published|uploaded|installed|booked|ordered|rewrote|rewritten|added|"
      "prepared|drafted|cleaned|removed|renamed|replaced|debugged *");
  const auto match = kDid.match(context.words());
  if (!match) return false;
  Span span = match->captures.back();
  if (context.is(span.first, {"i", "we", "you", "i'm", "we're", "not"})) return false;
  const auto named = listed_name(context, span);
  if (!named) return false;
  if (!is_definite(context, span) && !context.is(span.first, {"a", "an"})) return false;
  const std::string& name = named->name;
  const std::string& past = context.words()[span.first - 1].lower;
  std::string_view verb = work_verb_of_past(past);
  if (verb.empty()) verb = work_verb_of_participle(past);
  const bool tells = is_repair(verb) || verb == "finish" || verb == "complete" || verb == "ship" ||
                     verb == "deploy" || verb == "merge" || verb == "release";
  if (tells && is_definite(context, span)) {
    add_task(reading, name, "done");
    add_done_episode(reading, name, is_repair(verb) ? " is solved" : " is done", is_repair(verb));
    add_status_of_work(reading, name, "done", verbs_of(verb));
  } else if (is_terminal(verb) || is_repair(verb)) {
    add_status(reading, name, "done", verbs_of(verb));
  } else {
    add_status_of_work(reading, name, "done", verbs_of(verb));
  }
  return true;
}

// "the price list is not done after all", "E-SEAT-409 is open again".
bool find_reopened(Reading& reading, const Context& context) {
  static const Pattern kNot(
      "{5} is|are|isn't|aren't|wasn't|was not? "
      "done|finished|completed|complete|solved|fixed|resolved|sent|merged|released|deployed");
  static const Pattern kAgain("{5} is|are|was|were open|broken|reopened|back again?");
  const auto& words = context.words();
  const auto match = kNot.match(words);
  const auto again = match ? std::nullopt : kAgain.match(words);
  if (!match && !again) return false;
  const std::size_t end = (match ? match : again)->end;
  if (match) {
    bool negated = false, takes_back = context.clause.is_correction;
    for (std::size_t at = match->captures[0].last; at < end; ++at) {
      negated = negated || context.is(at, {"not", "isn't", "aren't", "wasn't"});
    }
    for (std::size_t at = end; at < words.size(); ++at) {
      takes_back = takes_back || context.is(at, {"any_more"}) ||
                   (context.is(at, {"after"}) && context.is(at + 1, {"all"}));
    }
    if (!negated || !takes_back) return false;  // "is not done": perhaps it never was
  } else if (!context.is(end - 1, {"again", "reopened"})) {
    return false;
  }
  const Span span = (match ? match : again)->captures[0];
  const std::string name = thing(context, span, 5);
  if (name.empty()) return false;
  const std::string_view verb = work_verb_of_participle(words[end - 1].lower);
  add_status(reading, name, "pending", match ? verbs_of(verb) : Verbs{"fix"});
  return true;
}

// What a person is at, with an end: not "reading", "a project".
bool is_under_way(const Context& context, Span span) {
  const bool gerund = context.words()[span.first].lower.ends_with("ing");
  std::size_t noun = span.first;
  while (noun + 1 < span.last && context.is(noun, {"the", "our", "my", "a", "an"})) ++noun;
  const bool generic =
      span.last <= noun + 2 &&
      context.is(span.last - 1, {"project", "projects", "thing", "things", "stuff", "myself",
                                 "book", "skills", "design", "writing", "homework"});
  const bool definite = context.is(span.first, {"the", "our", "my", "a", "an"}) ||
                        names_something(context, {span.first, span.first + 1});
  return !gerund && !generic && definite;
}

}  // namespace

bool find_status(Reading& reading, const Context& context) {
  struct Rule {
    Pattern pattern;
    std::string_view status;
  };
  static const std::vector<Rule> kStates = {
      {Pattern("{5} is|are|was|were now|finally? cancelled|canceled|dropped"), "cancelled"},
      {Pattern("{5} is|are now|still? in progress"), "active"},
      {Pattern("{5} is|are now|currently? on hold"), "pending"},
  };
  static const Pattern kWorking(
      "i'm|we're|i've|i|we started|now|currently|still? started? working|work on *");
  static const Pattern kStarted("i've|i|we've|we have|just|finally|already? started on? *");
  static const Pattern kCancelled("i've|i|we've|we have|just? cancelled|canceled *");
  if (find_reopened(reading, context) || find_thing_done(reading, context) ||
      find_work_done(reading, context)) {
    return true;
  }
  for (const Rule& rule : kStates) {
    const auto match = rule.pattern.match(context.words());
    if (!match) continue;
    const std::string name = thing(context, match->captures.back(), 5);
    if (name.empty()) return false;
    add_status(reading, name, rule.status, {});
    return true;
  }
  for (const Pattern* pattern : {&kWorking, &kStarted, &kCancelled}) {
    const auto match = pattern->match(context.words());
    if (!match) continue;
    const Span span = match->captures.back();
    if (context.is(span.first, {"with", "to", "at", "in", "by", "working"})) return false;
    const std::string name = thing(context, span, 5);
    if (name.empty()) return false;
    const bool cancelled = pattern == &kCancelled;
    if (!cancelled && !is_under_way(context, span)) return false;
    if (pattern == &kStarted && !context.is(span.first, {"the", "our"})) return false;
    add_task(reading, name, cancelled ? "cancelled" : "active");
    if (!cancelled) by_speaker(reading, "ASSIGNED_TO", "task", name);
    return true;
  }
  return false;
}

}  // namespace clawmark::graph_rules
