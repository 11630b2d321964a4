#pragma once
// Words of a text as sets: how much of a query a text covers, how alike two texts are, where in a
// text the query's words stand thickest.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

// Stop words (function words, small talk) are left out, unless somebody looks for just them.
enum class Words { kContent, kAll };

// Hashes of a text's tokens (projections/search), ascending, each once.
using TokenSet = std::vector<std::uint64_t>;
TokenSet token_set(std::string_view text, Words words = Words::kContent);
double jaccard(const TokenSet& a, const TokenSet& b);  // two empty sets: 0

struct QueryTerm {
  std::string token;
  std::uint64_t hash = 0;
  double weight = 1;  // rarer means more
};

class QueryTerms {
 public:
  QueryTerms() = default;
  // Content words only; none in "ok, thanks". Weights by shape (identifiers and long words count
  // more) until set_rarity() is told better.
  explicit QueryTerms(std::string_view text, Words words = Words::kContent);
  // As a search reads it: content words, or all of them where there are no others ("don't", "AND").
  static QueryTerms literal(std::string_view text);
  Words words() const { return words_; }
  bool empty() const { return terms_.empty(); }
  std::span<const QueryTerm> terms() const { return terms_; }
  // `documents[i]`: how many of `total` texts hold terms()[i].
  void set_rarity(std::span<const std::int64_t> documents, std::int64_t total);
  // Weight of the terms found over the weight of all, or of the six heaviest when there are more;
  // 0..1.
  double coverage(const TokenSet& text) const;
  const TokenSet& set() const { return set_; }
  // Whether one of these tokens (joined by blanks) is a term.
  bool names(std::string_view tokens) const;

 private:
  Words words_ = Words::kContent;
  std::vector<QueryTerm> terms_;
  TokenSet set_;
};

// Whether a text is greeting, thanks, assent and the like only: nothing to be reminded of.
bool is_small_talk(std::string_view text);

// The part of `text`, at most `bytes_max` bytes and cut between code points, in which the query's
// words (as letters, ASCII case) stand thickest; cheap on megabytes. The whole text when it is
// short enough.
std::string_view focus(std::string_view text, const QueryTerms& query, std::size_t bytes_max);

// At most `chars_max` code points of `text` (white space collapsed) where the query's words stand
// thickest, cut at word borders, cuts marked with "…".
std::string excerpt_around(std::string_view text, const QueryTerms& query, std::size_t chars_max);

}  // namespace clawmark
