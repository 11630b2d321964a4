// What someone likes, hates, prefers and uses.

#include <array>

#include "models/fact_key.h"
#include "models/rules/context.h"
#include "models/rules/lexicon.h"

namespace clawmark::rules {
namespace {

struct Taste {
  Pattern pattern;
  std::string_view says;  // in the third person, before the object
  double confidence;
};

const std::vector<Taste>& tastes() {
  static const std::vector<Taste> kTastes = {
      {Pattern(
           "i really|absolutely|just|also|still|truly|do|totally|definitely|always? love|adore *"),
       "loves", kOutright},
      {Pattern("i've always loved *"), "loves", kPlain},
      {Pattern("i really|also|still|do|quite|personally|always|generally? like *"), "likes",
       kPlain},
      {Pattern("i really|also|still|do|always|thoroughly? enjoy *"), "enjoys", kPlain},
      {Pattern(
           "i really|absolutely|just|also|still|do|totally|always? hate|detest|loathe|despise *"),
       "hates", kOutright},
      {Pattern("i've always hated *"), "hates", kPlain},
      {Pattern("i really|absolutely|just|also|simply? can't stand|bear|abide *"), "can't stand",
       kOutright},
      {Pattern("i really|also|strongly? dislike *"), "dislikes", kPlain},
      {Pattern("i really|just|also? don't really|particularly|actually? like|enjoy|love *"),
       "doesn't like", kPlain},
      {Pattern("i do not really? like|enjoy *"), "doesn't like", kPlain},
      {Pattern("i no longer like|enjoy|love *"), "no longer likes", kPlain},
      {Pattern("i'm a big|huge|massive|real? fan of *"), "is a fan of", kPlain},
      {Pattern("i'm not a big|huge|real? fan of *"), "is not a fan of", kPlain},
      {Pattern("i'm really|so|very? into *"), "is into", kSofter},
      {Pattern("i'm not really? into *"), "is not into", kSofter},
      {Pattern("i don't|never eat *"), "doesn't eat", kPlain},
      {Pattern("i don't|never drink *"), "doesn't drink", kPlain},
      {Pattern("i only eat *"), "only eats", kPlain},
      {Pattern("i only drink *"), "only drinks", kPlain},
      {Pattern("i don't|never use *"), "doesn't use", kPlain},
      {Pattern("i no longer use *"), "no longer uses", kPlain},
      {Pattern("i don't want *"), "doesn't want", kSoft},
  };
  return kTastes;
}

// "I hate to say", "I love hearing": figures of speech.
bool is_figure(const Context& context, Span object) {
  const std::size_t at = object.first;
  if (context.is(at, {"to"})) {
    return context.is(
        at + 1, {"think", "say",       "admit",      "be",   "believe", "see",  "hear", "know",
                 "ask",   "break",     "bother",     "tell", "imagine", "call", "keep", "get",
                 "hear",  "interrupt", "disappoint", "add",  "help",    "just", "try"});
  }
  return context.is(
             at, {"hearing", "seeing",     "talking",  "chatting", "being",   "knowing", "having",
                  "getting", "the",        "catching", "watching", "feeling", "looking", "thinking",
                  "sharing", "connecting", "working",  "having",   "meeting", "trying",  "spending",
                  "helping", "making",     "learning", "going",    "new",     "more",    "when",
                  "him",     "me",         "us",       "myself",   "not",     "doing",   "our",
                  "a",       "an",         "all"}) &&
         (context.is(at, {"the", "hearing", "seeing", "being", "having", "knowing", "getting",
                          "feeling", "looking", "thinking", "catching", "me", "us", "myself", "not",
                          "talking", "chatting", "connecting", "more"}));
}

bool add_rivals(const Context& context, Span object,
                std::initializer_list<std::string_view> separators) {
  for (std::size_t at = object.first + 1; at + 1 < object.last; ++at) {
    const bool two = context.is(at, {"instead", "rather"}) && context.is(at + 1, {"of", "than"});
    if (!two && !context.is(at, separators)) continue;
    Span wanted{object.first, at};
    while (wanted.last > wanted.first + 1 &&
           context.is(wanted.last - 1, {"more", "better", "much", "way", "far", "lot", "a"})) {
      --wanted.last;
    }
    const auto other = object_of(context, {at + (two ? 2 : 1), object.last});
    if (!other) return false;
    const std::string key =
        rivals_key("pref.", object_key(context, wanted), object_key(context, *other));
    if (key.empty()) return false;
    context.add(key,
                "prefers " + std::string(context.text(wanted)) + " over " +
                    std::string(context.text(*other)),
                kOutright);
    return true;
  }
  return false;
}

// "more than", "better than".
bool compares(const Context& context, Span object) {
  for (std::size_t at = object.first; at < object.last; ++at) {
    if (context.is(at, {"more", "better"}) && context.is(at + 1, {"than"})) return true;
  }
  return false;
}

bool find_preferred(const Context& context) {
  static const Pattern kPrefer(
      "i really|much|always|generally|usually|strongly|also|do|still|personally|actually|would? "
      "prefer *");
  static const Pattern kLike("i really? like|love|enjoy *");
  if (const auto match = kPrefer.match(context.words())) {
    if (context.is(1, {"would"})) return false;
    const auto object = object_of(context, match->captures[0], 12);
    if (!object) return false;
    if (add_rivals(context, *object, {"over", "to", "than"})) return true;
    if (context.is(object->first, {"not"})) return false;
    const std::string key = key_under("pref.", object_key(context, *object));
    if (key.empty()) return false;
    context.add(key, "prefers " + std::string(context.text(*object)), kOutright);
    return true;
  }
  if (const auto match = kLike.match(context.words())) {
    const auto object = object_of(context, match->captures[0], 12);
    return object && compares(context, *object) && add_rivals(context, *object, {"than"});
  }
  return false;
}

// "my favorite color is green".
bool find_favorite(const Context& context) {
  static const Pattern kFavorite("my all-time|absolute? favorite {3} is|are *");
  static const Pattern kReverse("{4} is my favorite {3} $");
  if (const auto match = kFavorite.match(context.words())) {
    Span said = match->captures[1];
    while (said.first + 1 < said.last &&
           context.is(said.first, {"actually", "definitely", "still", "now"}))
      ++said.first;
    const auto object = object_of(context, said, 6);
    if (!object ||
        context.is(object->first, {"the", "when", "to", "probably", "definitely", "still"}))
      return false;
    const std::string key = key_under("pref.favorite_", object_key(context, match->captures[0]));
    if (key.empty() || context.is(match->captures[0].first, {"part", "thing", "of", "one"}))
      return false;
    context.add(key, std::string(context.text(*object)), kOutright);
    return true;
  }
  if (const auto match = kReverse.match(context.words())) {
    const auto object = object_of(context, match->captures[0], 4);
    const Span what = match->captures[1];
    if (!object || context.is(what.first, {"part", "thing", "of", "one", "place"})) return false;
    context.add(key_under("pref.favorite_", object_key(context, what)),
                std::string(context.text(*object)), kPlain);
    return true;
  }
  return false;
}

// "I use X", "I switched to X", "I use X for Y".
bool find_usage(const Context& context) {
  static const std::array<Pattern, 4> kUses = {
      Pattern("i always|usually|mostly|only|mainly|primarily|now|also|still? use *"),
      Pattern("i'm now|currently? using *"),
      Pattern("i've|i just|recently? switched|moved|migrated|changed from? to *"),
      Pattern("i just|recently? switched|migrated|moved from {3} to *"),
  };
  for (const Pattern& pattern : kUses) {
    const auto match = pattern.match(context.words());
    if (!match) continue;
    const auto object = object_of(context, match->captures.back(), 8);
    if (!object) return false;
    Span what = *object;
    std::string purpose;
    for (std::size_t at = what.first + 1; at + 1 < what.last; ++at) {
      if (!context.is(at, {"for", "as"})) continue;
      purpose = object_key(context, {at + 1, what.last});
      what.last = at;
    }
    // "as my editor" ends the object early: it is a conjunction elsewhere.
    const auto& words = context.words();
    if (purpose.empty() && what.last + 2 < words.size() + 1 && context.is(what.last, {"as"}) &&
        context.is(what.last + 1, {"my", "a", "an", "the"})) {
      if (const auto as = object_of(context, {what.last + 1, words.size()}, 4))
        purpose = object_key(context, *as);
    }
    const auto kind = tool_kind(words[what.first].lower);
    const std::string value(context.text(what));
    if (kind) {
      context.add("pref." + std::string(purpose.empty() ? std::string(kind->kind) : purpose), value,
                  kPlain);
      return true;
    }
    const bool moved = context.is(1, {"switched", "moved", "migrated", "changed"}) ||
                       context.is(2, {"switched", "moved"});
    if (moved) return false;  // to another flat, job, …
    if (!purpose.empty() && is_hard(words[what.first])) {
      context.add("pref." + purpose, value, kPlain);
      return true;
    }
    if (is_hard(words[what.first]) && what.last - what.first <= 3) {
      context.add(key_under("pref.", object_key(context, what)), "uses " + value, kSofter);
      return true;
    }
    return false;
  }
  return false;
}

bool find_taste(const Context& context) {
  for (const Taste& taste : tastes()) {
    const auto match = taste.pattern.match(context.words());
    if (!match) continue;
    const auto object = object_of(context, match->captures[0]);
    if (!object || is_figure(context, *object)) return false;
    const std::string key = key_under("pref.", object_key(context, *object));
    if (key.empty()) return false;
    if (taste.says == "doesn't want" && !context.clause.is_explicit) return false;
    context.add(key, std::string(taste.says) + " " + std::string(context.text(*object)),
                taste.confidence);
    return true;
  }
  return false;
}

}  // namespace

bool find_preference(const Context& context) {
  return find_preferred(context) || find_favorite(context) || find_taste(context) ||
         find_usage(context);
}

}  // namespace clawmark::rules
