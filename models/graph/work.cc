// Verbs of work and the names of tasks.

#include "models/graph/work.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "models/rules/dates.h"
#include "models/rules/lexicon.h"

namespace clawmark::graph_rules {
namespace {

// `loose`: also said of much that is no work ("make friends", "check it out").
struct WorkVerb {
  std::string_view base, past, participle;
  bool loose = false;
};
constexpr std::array<WorkVerb, 40> kVerbs = {{
    {"write", "wrote", "written"},
    {"send", "sent", "sent", true},
    {"fix", "fixed", "fixed"},
    {"build", "built", "built"},
    {"make", "made", "made", true},
    {"add", "added", "added", true},
    {"deploy", "deployed", "deployed"},
    {"implement", "implemented", "implemented"},
    {"test", "tested", "tested"},
    {"finish", "finished", "finished", true},
    {"prepare", "prepared", "prepared", true},
    {"update", "updated", "updated", true},
    {"create", "created", "created", true},
    {"draft", "drafted", "drafted"},
    {"review", "reviewed", "reviewed"},
    {"order", "ordered", "ordered", true},
    {"print", "printed", "printed", true},
    {"check", "checked", "checked", true},
    {"migrate", "migrated", "migrated"},
    {"ship", "shipped", "shipped"},
    {"refactor", "refactored", "refactored"},
    {"document", "documented", "documented"},
    {"design", "designed", "designed"},
    {"publish", "published", "published"},
    {"install", "installed", "installed", true},
    {"set", "set", "set", true},
    {"upload", "uploaded", "uploaded"},
    {"book", "booked", "booked", true},
    {"clean", "cleaned", "cleaned", true},
    {"remove", "removed", "removed", true},
    {"rename", "renamed", "renamed"},
    {"replace", "replaced", "replaced", true},
    {"rewrite", "rewrote", "rewritten"},
    {"debug", "debugged", "debugged"},
    {"merge", "merged", "merged"},
    {"release", "released", "released"},
    {"investigate", "investigated", "investigated"},
    {"solve", "solved", "solved"},
    {"resolve", "resolved", "resolved"},
    {"complete", "completed", "completed", true},
}};

const WorkVerb* find_verb(std::string_view word, std::string_view WorkVerb::* form) {
  const auto found = std::find_if(kVerbs.begin(), kVerbs.end(),
                                  [&](const WorkVerb& verb) { return verb.*form == word; });
  return found == kVerbs.end() ? nullptr : &*found;
}

bool is_determiner(const Context& context, std::size_t at) {
  return context.is(at, {"the", "our", "my", "all", "both"});
}

void add_only_status(Reading& reading, std::string name, std::string_view status) {
  GraphNode& node = add_task(reading, std::move(name), status);
  node.only_status = true;
  node.description.clear();
}

// A date at the end is when, not what: "… by Friday".
Span without_date(const Context& context, Span span, std::optional<TimeMs>& due) {
  const auto date = rules::find_date(context.clause, span.first + 1, context.said, context.zone);
  if (!date || date->words.first >= span.last) return span;
  due = date->at;
  std::size_t first = date->words.first;
  while (first > span.first + 1 && context.is(first - 1, {"on", "by", "until", "till", "before"})) {
    --first;
  }
  const bool ends = date->words.last >= span.last;
  return ends && first > span.first ? Span{span.first, first} : span;
}

}  // namespace

std::string_view work_verb(std::string_view base) {
  const WorkVerb* verb = find_verb(base, &WorkVerb::base);
  return verb == nullptr ? std::string_view() : verb->base;
}

std::string_view work_verb_of_past(std::string_view past) {
  const WorkVerb* verb = find_verb(past, &WorkVerb::past);
  return verb == nullptr || verb->past == verb->base ? std::string_view() : verb->base;
}

std::string_view work_verb_of_participle(std::string_view participle) {
  const WorkVerb* verb = find_verb(participle, &WorkVerb::participle);
  return verb == nullptr ? std::string_view() : verb->base;
}

bool is_errand_verb(std::string_view base) {
  constexpr std::array<std::string_view, 10> kErrands = {
      "call", "phone", "email", "mail", "pay", "buy", "ask", "invite", "return", "renew"};
  return std::find(kErrands.begin(), kErrands.end(), base) != kErrands.end();
}

bool is_making_verb(std::string_view base) {
  constexpr std::array<std::string_view, 10> kMaking = {"write",  "prepare", "make",      "create",
                                                        "build",  "finish",  "implement", "draft",
                                                        "design", "complete"};
  return std::find(kMaking.begin(), kMaking.end(), base) != kMaking.end();
}

std::optional<TaskName> listed_name(const Context& context, Span span) {
  TaskName out;
  const Span what = without_date(context, span, out.due);
  out.name = thing(context, what, 10);
  if (out.name.empty()) return std::nullopt;
  // "E-SEAT-409" is what is to be fixed, and what is solved.
  const std::string& verb = context.words()[what.first].lower;
  const std::size_t object = what.first + 1;
  const bool known = object < what.last && is_identifier(context.words()[object]) &&
                     what.last == object + 1 && (verb == "fix" || verb == "solve");
  const bool names_thing = known || (object < what.last && is_making_verb(verb) &&
                                     !context.is(object, {"up", "sure", "for", "to", "with"}));
  if (!names_thing) return out;
  std::string made = thing(context, {object, what.last}, 9);
  if (made.empty()) return out;
  out.alias = std::move(out.name);
  out.name = std::move(made);
  return out;
}

std::optional<TaskName> task_name(const Context& context, Span span) {
  const WorkVerb* verb = span.first < span.last
                             ? find_verb(context.words()[span.first].lower, &WorkVerb::base)
                             : nullptr;
  const bool errand = span.first < span.last && is_errand_verb(context.words()[span.first].lower);
  if (verb == nullptr && !errand) return std::nullopt;
  std::size_t object = span.first + 1;
  if (context.is(object, {"up"})) ++object;
  if (object >= span.last || context.words()[object].is_pause) return std::nullopt;
  for (std::size_t at = span.first; at < span.last; ++at) {
    if (context.is(at, {"you", "your", "yourself", "myself", "sure", "some", "it", "up", "out"}) &&
        at >= object) {
      return std::nullopt;
    }
  }
  const bool named = names_something(context, {object, object + 1});
  const bool article = context.is(object, {"a", "an"});
  const bool definite = named || is_determiner(context, object) ||
                        (article && !context.is(span.first, {"make", "add", "order"}));
  if (!definite && (errand || verb->loose)) return std::nullopt;
  if (context.is(object, {"for", "in", "on", "with", "to", "at", "about", "more", "down", "off",
                          "back", "like", "by", "from", "something", "someone", "how"})) {
    return std::nullopt;
  }
  std::optional<TimeMs> due;
  if (without_date(context, span, due).last <= object) return std::nullopt;
  return listed_name(context, span);
}

GraphNode& add_task(Reading& reading, std::string name, std::string_view status) {
  GraphNode& node = add_node(reading, "task", std::move(name), rules::kPlain);
  node.status = std::string(status);
  node.stated = false;  // a reminder is over some day
  return node;
}

void add_status_of_work(Reading& reading, const std::string& thing, std::string_view status,
                        const std::vector<std::string_view>& verbs) {
  const bool numbered = thing.find_first_of("0123456789") != std::string::npos;
  const bool is_name = numbered && thing.find(' ') == std::string::npos;
  for (const std::string_view verb : verbs) {
    if (is_name && (verb == "fix" || verb == "solve" || verb == "resolve"))
      continue;  // "E-SEAT-409" goes by itself
    for (const std::string_view article : {" ", " the "}) {
      if (numbered && article != " ") continue;  // "send Migration 0007"
      add_only_status(reading, std::string(verb) + std::string(article) + thing, status);
    }
  }
}

void add_status(Reading& reading, const std::string& thing, std::string_view status,
                const std::vector<std::string_view>& verbs) {
  add_only_status(reading, thing, status);
  add_status_of_work(reading, thing, status, verbs);
}

}  // namespace clawmark::graph_rules
