#pragma once
// A small pattern language over the words of a clause.
//
//   word         that word
//   a|b|c        one of them
//   a|b?         one of them, or nothing
//   {n}          1 to n words, captured (as few as lead to a match; never across a pause)
//   *            all words up to the next pause or the end, captured; at least one
//   $            the clause, or the part before a pause, ends here
// A pattern matches from the first word on.

#include <optional>
#include <string_view>
#include <vector>

#include "models/rules/clause.h"

namespace clawmark::rules {

struct Span {
  std::size_t first = 0, last = 0;  // words, last exclusive
};

struct Match {
  std::vector<Span> captures;
  std::size_t end = 0;  // the word after the match
};

class Pattern {
 public:
  explicit Pattern(std::string_view text);
  std::optional<Match> match(const std::vector<Word>& words, std::size_t from = 0) const;

 private:
  struct Part {
    enum Kind { kWord, kSome, kRest, kEnd } kind = kWord;
    std::vector<std::string_view> words;
    bool optional = false;
    std::size_t most = 0;
  };
  bool step(const std::vector<Word>& words, std::size_t part, std::size_t at, Match& match) const;
  std::vector<Part> parts_;
};

}  // namespace clawmark::rules
