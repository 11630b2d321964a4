// How someone wants the assistant to work: "always …", "never …", "answer in German", "use X
// instead of Y".

#include <array>

#include "models/rules/context.h"
#include "models/rules/lexicon.h"

namespace clawmark::rules {
namespace {

// "always use tabs" and "never use tabs" share a key: it is made of what is done, without the
// adverb and "use".
bool add_rule(const Context& context, Span what, std::string_view says, double confidence) {
  const auto& words = context.words();
  // "… when I ask about X" belongs to the order.
  std::size_t last = what.first;
  while (last < what.last && !words[last].is_pause &&
         !context.is(last, {"because", "since", "but", "so", "if"})) {
    ++last;
  }
  while (last > what.first + 1 && is_trailing(words[last - 1].lower)) --last;
  const Span object{what.first, last};
  if (last == what.first || last - what.first > 20) return false;
  if (is_deictic(words[last - 1].lower) || is_hedge(words[what.first].lower)) return false;
  if (context.is(last - 1, {"as", "to", "with", "in", "for", "of", "the"})) return false;
  const std::string key = key_under("pref.", object_key(context, object));
  if (key.empty()) return false;
  context.add(key, std::string(says) + " " + std::string(context.text(object)), confidence);
  return true;
}

// A verb as in an order: "always deploys", "always staying", "never admired" are none.
bool is_order(const Context& context, std::size_t at) {
  const std::string& verb = context.words()[at].lower;
  const bool plain = !verb.ends_with("ing") && !verb.ends_with("ed") &&
                     (!verb.ends_with("s") || verb.ends_with("ss"));
  return plain && (context.clause.is_first || context.clause.is_explicit);
}

bool find_standing(const Context& context) {
  static const Pattern kAlways("always {1} *"), kNever("never {1} *");
  static const Pattern kNot(
      "don't ever|please? "
      "use|add|send|write|include|put|commit|push|deploy|suggest|notify|mention|reply|answer|wake "
      "*");
  static const Pattern kStop("stop|avoid|quit using|adding|sending|writing|suggesting|asking *");
  const std::size_t all = context.words().size();
  const auto idle = [&] {  // "always nice to hear", "never mind", "never been there"
    return context.is(
        1, {"saw",    "came",     "went",      "full",       "calm",    "kind",    "open",
            "nice",   "good",     "great",     "fun",        "mind",    "been",    "a",
            "the",    "happy",    "here",      "heard",      "had",     "thought", "knew",
            "wanted", "a",        "so",        "too",        "in",      "on",      "seen",
            "know",   "did",      "looking",   "tried",      "gets",    "feels",   "love",
            "like",   "wanted",   "give",      "be",         "down",    "glad",    "up",
            "got",    "ready",    "make",      "makes",      "said",    "felt",    "wish",
            "is",     "was",      "something", "room",       "better",  "there",   "interesting",
            "cool",   "stop",     "stops",     "gonna",      "really",  "excited", "believe",
            "trust",  "enough",   "met",       "made",       "going",   "doing",   "keeps",
            "keep",   "wondered", "say",       "appreciate", "amazing", "have",    "has",
            "late",   "forget",   "hurts",     "helps",      "remember"});
  };
  if (kAlways.match(context.words()))
    return !idle() && is_order(context, 1) && add_rule(context, {1, all}, "always", kPlain);
  if (kNever.match(context.words()))
    return !idle() && is_order(context, 1) && add_rule(context, {1, all}, "never", kPlain);
  if (kNot.match(context.words())) {
    const std::size_t verb = context.is(1, {"ever", "please"}) ? 2 : 1;
    if (!is_order(context, verb) || context.is(verb + 1, {"too", "yourself", "it", "that"})) {
      return false;
    }
    return add_rule(context, {verb, all}, "don't",
                    context.clause.is_explicit || verb == 2 ? kPlain : kSoft);
  }
  if (const auto match = kStop.match(context.words())) {
    const auto object = object_of(context, match->captures[0], 8);
    const std::string key = object ? key_under("pref.", object_key(context, *object)) : "";
    if (key.empty()) return false;
    context.add(key, "no " + std::string(context.text(*object)), kSofter);
    return true;
  }
  return false;
}

bool find_replacement(const Context& context) {
  static const Pattern kInstead("use {4} instead of|than *"), kNot("use {3} not *"),
      kFor("use {3} for *");
  static const Pattern kRather("use {4} rather than *");
  static const Pattern kPort("use port|version|branch|region {1} $");
  if (const auto match = kPort.match(context.words())) {
    if (!is_hard(context.words()[match->captures[0].first])) return false;
    context.add("project." + context.words()[1].lower,
                std::string(context.text(match->captures[0])), kSofter);
    return true;
  }
  for (const Pattern* pattern : {&kInstead, &kRather, &kNot}) {
    const auto match = pattern->match(context.words());
    if (!match) continue;
    const auto wanted = object_of(context, match->captures[0], 4);
    const auto other = object_of(context, match->captures[1], 4);
    if (!wanted || !other || !is_hard(context.words()[wanted->first])) return false;
    const std::string key =
        rivals_key("pref.", object_key(context, *wanted), object_key(context, *other));
    if (key.empty()) return false;
    context.add(key,
                "use " + std::string(context.text(*wanted)) + " instead of " +
                    std::string(context.text(*other)),
                kSofter);
    return true;
  }
  if (const auto match = kFor.match(context.words()); match && context.clause.is_explicit) {
    const auto wanted = object_of(context, match->captures[0], 4);
    const auto purpose = object_of(context, match->captures[1], 5);
    const std::string key = purpose ? key_under("pref.", object_key(context, *purpose)) : "";
    if (!wanted || key.empty()) return false;
    context.add(key, "use " + std::string(context.text(*wanted)), kPlain);
    return true;
  }
  return false;
}

// "answer in German", "keep your answers short".
bool find_manner(const Context& context) {
  static const Pattern kIn("always? answer|reply|respond|write|speak|talk to? me? only? in {1} $");
  static const Pattern kKeep("keep your|the|all? answers|replies|responses|messages {3} $");
  if (const auto match = kIn.match(context.words())) {
    const Word& language = context.words()[match->captures[0].first];
    if (!language.is_capital) return false;
    context.add("pref.reply_language", std::string(context.text(match->captures[0])),
                context.clause.is_explicit || context.is(0, {"always"}) ? kOutright : kSoft);
    return true;
  }
  if (const auto match = kKeep.match(context.words())) {
    context.add("pref.answer_style", std::string(context.text(match->captures[0])), kSofter);
    return true;
  }
  return false;
}

}  // namespace

bool find_instruction(const Context& context) {
  return find_manner(context) || find_replacement(context) || find_standing(context);
}

}  // namespace clawmark::rules
