// Changes of mind: one thing instead of another, and what is no longer used.

#include "base/utf8.h"
#include "models/graph/choice.h"
#include "models/rules/lexicon.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

struct Change {
  Span chosen, replaced, settles;  // empty: not said
  bool moves = false;              // also said of people and furniture
  bool swaps = false;              // and this of people and seats
};

std::optional<Change> read_change(const Context& context, std::size_t verb) {
  static const Pattern kFrom(
      "switch|switched|switching|change|changed|changing|move|moved|moving|migrate|migrated|"
      "migrating over? from {4} to *");
  static const Pattern kTo(
      "switch|switched|switching|move|moved|moving|migrate|migrated|migrating over|it|all? to *");
  static const Pattern kSettlesFrom(
      "switch|switched|switching|change|changed|changing|move|moved|moving|migrate|migrated|"
      "migrating the|our|my {4} from {4} to *");
  static const Pattern kSettles(
      "switch|switched|switching|change|changed|changing|move|moved|moving|migrate|migrated|"
      "migrating the|our|my {4} to *");
  static const Pattern kReplace("replace|replaced|replacing {4} with|by *");
  static const Pattern kSwap("swap|swapped|swapping {4} for *");
  static const Pattern kDrop(
      "drop|dropped|dropping|ditch|ditched|ditching|abandon|abandoned {4} in favor|favour of *");
  const auto& words = context.words();
  Change out;
  out.moves = context.is(verb, {"move", "moved", "moving"});
  if (const auto match = kSettlesFrom.match(words, verb)) {
    out.settles = match->captures[0];
    out.replaced = match->captures[1];
    out.chosen = match->captures[2];
    return out;
  }
  for (const Pattern* pattern : {&kFrom, &kReplace, &kSwap, &kDrop}) {
    const auto match = pattern->match(words, verb);
    if (!match) continue;
    out.swaps = pattern == &kSwap;
    out.replaced = match->captures[0];
    out.chosen = match->captures[1];
    return out;
  }
  if (const auto match = kTo.match(words, verb)) {
    out.chosen = match->captures[0];
    return out;
  }
  if (const auto match = kSettles.match(words, verb)) {
    out.settles = match->captures[0];
    out.chosen = match->captures[1];
    return out;
  }
  return std::nullopt;
}

}  // namespace

bool add_change(Reading& reading, const Context& context, std::size_t verb, bool decided) {
  const auto change = read_change(context, verb);
  if (!change) return false;
  const std::size_t reason = reason_at(context, change->chosen.first);
  Choice choice = read_choice(context, {change->chosen.first, reason});
  if (choice.chosen.empty() || choice.parts.empty()) return false;
  const bool named = names_something(context, choice.parts[0]);
  const bool tool = !kind_of(context, choice.parts[0]).empty();
  const bool has_replaced = change->replaced.last > change->replaced.first;
  const bool has_settled = change->settles.last > change->settles.first;
  if (has_replaced) {
    choice.replaces = thing(context, change->replaced, 4);
    if (choice.replaces.empty()) return false;
  }
  // People move from town to town, and furniture to the left: only what is known to be a tool.
  if (change->moves && !tool && !(has_settled && named)) return false;
  if (!decided && (!named || (change->swaps && !tool))) return false;
  if (!has_replaced && !has_settled && !named) return false;
  choice.is_change = true;
  if (has_settled) {
    const std::string settled = thing(context, change->settles, 4);
    if (settled.empty()) return false;
    if (!tool || is_role(settled)) {
      choice.purpose = settled;
    } else {
      choice.subject = {settled, true, false};
    }
  }
  if (choice_name(context, choice).empty() && choice.replaces.empty() && !tool) return false;
  const std::string text = has_replaced ? "replace " + choice.replaces + " with " + choice.chosen +
                                              for_subject(choice.subject)
                           : has_settled ? std::string(context.text({verb, reason}))
                                         : "move to " + choice.chosen;
  add_choice_decision(reading, context, choice, text, reason);
  return true;
}

bool add_stop(Reading& reading, const Context& context, std::size_t verb, bool decided) {
  static const Pattern kStop("stop|stopped|quit using *"), kNoLonger("no longer use|using *");
  static const Pattern kDont("don't use *"), kNot("not to use *");
  static const Pattern kDrop("drop|dropped|ditch|ditched|abandon|abandoned|remove|removed *");
  std::optional<rules::Match> match;
  bool drops = false, ends = true, was_used = true;
  for (const Pattern* pattern : {&kStop, &kNoLonger, &kDont, &kNot, &kDrop}) {
    match = pattern->match(context.words(), verb);
    if (!match) continue;
    drops = pattern == &kDrop;
    was_used = pattern != &kNot;
    if (pattern == &kNot && !decided) return false;
    // "We don't use Stripe" was perhaps never otherwise.
    if (pattern == &kDont) ends = false;
    break;
  }
  if (!match) return false;
  const Span object = match->captures.back();
  for (std::size_t at = object.first; at < object.last; ++at) {
    ends = ends || context.is(at, {"any_more"});
  }
  const std::size_t reason = reason_at(context, object.first);
  const Choice choice = read_choice(context, {object.first, reason});
  if (choice.chosen.empty() || choice.parts.size() != 1) return false;
  const std::string kind = kind_of(context, choice.parts[0]);
  if (kind.empty() && (drops || !names_something(context, choice.parts[0]))) return false;
  if (!kind.empty() && !choice.subject.unclear) {
    GraphEdge& edge =
        add_edge(reading, "DEPENDS_ON", "project", kProject, "component", choice.chosen);
    edge.slot = slot_for(kind, choice.subject.name);
    edge.closes = true;
  }
  if (ends) {
    GraphNode decision;
    decision.name =
        (was_used ? "no longer use " : "not use ") + choice.chosen + for_subject(choice.subject);
    // By its name it would end what was chosen for something else, too.
    if (choice.subject.name.empty() && !choice.subject.unclear) decision.replaces = choice.chosen;
    finish_decision(reading, context, std::move(decision), reason, true);
  }
  return ends || !kind.empty();
}

// "we moved to X", "we replaced X with Y", "we use X", "we no longer use X".
bool find_move(Reading& reading, const Context& context) {
  static const Pattern kChanged(
      "we|we've|we're|we'll|let's have? just|now|recently|already|finally|also? "
      "switch|switched|switching|change|changed|changing|move|moved|moving|migrate|migrated|"
      "migrating|replace|replaced|replacing|swap|swapped|swapping|drop|dropped|dropping|ditch|"
      "ditched|ditching|abandon|abandoned");
  static const Pattern kStopped(
      "we|we've have? finally|just|now|recently|already? "
      "no|stopped|quit|don't|dropped|ditched|abandoned|removed");
  static const Pattern kUse("we currently|now|only|still|always|all|mostly|also? use *");
  const auto& words = context.words();
  if (const auto match = kChanged.match(words)) {
    if (add_change(reading, context, match->end - 1, false)) return true;
  }
  if (const auto match = kStopped.match(words)) {
    return add_stop(reading, context, match->end - 1, false);
  }
  const auto match = kUse.match(words);
  if (!match) return false;
  const Span object = match->captures.back();
  const Choice choice = read_choice(context, {object.first, reason_at(context, object.first)});
  const std::size_t before = reading.out.nodes.size();
  for (const Span part : choice.parts) {
    if (kind_of(context, part).empty()) return false;  // only what is known to be a tool
  }
  add_components(reading, context, choice, {});
  return reading.out.nodes.size() > before;
}

}  // namespace clawmark::graph_rules
