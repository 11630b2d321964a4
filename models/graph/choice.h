#pragma once
// What was chosen, what it is for, and what it replaces: "Postgres as the database for the shop
// instead of MySQL".

#include <optional>
#include <string>
#include <vector>

#include "models/graph/rules.h"

namespace clawmark::graph_rules {

// What something is for. `unclear`: it points at something out of reach ("for that").
struct Subject {
  std::string name;          // "shop"; empty: nothing in particular ("for now", "for the project")
  bool is_definite = false;  // "the shop", not "tests"
  bool unclear = false;
};

struct Choice {
  std::string chosen;    // "Mollie"
  std::string purpose;   // "payment provider"
  std::string replaces;  // "Stripe"
  Subject subject;
  bool is_change = false;   // what it replaces was in use: "instead of", not "over" or "not"
  std::vector<Span> parts;  // "Flask", "SQLite"
};

// The words after "use", "go with", "switch to".
Choice read_choice(const Context& context, Span span);
// The words after "for", "in", "on".
Subject read_subject(const Context& context, Span span);

// "payment provider", "database": what a thing is, not what it is for.
bool is_role(std::string_view name);

// What the tool that stands in `part` is: "database"; empty when none does.
std::string kind_of(const Context& context, Span part);
// What a choice settles, without its subject: "payment provider", "database"; empty: unknown.
std::string settled_by(const Context& context, const Choice& choice);
// The same with the subject, as decisions and relations carry it: "database for shop". Two that
// are equal settle the same thing; empty: this one settles nothing that could be named.
std::string slot_for(const std::string& settled, const std::string& subject);
std::string slot_of(const Context& context, const Choice& choice);
// "database for the shop: Postgres"; empty when it is not known what is settled.
std::string choice_name(const Context& context, const Choice& choice);
// "for the shop", with a blank before it; empty without a subject.
std::string for_subject(const Subject& subject);

// Where the reason begins ("because", "since", "due to"); the number of words when there is
// none.
std::size_t reason_at(const Context& context, std::size_t from);
std::string reason_text(const Context& context, std::size_t reason);

// A decision with the relation to who made it and its episode.
void finish_decision(Reading& reading, const Context& context, GraphNode decision,
                     std::size_t reason, bool is_change);
// The decision that a choice is, under `verb_text` when nothing says what it settles.
void add_choice_decision(Reading& reading, const Context& context, const Choice& choice,
                         std::string_view verb_text, std::size_t reason);
// Components of a choice, and that the project rests on them.
void add_components(Reading& reading, const Context& context, const Choice& choice,
                    const std::string& decision);

// "switch from A to B", "replace A with B", "no longer use A": the verb stands at `verb`.
// `decided`: "we decided to …" came before it.
bool add_change(Reading& reading, const Context& context, std::size_t verb, bool decided);
bool add_stop(Reading& reading, const Context& context, std::size_t verb, bool decided);
// "launch on 5 December", "move the meeting to Tuesday".
bool add_dated_decision(Reading& reading, const Context& context, std::size_t verb);

inline constexpr char kProject[] = "project";  // of a conversation, while it has no name

}  // namespace clawmark::graph_rules
