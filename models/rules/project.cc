// Decisions, stack and addresses of the work.

#include <algorithm>
#include <array>

#include "models/fact_key.h"
#include "models/rules/context.h"
#include "models/rules/lexicon.h"

namespace clawmark::rules {
namespace {

std::string_view without_version(std::string_view word) {
  const std::size_t digits = word.find_last_not_of("0123456789.");
  return word.substr(0, digits == std::string_view::npos ? word.size() : digits + 1);
}

std::optional<ToolKind> kind_of(const Word& word) {
  if (const auto kind = tool_kind(word.lower)) return kind;
  return tool_kind(without_version(word.lower));
}

// A named thing that was given up: "… instead of Y", "… over Y", "… not Y". Empty: none.
std::string given_up(const Context& context, Span span) {
  for (std::size_t at = span.first + 1; at + 1 < span.last; ++at) {
    const bool two = context.is(at, {"instead", "rather"}) && context.is(at + 1, {"of", "than"});
    if (!two && !context.is(at, {"over", "not"})) continue;
    auto old = object_of(context, {at + (two ? 2 : 1), span.last}, 3);
    if (!old) return {};
    while (old->first + 1 < old->last && context.is(old->first, {"the", "a", "an", "our"}))
      ++old->first;
    return is_hard(context.words()[old->first]) ? std::string(context.text(*old)) : std::string();
  }
  return {};
}

// What was chosen, under the key of what it is chosen for.
bool add_choice(const Context& context, Span chosen, std::string_view says, double confidence,
                std::string old) {
  const auto object = object_of(context, chosen, 9);
  if (!object) return false;
  if (old.empty()) old = given_up(context, *object);
  const auto& words = context.words();
  Span what = *object;
  std::string purpose;
  for (std::size_t at = what.first + 1; at + 1 < what.last; ++at) {
    if (!context.is(at, {"for", "as"}) || !purpose.empty()) continue;
    purpose = object_key(context, {at + 1, what.last});
    what.last = at;
  }
  if (purpose.empty() && context.is(what.last, {"as"})) {
    if (const auto as = object_of(context, {what.last + 1, words.size()}, 4))
      purpose = object_key(context, *as);
  }
  // "not Y" after the choice is no part of it.
  for (std::size_t at = what.first + 1; at < what.last; ++at) {
    if (context.is(at, {"not", "instead", "over", "rather", "in", "on", "from"})) what.last = at;
  }
  while (what.last > what.first + 1 && context.is(what.last - 1, {"only"})) --what.last;
  while (what.last > what.first + 1 && context.is(what.first, {"the", "a", "an", "our"}))
    ++what.first;
  const std::string value(context.text(what));
  const bool numbered = what.last - what.first == 2 &&
                        words[what.first + 1].lower.find_first_of("0123456789") == 0 &&
                        !words[what.first].is_capital;
  if (const auto kind = kind_of(words[what.first])) {
    context.add("project." + (purpose.empty() ? std::string(kind->kind) : purpose), value,
                confidence);
  } else if (numbered) {  // "port 9090"
    context.add(key_under("project.", key_segment(words[what.first].lower)),
                std::string(context.text({what.first + 1, what.last})), confidence);
  } else if (!purpose.empty()) {
    context.add("project." + purpose, value, std::min(confidence, kPlain));
  } else if (is_hard(words[what.first])) {
    context.add(key_under("project.", object_key(context, what)),
                std::string(says) + " " + value + (old.empty() ? "" : " instead of " + old),
                kSofter);
  } else {
    return false;
  }
  context.found.back().replaces = std::move(old);
  return true;
}

// "we switched the payment provider to Mollie", "we decided to replace Stripe with Mollie": what
// was chosen for it before makes way.
bool find_change(const Context& context) {
  static const std::array<Pattern, 2> kSettles = {
      Pattern("we|we've finally|just|have|now? decided|agreed to switch|change the|our {4} to *"),
      Pattern("we|we've just|have|now|recently|already|finally? switched|changed the|our {4} to *"),
  };
  static const std::array<Pattern, 4> kReplaces = {
      Pattern("we|we've finally|just|have|now? decided|agreed to replace {3} with|by *"),
      Pattern("we|we've just|have|now|recently|already|finally? replaced {3} with|by *"),
      Pattern("we|we've finally|just|have|now? decided|agreed to switch|migrate from {3} to *"),
      Pattern("we're now|currently? switching|migrating from {3} to *"),
  };
  const auto& words = context.words();
  for (const Pattern& pattern : kSettles) {
    const auto match = pattern.match(words);
    if (!match) continue;
    const auto chosen = object_of(context, match->captures[1], 4);
    const std::string key = key_under("project.", object_key(context, match->captures[0]));
    if (!chosen || key.empty() || !is_hard(words[chosen->first])) return false;
    // "migrate the shop to Postgres" is of the shop, not what the shop is.
    if (context.is(match->captures[0].first, {"subject", "topic"})) return false;
    context.add(key, std::string(context.text(*chosen)), kPlain);
    return true;
  }
  for (const Pattern& pattern : kReplaces) {
    const auto match = pattern.match(words);
    if (!match) continue;
    const auto old = object_of(context, match->captures[0], 3);
    if (!old || !is_hard(words[old->first])) return false;
    return add_choice(context, match->captures[1], "uses", kPlain, std::string(context.text(*old)));
  }
  return false;
}

bool find_choice(const Context& context) {
  struct Rule {
    Pattern pattern;
    std::string_view says;
    double confidence;
  };
  static const std::vector<Rule> kRules = {
      {Pattern("we|we've currently|now|only|still|always|all|mostly|also? use *"), "uses", kPlain},
      {Pattern("we're now|currently|all? using *"), "uses", kPlain},
      {Pattern("we're now|currently|still? on *"), "is on", kPlain},
      {Pattern("we now|currently|still? run on? *"), "runs", kPlain},
      {Pattern("we've|we just|now|recently|already|finally? moved|switched|migrated|upgraded "
               "everything|over|it|all? to *"),
       "moved to", kPlain},
      {Pattern("we've|we just|now|recently|already|finally? moved|switched|migrated|upgraded from "
               "{3} to *"),
       "moved to", kPlain},
      {Pattern("we've|we finally|just|eventually? chose|picked|chosen *"), "chose", kOutright},
      {Pattern("we've|we finally|just|eventually? decided|settled|agreed on|for *"), "decided on",
       kOutright},
      {Pattern("we've|we finally|just|eventually? decided|agreed to use|adopt *"), "decided on",
       kOutright},
      {Pattern("we've|we went|gone with *"), "went with", kPlain},
      {Pattern("let's just|please|all? use *"), "use", kPlain},
      {Pattern("let's just|please? go|stick|stay with *"), "go with", kPlain},
      {Pattern("we'll just|probably? use|adopt *"), "use", kPlain},
      {Pattern("we're going to use|adopt *"), "use", kPlain},
      {Pattern("we're going with *"), "goes with", kPlain},
      {Pattern("the project|app|service|backend|site|repo|api|bot|code|codebase|frontend "
               "now|currently? uses *"),
       "uses", kPlain},
      {Pattern("the|our project|app|service|backend|site|repo|api|bot|code|codebase|frontend "
               "is|runs|was written|built|on|in in|with|on|using? *"),
       "uses", kSofter},
  };
  for (const Rule& rule : kRules) {
    const auto match = rule.pattern.match(context.words());
    if (!match) continue;
    const Span object = match->captures.back();
    if (rule.says == "moved to" && !kind_of(context.words()[object.first])) return false;
    std::string old;  // "from Y to X"
    if (match->captures.size() > 1) old = context.text(match->captures.front());
    if (add_choice(context, object, rule.says, rule.confidence, std::move(old))) return true;
  }
  return false;
}

// "we decided to ship on Fridays", "decision: two reviewers".
bool find_decision(const Context& context) {
  static const std::array<Pattern, 4> kRules = {
      Pattern("we|we've finally|just|all|have? decided|agreed|decided to|that|on *"),
      Pattern("i|i've finally|just|have? decided to|that|on *"),
      Pattern("decision , *"),
      Pattern("the|our? final? decision is to|that? *"),
  };
  for (std::size_t n = 0; n < kRules.size(); ++n) {
    auto match = kRules[n].match(context.words());
    if (!match && n == 2 && context.is(0, {"decision", "decided"}) && context.words().size() > 3 &&
        context.words()[1].is_pause) {
      match = Match{{{2, context.words().size()}}, context.words().size()};
    }
    if (!match) continue;
    const auto object = object_of(context, match->captures.back(), 16);
    if (!object || object->last - object->first < 2) return false;
    if (context.is(object->first, {"the"}) && context.is(object->first + 1, {"following", "next"}))
      return false;
    // Of one person only what lasts: not every evening's choice.
    const bool lasting =
        context.is(object->first, {"use", "switch", "move", "stop", "quit", "learn", "become",
                                   "adopt", "migrate", "leave", "study", "rename", "drop"});
    if (n == 1 && !lasting && !context.clause.is_explicit) return false;
    if (context.is(object->first,
                   {"go", "have", "take", "give", "do", "make", "try", "be", "get", "see"}) &&
        !context.clause.is_explicit && n != 2) {
      return false;  // outings: told once, true once
    }
    Span head{object->first, std::min(object->last, object->first + 6)};
    while (head.last > head.first + 2 &&
           context.is(head.last - 1, {"a", "an", "the", "our", "of", "to", "for", "in", "on", "at",
                                      "by", "with", "from", "and", "or", "get", "gets", "be"})) {
      --head.last;
    }
    const std::string key =
        key_under(n == 1 ? "user.decision_" : "project.decision_", object_key(context, head));
    if (key.empty()) return false;
    context.add(key, "decided: " + std::string(context.text(*object)), n == 1 ? kSofter : kPlain);
    return true;
  }
  return false;
}

bool is_technical(std::string_view word) {
  constexpr std::array<std::string_view, 38> kNouns = {
      "port",     "url",       "host",       "hostname", "version", "branch",    "database",
      "db",       "repo",      "repository", "server",   "ip",      "path",      "bucket",
      "region",   "endpoint",  "timeout",    "limit",    "budget",  "license",   "licence",
      "stack",    "framework", "language",   "codename", "domain",  "namespace", "cluster",
      "registry", "queue",     "channel",    "editor",   "linter",  "formatter", "quota",
      "sla",      "runtime",   "schedule"};
  return std::find(kNouns.begin(), kNouns.end(), word) != kNouns.end();
}

// "the staging port is 9090", "our database is Postgres".
bool find_address(const Context& context) {
  static const Pattern kIs("the|our {4} is|are|=|runs|lives|listens now|on|at|in? *");
  const auto match = kIs.match(context.words());
  if (!match) return false;
  const Span what = match->captures[0];
  const auto& words = context.words();
  const auto object = object_of(context, match->captures[1], 5);
  if (!object || !is_technical(words[what.last - 1].lower)) return false;
  if (!is_hard(words[object->first]) || context.is(object->first, {"a", "an", "the"})) return false;
  context.add(key_under("project.", object_key(context, what)), std::string(context.text(*object)),
              kPlain);
  return true;
}

// "we don't use Redis any more", "we dropped Redis".
bool find_dropped(const Context& context) {
  static const std::array<Pattern, 3> kRules = {
      Pattern("we don't use|have *"),
      Pattern("we no longer use *"),
      Pattern("we|we've finally|just? dropped|removed|abandoned *"),
  };
  for (const Pattern& pattern : kRules) {
    const auto match = pattern.match(context.words());
    if (!match) continue;
    const auto object = object_of(context, match->captures[0], 4);
    if (!object || !is_hard(context.words()[object->first])) return false;
    context.add(key_under("project.uses_", object_key(context, *object)),
                "doesn't use " + std::string(context.text(*object)), kPlain);
    return true;
  }
  return false;
}

}  // namespace

bool find_project(const Context& context) {
  return find_dropped(context) || find_change(context) || find_choice(context) ||
         find_decision(context) || find_address(context);
}

}  // namespace clawmark::rules
