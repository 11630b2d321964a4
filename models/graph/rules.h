#pragma once
// Rules of the graph: what a clause says outright about things, tasks and decisions. Each looks at
// one clause of one message and adds what it found; messages are read one by one, so that how a
// conversation is cut into chunks changes nothing. Would rather miss than guess.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph.h"
#include "models/rules/context.h"

namespace clawmark::graph_rules {

using rules::Clause;
using rules::Context;
using rules::Span;

struct Reading {
  const WindowMessage& message;
  std::vector<Clause> clauses;
  std::size_t at = 0;  // the clause that is looked at
  std::string_view zone;
  GraphAnswer& out;
  bool decided = false;  // an earlier clause of the message was a decision

  const Clause& clause() const { return clauses[at]; }
  std::string_view quote() const { return quote_from(at); }
  // From the beginning of clause `first` to the end of the present one.
  std::string_view quote_from(std::size_t first) const;
  std::vector<Evidence> evidence(std::size_t first) const;
};

// The name of a thing: articles and trailing words off. Empty: it points at something out of reach
// ("that", "your idea"), hedges, or is too long.
std::string thing(const Context& context, Span span, std::size_t words_max = 6);
// An identifier that names one thing by itself: "E-SEAT-409", "WO-2031-117", "0007".
bool is_identifier(const rules::Word& word);
bool names_something(const Context& context, Span span);  // an identifier or a name in it
std::string upper_first(std::string_view text);

GraphNode& add_node(Reading& reading, std::string_view type, std::string name, double confidence);
GraphEdge& add_edge(Reading& reading, std::string_view type, std::string_view from_type,
                    std::string from, std::string_view to_type, std::string to);
GraphEpisode& add_episode(Reading& reading, std::string_view type, std::string title,
                          double salience);
// The speaker as a thing, and a relation to them; nothing when their name is not known.
void by_speaker(Reading& reading, std::string_view edge, std::string_view from_type,
                const std::string& from);

// Each says whether it found something.
bool find_decision(Reading& reading, const Context& context);
bool find_move(Reading& reading, const Context& context);   // "we moved to X", "we use X"
bool find_dated(Reading& reading, const Context& context);  // "the premiere is on 6 December"
bool find_blocker(Reading& reading, const Context& context);
bool find_status(Reading& reading, const Context& context);
bool find_task(Reading& reading, const Context& context);
bool find_constraint(Reading& reading, const Context& context);
bool find_person(Reading& reading, const Context& context);
bool find_project(Reading& reading, const Context& context);
bool find_failure(Reading& reading, const Context& context);
void find_files(Reading& reading);

}  // namespace clawmark::graph_rules
