#pragma once
// What every set of rules gets, and gives.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "models/rules/clause.h"
#include "models/rules/pattern.h"

namespace clawmark::rules {

// How sure a rule is. The threshold for injection is 0.8.
constexpr double kOutright = 0.95, kPlain = 0.9, kSofter = 0.85, kSoft = 0.8;

struct Finding {
  std::string key, value;
  double confidence = 0;
  std::optional<TimeMs> due;
  std::string replaces;  // what was given up for it: "instead of X"
};

struct Context {
  std::string_view message;
  const Clause& clause;
  TimeMs said;
  std::string_view zone;
  std::vector<Finding>& found;

  const std::vector<Word>& words() const { return clause.words; }
  std::string_view text(Span span) const {
    return words_text(message, clause, span.first, span.last);
  }
  bool is(std::size_t at, std::initializer_list<std::string_view> any) const;
  void add(std::string key, std::string value, double confidence,
           std::optional<TimeMs> due = std::nullopt) const {
    found.push_back({std::move(key), std::move(value), confidence, due, {}});
  }
};

// The thing that a statement is about: from `span` up to a reason, relative clause or contrast,
// without trailing adverbs. nullopt: it points at something out of reach ("that", "your idea"),
// hedges, or is too long.
std::optional<Span> object_of(const Context& context, Span span, std::size_t words_max = 8);

// The key segment of an object: articles, "to eat" and the like off.
std::string object_key(const Context& context, Span object);

// "prefix" + segment; empty when there is no segment.
std::string key_under(std::string_view prefix, std::string_view segment);
// The same key for A over B and B over A.
std::string rivals_key(std::string_view prefix, std::string a, std::string b);

// A name, number, version, address or known tool: a value that says something by itself.
bool is_hard(const Word& word);

// Each looks at one clause and says whether it found something.
bool find_schedule(const Context& context);
bool find_identity(const Context& context);
bool find_preference(const Context& context);
bool find_instruction(const Context& context);
bool find_project(const Context& context);
// What was said under "remember that …" in words that no other rule knows.
bool find_note(const Context& context);

}  // namespace clawmark::rules
