// What is in the way of work, and when it no longer is.

#include <algorithm>

#include "base/utf8.h"
#include "models/graph/work.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

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

// "Migration 0008", "E-SEAT-409", "write the release notes": the name of a task.
bool names_task(const Context& context, Span span) {
  while (span.first + 1 < span.last && context.is(span.first, {"the", "our", "my"})) ++span.first;
  const auto& words = context.words();
  if (is_identifier(words[span.first])) return true;
  if (!work_verb(words[span.first].lower).empty() && span.last > span.first + 1) return true;
  return span.last >= span.first + 2 && words[span.first].is_capital &&
         words[span.first + 1].lower.find_first_of("0123456789") != std::string::npos;
}

// What stands in the way goes by one name, also when it is work itself.
std::string_view blocker_type(Reading& reading, const Context& context, Span span,
                              const std::string& name) {
  for (const auto& node : reading.out.nodes) {
    if (node.type == "task" && fold_case(node.name) == fold_case(name)) return "task";
  }
  return names_task(context, span) ? "task" : "concept";
}

void end_blocker(Reading& reading, const std::string& what, const std::string& by) {
  if (!what.empty()) add_status(reading, what, "active", {});
  if (by.empty()) return;
  if (what.empty()) {
    add_status(reading, by, "done", {"fix"});
    return;
  }
  for (const std::string_view type : {"concept", "task"}) {
    add_edge(reading, "BLOCKED_BY", "task", what, type, by).closes = true;
  }
}

// The words after "by" or "on", without "any more"; empty: not said.
std::string blocker_after(const Context& context, std::size_t at) {
  if (!context.is(at, {"by", "on"})) return {};
  return thing(context, {at + 1, context.words().size()}, 8);
}

bool says_any_more(const Context& context) {
  for (std::size_t at = 0; at < context.words().size(); ++at) {
    if (context.is(at, {"any_more"})) return true;
  }
  return false;
}

bool find_end(Reading& reading, const Context& context) {
  static const Pattern kUsNoLonger("we|we're|i'm|i are|am|now? no longer blocked|stuck by|on");
  static const Pattern kUsNot("we|we're|i'm|i aren't|not not? blocked|stuck by|on");
  static const Pattern kNoLonger("{6} is|are no longer blocked|stuck");
  static const Pattern kNot("{6} is|are|isn't|aren't not? blocked|stuck");
  static const Pattern kUnblocked(
      "{6} is|are|was|were|got|has|have been? now|finally|again? unblocked");
  static const Pattern kStopped("{6} is|are no longer blocking *");
  static const Pattern kBlocksNot("{6} no longer blocks|block *");
  static const Pattern kDoesnt("{6} doesn't|don't block *");
  static const Pattern kWorks("{4} works|work|runs|run now|again");
  const auto& words = context.words();
  for (const Pattern* pattern : {&kUsNoLonger, &kUsNot}) {
    const auto match = pattern->match(words);
    if (!match || (pattern == &kUsNot && !says_any_more(context))) continue;
    const std::string by = blocker_after(context, match->end - 1);
    if (by.empty()) return false;
    end_blocker(reading, {}, by);
    return true;
  }
  for (const Pattern* pattern : {&kNoLonger, &kNot, &kUnblocked}) {
    const auto match = pattern->match(words);
    if (!match) continue;
    bool negated = pattern != &kNot;
    for (std::size_t at = match->captures[0].last; at < match->end; ++at) {
      negated = negated || context.is(at, {"not", "isn't", "aren't"});
    }
    if (!negated) continue;
    const std::string what = thing(context, match->captures[0], 6);
    if (what.empty()) return false;
    end_blocker(reading, what, blocker_after(context, match->end));
    return true;
  }
  for (const Pattern* pattern : {&kStopped, &kBlocksNot, &kDoesnt}) {
    const auto match = pattern->match(words);
    if (!match || (pattern == &kDoesnt && !says_any_more(context))) continue;
    const std::string by = thing(context, match->captures[0], 8);
    const bool us = context.is(match->captures[1].first, {"us", "me"});
    const std::string what = us ? "" : thing(context, match->captures[1], 6);
    if (by.empty() || (what.empty() && !us)) return false;
    end_blocker(reading, what, by);
    return true;
  }
  // "the export works now": whatever was in its way is not any longer.
  if (const auto match = kWorks.match(words)) {
    const Span span = match->captures[0];
    const std::string what = thing(context, span, 4);
    const bool definite = context.is(span.first, {"the", "our"}) || names_something(context, span);
    if (what.empty() || !definite) return false;
    add_status(reading, what, "done", {"fix"});
    return true;
  }
  return false;
}

}  // namespace

bool find_blocker(Reading& reading, const Context& context) {
  static const Pattern kUs("we|we're|i'm|i|work are|am|is|currently|still? blocked|stuck by|on *");
  static const Pattern kIt("{6} is|are|was still|currently|now? blocked by|on *");
  static const Pattern kBlocks("{6} blocks *"), kBlocking("{6} is|are blocking *");
  const auto& words = context.words();
  if (find_end(reading, context)) return true;
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
  Span what_at = match->captures[0], by_at = match->captures[1];
  if (blocks) std::swap(what_at, by_at);
  if (blocks) {  // "three blocks away", "our road blocks": only of things that are spoken of
    for (const Span span : {what_at, by_at}) {
      const bool definite = context.is(span.first, {"the", "our", "my"}) ||
                            names_something(context, {span.first, span.first + 1});
      if (!definite && span.first != 0) return false;
    }
  }
  const std::string what = thing(context, what_at, 6), by = thing(context, by_at, 8);
  if (what.empty() || by.empty()) return false;
  add_task(reading, what, "blocked");
  const std::string_view type = blocker_type(reading, context, by_at, by);
  add_node(reading, type, by, rules::kPlain);
  add_edge(reading, "BLOCKED_BY", "task", what, type, by);
  add_episode(reading, "blocker", upper_first(what) + " is blocked by " + by, 0.9).nodes = {what,
                                                                                            by};
  return true;
}

}  // namespace clawmark::graph_rules
