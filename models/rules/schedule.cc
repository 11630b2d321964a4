// What happens when: "the demo is this Friday at 9".

#include <algorithm>

#include "models/fact_key.h"
#include "models/rules/context.h"
#include "models/rules/dates.h"
#include "models/rules/lexicon.h"

namespace clawmark::rules {
namespace {

// "the demo is …", "our flight leaves …", "the deadline has moved to …".
bool find_event(const Context& context) {
  static const Pattern kEvent(
      "the|my|our {4} "
      "is|starts|begins|leaves|departs|happens|ends|opens|closes|arrives|are|got|has|have|was|were|"
      "moved|slipped been? "
      "now|due|scheduled|planned|set|moved|postponed|delayed|rescheduled|pushed|shifted|going? "
      "live? for|to|back|live? to?");
  const auto match = kEvent.match(context.words());
  if (!match) return false;
  std::size_t end = match->end;
  if (context.is(end, {"from"})) {  // "moved from 3 to 5 December"
    for (std::size_t at = end; at < context.words().size(); ++at) {
      if (context.is(at, {"to"})) end = at + 1;
    }
  }
  const auto date = find_date(context.clause, end, context.said, context.zone);
  if (!date || date->words.first > end + 1) return false;
  Span what = match->captures[0];
  // "the launch date" and "the launch" have one date.
  if (context.is(what.last - 1, {"date"}) && what.last > what.first + 1) --what.last;
  if (is_deictic(context.words()[what.first].lower)) return false;
  // People move, too: the date of what is planned.
  if (context.is(match->captures[0].last, {"moved", "slipped"}) &&
      !context.is(what.last - 1, {"launch", "release", "premiere", "opening", "deadline", "demo",
                                  "rollout", "meeting", "review", "migration", "event"})) {
    return false;
  }
  const bool personal = context.is(0, {"my"});
  std::string name(context.text(what));
  std::string key = key_under(personal ? "user." : "project.", object_key(context, what));
  // A thing has several days: when the shop opens is neither when it closes nor what it runs on.
  for (std::size_t at = what.last; at < match->end; ++at) {
    if (key.empty() || !context.is(at, {"opens", "closes", "ends", "live"})) continue;
    name += " " + context.words()[at].lower;
    key += "_" + context.words()[at].lower;
    break;
  }
  if (key.empty() || context.is(what.last - 1, {"weather", "it", "day", "plan", "thing", "moon",
                                                "weekend", "week"}))
    return false;
  context.add(key, name + ": " + date->text, date->has_time ? kOutright : kPlain, date->at);
  return true;
}

// "I have a dentist appointment on Friday at 3pm", "we have a demo tomorrow at 10".
bool find_appointment(const Context& context) {
  static const Pattern kHave("i|we|i've|we've have|got a|an|my|our|the *");
  const auto match = kHave.match(context.words());
  if (!match) return false;
  const Span rest = match->captures[0];
  const auto date = find_date(context.clause, rest.first + 1, context.said, context.zone);
  if (!date || date->words.first > rest.first + 5) return false;
  Span what{rest.first, date->words.first};
  while (what.last > what.first + 1 &&
         context.is(what.last - 1,
                    {"of", "scheduled", "planned", "coming", "up", "set", "on", "for", "due"})) {
    --what.last;
  }
  for (std::size_t at = what.first; at < what.last; ++at) {
    if (is_deictic(context.words()[at].lower) || is_hedge(context.words()[at].lower)) return false;
  }
  const bool personal = context.is(0, {"i", "i've"});
  const std::string key = key_under(personal ? "user." : "project.", object_key(context, what));
  if (key.empty()) return false;
  context.add(key, std::string(context.text(what)) + ": " + date->text,
              date->has_time ? kPlain : kSofter, date->at);
  return true;
}

}  // namespace

bool find_schedule(const Context& context) {
  if (context.is(0, {"my"}) && context.is(1, {"birthday"})) return false;
  return find_event(context) || find_appointment(context);
}

}  // namespace clawmark::rules
