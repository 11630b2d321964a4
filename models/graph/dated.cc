// What happens when: one date at a time.

#include <array>

#include "base/utf8.h"
#include "models/graph/choice.h"
#include "models/rules/dates.h"
#include "models/rules/pattern.h"

namespace clawmark::graph_rules {
namespace {

using rules::FoundDate;
using rules::Pattern;

// "2026-11-20 18:00 +00:00": the zone is that of all answers.
std::string day_of(const FoundDate& date) {
  std::string day = date.text;
  if (const auto blank = day.rfind(' ');
      blank != std::string::npos && (day[blank + 1] == '+' || day[blank + 1] == '-')) {
    day.resize(blank);
  }
  return day;
}

GraphNode& add_date(Reading& reading, const Context& context, const std::string& slot,
                    const FoundDate& date, std::size_t reason) {
  const std::string day = day_of(date);
  GraphNode& node = add_node(reading, "constraint", slot + ": " + day, rules::kPlain);
  node.slot = slot;
  node.choice = day;
  node.due = date.at;
  node.reason = reason_text(context, reason);
  return node;
}

// What happens once, with the noun of it.
struct Event {
  std::string_view verb, third_person, noun;
};
constexpr std::array<Event, 7> kEvents = {{{"launch", "launches", "launch"},
                                           {"relaunch", "relaunches", "relaunch"},
                                           {"release", "releases", "release"},
                                           {"open", "opens", "opening"},
                                           {"start", "starts", "start"},
                                           {"close", "closes", "closing"},
                                           {"end", "ends", "end"}}};

// "the launch date", "the date of the launch": the launch.
std::string event_of(const Context& context, Span what) {
  if (context.is(what.first, {"the"}) && context.is(what.first + 1, {"date", "day"}) &&
      context.is(what.first + 2, {"of", "for"}) && what.first + 3 < what.last) {
    what.first += 3;
  } else if (context.is(what.last - 1, {"date"}) && what.last > what.first + 1 &&
             !(what.last == what.first + 2 && context.is(what.first, {"the", "our", "a", "my"}))) {
    --what.last;
  }
  return thing(context, what, 4);
}

// Of one's own plans: when its date moves, somebody decided so.
bool is_planned(std::string_view event) {
  for (const std::string_view noun : {"launch", "relaunch", "release", "premiere", "opening",
                                      "go-live", "rollout", "kick-off", "kickoff"}) {
    if (event == noun || event.ends_with(" " + std::string(noun))) return true;
  }
  return false;
}

void add_plan_change(Reading& reading, const Context& context, const std::string& name,
                     const std::string& slot, const FoundDate& date, std::size_t reason,
                     bool is_change) {
  GraphNode decision;
  decision.name = name;
  decision.slot = slot;
  decision.choice = day_of(date);
  finish_decision(reading, context, std::move(decision), reason, is_change);
}

// The date after the last "to": "from 5 to 8 December".
std::optional<FoundDate> date_moved_to(const Context& context, std::size_t from) {
  for (std::size_t at = context.words().size(); at-- > from;) {
    if (!context.is(at, {"to", "until", "till", "for"})) continue;
    const auto date = rules::find_date(context.clause, at + 1, context.said, context.zone);
    if (date && date->words.first <= at + 2) return date;
  }
  return std::nullopt;
}

// "the premiere was moved to 8 December", "we postponed the launch to …".
bool find_moved(Reading& reading, const Context& context) {
  static const Pattern kPassive(
      "{5} is|are|was|were|has|have|had|got been? now|just|also? "
      "moved|postponed|delayed|rescheduled|pushed|shifted|deferred|brought|extended");
  static const Pattern kActive("{4} moved|moves|slipped|slips back|forward? to|until|till *");
  static const Pattern kWe(
      "we|we've|i|i've have|just|now|also? just? "
      "moved|postponed|delayed|rescheduled|pushed|shifted|deferred|brought the|our|my {4} "
      "back|forward|from|to|until|till");
  const auto ours = kWe.match(context.words());
  auto match = ours ? ours : kPassive.match(context.words());
  if (!match) match = kActive.match(context.words());
  if (!match || (!ours && context.is(0, {"i", "we", "he", "she", "they", "you"}))) return false;
  const Span what = match->captures[0];
  const std::size_t from = what.last + (ours ? 0 : 1);
  const auto date = date_moved_to(context, from);
  const std::string event = event_of(context, what);
  if (!date || event.empty()) return false;
  const std::size_t reason = reason_at(context, from);
  if (is_planned(fold_case(event))) {
    add_plan_change(reading, context, event + ": " + day_of(*date), event, *date, reason, true);
  }
  add_date(reading, context, event, *date, reason);
  return true;
}

}  // namespace

bool add_dated_decision(Reading& reading, const Context& context, std::size_t verb) {
  static const Pattern kMove(
      "move|postpone|delay|push|reschedule|shift|defer|bring|change the|our {4} "
      "back|forward|from|to|until|till");
  static const Pattern kHold("hold|have|schedule|plan|set the|our {4} on|for|to|at");
  static const Pattern kIs("the|our {4} is|will|takes be|place? on|for|to|at");
  const auto& words = context.words();
  const auto move = kMove.match(words, verb);
  auto hold = move ? std::nullopt : kHold.match(words, verb);
  if (!move && !hold) hold = kIs.match(words, verb);
  std::optional<FoundDate> date;
  std::string slot;
  if (move || hold) {
    const Span what = (move ? move : hold)->captures[0];
    date = move ? date_moved_to(context, what.last)
                : rules::find_date(context.clause, what.last, context.said, context.zone);
    if (!date || (hold && date->words.first > hold->end)) return false;
    slot = event_of(context, what);
  } else {
    const Event* event = nullptr;
    for (const Event& one : kEvents) {
      if (context.is(verb, {one.verb})) event = &one;
    }
    std::size_t after = verb + 1;
    const bool live = context.is(verb, {"go"}) && context.is(verb + 1, {"live"});
    if (live) ++after;
    if (event == nullptr && !live) return false;
    date = rules::find_date(context.clause, after, context.said, context.zone);
    if (!date || date->words.first > after + 4) return false;
    const bool alone = date->words.first == after;
    if (!alone && !context.is(after, {"the", "our"})) return false;
    const std::string object = alone ? "" : thing(context, {after, date->words.first}, 4);
    if (!alone && object.empty()) return false;
    slot = live                              ? "go-live"
           : alone                           ? std::string(event->noun)
           : event->noun.starts_with("open") ? object + " opens"
           : event->noun == event->verb && event->verb != "start" && event->verb != "end"
               ? object + " " + std::string(event->noun)
               : object + " " + std::string(event->third_person);
  }
  if (slot.empty()) return false;
  const std::size_t reason = reason_at(context, verb);
  std::size_t last = std::min(reason, words.size());
  while (last > verb + 1 && (words[last - 1].is_pause || context.is(last - 1, {"instead"}))) --last;
  const std::string name(context.text({verb, last}));
  const bool change = move || last < std::min(reason, words.size());
  add_plan_change(reading, context, name, slot, *date, reason, change);
  add_date(reading, context, slot, *date, reason);
  return true;
}

// "the premiere is on 6 December", "the shop opens on …", "posters come on …".
bool find_dated(Reading& reading, const Context& context) {
  static const Pattern kEvent(
      "{5} is|are|starts|begins|opens|closes|ends|leaves|arrives|launches|happens|comes|come|takes "
      "place|been|now|due|scheduled|planned|set? for|on|to|at|by? *");
  if (find_moved(reading, context)) return true;
  const auto match = kEvent.match(context.words());
  if (!match) return false;
  const auto date = rules::find_date(
      context.clause, match->captures.back().first > 0 ? match->captures.back().first - 1 : 0,
      context.said, context.zone);
  if (!date || date->words.first > match->captures.back().first + 2) return false;
  const std::string what = event_of(context, match->captures[0]);
  if (what.empty() ||
      context.is(match->captures[0].last - 1, {"weather", "day", "weekend", "week", "thing"})) {
    return false;
  }
  const std::size_t verb = match->captures[0].last;
  const bool named_verb =
      context.is(verb, {"starts", "begins", "opens", "closes", "ends", "leaves", "arrives"});
  const std::string slot = named_verb ? what + " " + context.words()[verb].lower
                           : context.is(verb, {"launches"}) ? what + " launch"
                                                            : what;
  const std::size_t reason = reason_at(context, verb);
  bool instead = false;
  for (std::size_t at = verb; at < reason; ++at) {
    instead = instead || context.is(at, {"now", "instead"});
  }
  if (instead && is_planned(fold_case(slot))) {
    add_plan_change(reading, context, slot + ": " + day_of(*date), slot, *date, reason, true);
  }
  add_date(reading, context, slot, *date, reason);
  return true;
}

}  // namespace clawmark::graph_rules
