// Who someone is: names, places, work, diet, relatives, "my X is Y".

#include <algorithm>
#include <array>

#include "models/fact_key.h"
#include "models/rules/context.h"
#include "models/rules/lexicon.h"

namespace clawmark::rules {
namespace {

// One to four capitalised words from `first` on.
std::optional<Span> proper_name(const Context& context, std::size_t first, std::size_t most = 4) {
  const auto& words = context.words();
  std::size_t last = first;
  while (last < words.size() && last - first < most && !words[last].is_pause &&
         words[last].is_capital && words[last].lower != "i" && words[last].lower != "i'm") {
    ++last;
  }
  if (last == first) return std::nullopt;
  return Span{first, last};
}

bool ends_at(const Context& context, std::size_t at) {
  return at >= context.words().size() || context.words()[at].is_pause ||
         context.is(at, {"and", "but", "so", "by", "now", "please", "because", "or", "not", "from",
                         "with"});
}

bool find_own_name(const Context& context) {
  static const Pattern kName("my full|first|real|last|given? name is|is: *"), kNames("my name's *");
  static const Pattern kCall("you can? just|simply? call me *"),
      kCalls("just|please|everyone|everybody|people|they|friends? call|calls me *");
  static const Pattern kGo("i go by *"), kCalled("i'm called *");
  for (const Pattern* pattern : {&kName, &kNames}) {
    const auto match = pattern->match(context.words());
    if (!match) continue;
    const Span rest = match->captures[0];
    std::size_t last = rest.first;
    while (last < rest.last && !ends_at(context, last)) ++last;
    if (last == rest.first || last - rest.first > 4) return false;
    if (context.is(rest.first,
                   {"not", "the", "a", "on", "in", "spelled", "pronounced", "already", "also"}))
      return false;
    const std::string key = context.is(1, {"last"})             ? "user.last_name"
                            : context.is(1, {"first", "given"}) ? "user.first_name"
                                                                : "user.name";
    context.add(key, std::string(context.text({rest.first, last})), kOutright);
    return true;
  }
  for (const Pattern* pattern : {&kCall, &kCalls, &kGo, &kCalled}) {
    const auto match = pattern->match(context.words());
    if (!match) continue;
    const auto name = proper_name(context, match->captures[0].first, 3);
    if (!name || !ends_at(context, name->last)) return false;
    context.add("user.name", std::string(context.text(*name)), kPlain);
    return true;
  }
  return false;
}

// "my cat is called Miso", "I have a dog named Rex", "my wife Anna".
bool find_relative_name(const Context& context) {
  static const std::array<Pattern, 4> kNamed = {
      Pattern("my|our {3} is called|named *"),
      Pattern("my|our {3} called|named *"),
      Pattern("i|we|i've|we've have|got? a|an|one {3} called|named *"),
      Pattern("my|our {2} name is *"),
  };
  const auto& words = context.words();
  for (std::size_t n = 0; n < kNamed.size(); ++n) {
    const auto match = kNamed[n].match(words);
    if (!match) continue;
    const Span who = match->captures[0];
    std::string what = words[who.last - 1].lower;
    if (n == 3) {  // "my cat's name is Miso"
      if (!what.ends_with("'s")) continue;
      what.resize(what.size() - 2);
    }
    const auto name = proper_name(context, match->captures[1].first, 3);
    if (!name || !is_relative(what)) return false;
    context.add("user." + key_segment(what) + "_name", std::string(context.text(*name)), kOutright);
    return true;
  }
  if (!context.is(0, {"my", "our"}) || words.size() < 4 || words[2].is_pause) return false;
  const std::string& what = words[1].lower;
  const auto name = proper_name(context, 2, 2);
  if (!is_relative(what) || !name || name->last >= words.size()) return false;
  if (words[name->first].lower == "and" || tool_kind(words[name->first].lower)) return false;
  const std::string value(context.text(*name));
  if (is_only_one(what)) {
    context.add("user." + key_segment(what) + "_name", value, kSofter);
  } else {
    context.add(key_under("user." + key_segment(what) + "_", key_segment(value)), value, kSofter);
  }
  return true;
}

bool find_place_or_work(const Context& context) {
  struct Rule {
    Pattern pattern;
    std::string_view key;
    double confidence;
  };
  static const std::vector<Rule> kRules = {
      {Pattern("i currently|now? live in *"), "user.location", kOutright},
      {Pattern("i'm currently|now? living in *"), "user.location", kPlain},
      {Pattern("i'm based in|out of? *"), "user.location", kOutright},
      {Pattern("i|i've just|recently? moved to *"), "user.location", kPlain},
      {Pattern("i|i've just|recently? moved from {3} to *"), "user.location", kPlain},
      {Pattern("i'm originally? from *"), "user.origin", kPlain},
      {Pattern("i come from *"), "user.origin", kPlain},
      {Pattern("i was born in *"), "user.birthplace", kPlain},
      {Pattern("i grew up in *"), "user.grew_up_in", kPlain},
      {Pattern("i currently|now? work at|for *"), "user.employer", kOutright},
      {Pattern("i'm currently? working at|for *"), "user.employer", kPlain},
      {Pattern("i just? joined|started at? *"), "user.employer", kSofter},
  };
  for (const Rule& rule : kRules) {
    const auto match = rule.pattern.match(context.words());
    if (!match) continue;
    std::size_t first = match->captures.back().first;
    const bool article = context.is(first, {"the"});
    const auto place = proper_name(context, article ? first + 1 : first);
    if (!place || tool_kind(context.words()[place->first].lower)) return false;
    if (rule.confidence == kSofter && !context.is(place->first - 1, {"at"}) &&
        !context.is(1, {"joined"}) && !context.is(2, {"joined"})) {
      return false;
    }
    Span whole = *place;
    // "Porto, Portugal"
    const auto& words = context.words();
    if (whole.last + 1 < words.size() && words[whole.last].is_pause &&
        rule.key == "user.location") {
      const auto more = proper_name(context, whole.last + 1, 2);
      if (more && ends_at(context, more->last)) whole.last = more->last;
    }
    context.add(std::string(rule.key), std::string(context.text(whole)), rule.confidence);
    return true;
  }
  return false;
}

bool find_trade(const Context& context) {
  static const Pattern kAs("i currently|now|also? work as a|an *"), kAm("i'm a|an *");
  const auto& words = context.words();
  const bool as = kAs.match(words).has_value();
  const auto match = as ? kAs.match(words) : kAm.match(words);
  if (!match) return false;
  const Span rest = match->captures[0];
  std::size_t last = rest.first;
  while (last < rest.last && last - rest.first < 4 &&
         !context.is(last, {"at", "for", "in", "with", "and", "who", "from", "by", "on"})) {
    ++last;
  }
  if (last == rest.first || (!as && !is_trade(words[last - 1].lower))) return false;
  if (context.is(rest.first,
                 {"bad", "terrible", "great", "big", "good", "better", "new", "lousy", "fellow"}))
    return false;
  context.add("user.occupation", std::string(context.text({rest.first, last})),
              as ? kOutright : kSofter);
  if (context.is(last, {"at", "for"})) {
    if (const auto employer = proper_name(context, last + 1)) {
      context.add("user.employer", std::string(context.text(*employer)), kPlain);
    }
  }
  return true;
}

bool find_body(const Context& context) {
  static const Pattern kAllergic("i'm severely|deathly|very|highly|also? allergic to *");
  static const Pattern kIntolerant("i'm {2} intolerant"),
      kDiet("i'm a|strictly|now|fully|100%? a? *");
  static const Pattern kEverything("i eat everything|anything"), kAge("i'm {1} years old"),
      kTurned("i just? turned {1} $");
  static const Pattern kState(
      "i'm "
      "left-handed|right-handed|diabetic|colorblind|color-blind|dyslexic|celiac|coeliac|deaf|blind|"
      "asthmatic|nearsighted");
  static const Pattern kAllergy("i have a|an {3} allergy");
  const auto& words = context.words();
  if (const auto match = kAllergic.match(words)) {
    const auto object = object_of(context, match->captures[0], 6);
    if (!object) return false;
    context.add(key_under("user.allergy_", object_key(context, *object)),
                "allergic to " + std::string(context.text(*object)), kOutright);
    return true;
  }
  if (const auto match = kAllergy.match(words)) {
    const std::string what(context.text(match->captures[0]));
    context.add(key_under("user.allergy_", key_segment(what)), "allergic to " + what, kOutright);
    return true;
  }
  if (const auto match = kIntolerant.match(words)) {
    const std::string what(context.text(match->captures[0]));
    context.add(key_under("user.intolerance_", key_segment(what)), what + " intolerant", kOutright);
    return true;
  }
  if (kEverything.match(words)) {
    context.add("user.diet", "eats everything", kPlain);
    return true;
  }
  if (const auto match = kDiet.match(words)) {
    const Span rest = match->captures[0];
    const std::size_t negated = context.is(rest.first, {"not"}) ? 1 : 0;
    const std::size_t at =
        rest.first + negated + (context.is(rest.first + negated, {"a", "an"}) ? 1 : 0);
    if (at < rest.last && is_diet(words[at].lower)) {
      context.add("user.diet", (negated ? "not " : "") + words[at].lower, kOutright);
      return true;
    }
  }
  if (kState.match(words)) {
    context.add(key_under("user.", key_segment(words[1].lower)), words[1].lower, kOutright);
    return true;
  }
  for (const Pattern* pattern : {&kAge, &kTurned}) {
    const auto match = pattern->match(words);
    if (!match || !is_hard(words[match->captures[0].first])) continue;
    context.add("user.age", std::string(context.text(match->captures[0])), kPlain);
    return true;
  }
  return false;
}

// Things one has that come and go, or that only open a sentence: "my phone is dead", "my point is
// …".
bool is_passing(std::string_view noun) {
  constexpr std::array<std::string_view, 45> kNouns = {
      "point",    "question", "guess",    "opinion", "problem",       "issue", "plan",   "idea",
      "fault",    "mistake",  "concern",  "bad",     "dream",         "heart", "mind",   "turn",
      "pleasure", "day",      "head",     "phone",   "life",          "goal",  "thing",  "favorite",
      "family",   "back",     "internet", "laptop",  "computer",      "car",   "one",    "hope",
      "week",     "weekend",  "morning",  "answer",  "understanding", "take",  "advice", "biggest",
      "best",     "first",    "last",     "next",    "only"};
  return std::find(kNouns.begin(), kNouns.end(), noun) != kNouns.end();
}

// "my badge color is teal", "my timezone is CET", "my employee number is 4711".
bool find_attribute(const Context& context) {
  static const Pattern kIs("my {4} is|are now? *");
  const auto match = kIs.match(context.words());
  if (!match) return false;
  const auto& words = context.words();
  const Span what = match->captures[0];
  if (is_passing(words[what.last - 1].lower) || is_passing(words[what.first].lower)) return false;
  Span rest = match->captures[1];
  if (context.is(rest.first, {"not",   "called", "named", "going", "so",   "very",    "really",
                              "too",   "at",     "in",    "on",    "to",   "about",   "still",
                              "also",  "always", "just",  "that",  "when", "getting", "coming",
                              "doing", "being",  "been",  "done",  "how",  "what",    "as"})) {
    return false;
  }
  const auto object = object_of(context, rest, 6);
  if (!object) return false;
  const std::string& noun = words[what.last - 1].lower;
  const std::string& value = words[object->first].lower;
  const bool colored = is_color(words[object->last - 1].lower) && object->last - object->first <= 3;
  bool named = is_hard(words[object->first]);
  for (std::size_t at = object->first; at < object->last; ++at)
    named = named && (is_hard(words[at]) || at > object->first + 1);
  const bool relative =
      is_relative(noun) || (what.last - what.first == 1 && is_relative(words[what.first].lower));
  if (relative && !context.clause.is_explicit) return false;  // "my son is Max's age"
  if (!is_attribute(noun) && !colored && !named && !context.clause.is_explicit) return false;
  if (is_attribute(noun) && !colored && !named && object->last - object->first > 4) return false;
  if (is_attribute(noun) &&
      context.is(object->first,
                 {"a",        "an",   "the",     "good",      "great",   "hard",  "boring",
                  "fun",      "my",   "perfect", "stressful", "amazing", "tough", "demanding",
                  "tomorrow", "soon", "today",   "too",       "limited", "full",  "open"}) &&
      !colored) {
    return false;
  }
  if (value.empty()) return false;
  context.add(key_under("user.", object_key(context, what)), std::string(context.text(*object)),
              colored || named || is_attribute(noun) ? kOutright : kPlain);
  return true;
}

bool find_birthday(const Context& context) {
  static const Pattern kBorn("i was born on *"), kIs("my birthday is|falls on? *");
  for (const Pattern* pattern : {&kBorn, &kIs}) {
    const auto match = pattern->match(context.words());
    if (!match) continue;
    const Span rest = match->captures[0];
    if (context.is(rest.first,
                   {"tomorrow", "today", "coming", "next", "soon", "this", "in", "a", "the"}) &&
        !is_hard(context.words()[std::min(rest.first + 1, rest.last - 1)])) {
      return false;
    }
    const auto object = object_of(context, rest, 5);
    if (!object) return false;
    context.add("user.birthday", std::string(context.text(*object)), kOutright);
    return true;
  }
  return false;
}

}  // namespace

bool find_identity(const Context& context) {
  return find_own_name(context) || find_relative_name(context) || find_place_or_work(context) ||
         find_trade(context) || find_body(context) || find_birthday(context) ||
         find_attribute(context);
}

}  // namespace clawmark::rules
