#pragma once
// From what someone typed to a plan for the index. Inside projections/ only.

#include <string>
#include <string_view>
#include <vector>

#include "projections/search.h"

namespace clawmark {

struct SearchTerm {
  std::vector<std::string> tokens;  // more than one: a phrase
  bool prefix = false;              // advanced: begins with
  enum class Role { kAny, kMust, kNot } role = Role::kAny;
  std::int64_t rows = 0;  // of the index that may hold it (of a phrase: its rarest token)
  double weight = 0;      // inverse document frequency
};

// Terms in order, each once; words without meaning left out unless there are no others.
std::vector<SearchTerm> parse_search(const LexicalQuery& query);
// As an FTS5 expression for one term: always quoted.
std::string quote_term(const SearchTerm& term);

}  // namespace clawmark
