#include "models/rules/context.h"

#include <algorithm>

#include "models/fact_key.h"
#include "models/rules/lexicon.h"

namespace clawmark::rules {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Here an object ends and its reason, time or contrast begins.
bool ends_object(std::string_view word) {
  return one_of(word, {"because", "cause", "cuz",    "since",    "but",   "so",         "which",
                       "that",    "who",   "when",   "whenever", "while", "as",         "although",
                       "though",  "even",  "until",  "where",    "cos",   "especially", "and/or",
                       "whereas", "after", "before", "unless",   "if",    "until",      "after"});
}

// "and I …", "and it …": a new statement, not a second object.
bool begins_statement(const std::vector<Word>& words, std::size_t at) {
  return at + 1 < words.size() && one_of(words[at].lower, {"and", "or", "yet"}) &&
         one_of(words[at + 1].lower,
                {"i",    "i'm",  "i've", "it",     "it's",  "we",     "he",    "she",
                 "they", "the",  "my",   "that",   "you",   "you're", "have",  "am",
                 "want", "hate", "love", "like",   "use",   "don't",  "can't", "would",
                 "also", "then", "am",   "always", "never", "is",     "was",   "hope"});
}

}  // namespace

bool Context::is(std::size_t at, std::initializer_list<std::string_view> any) const {
  return at < words().size() && !words()[at].is_pause && one_of(words()[at].lower, any);
}

std::optional<Span> object_of(const Context& context, Span span, std::size_t words_max) {
  const auto& words = context.words();
  std::size_t last = span.first;
  while (last < span.last && !words[last].is_pause && !ends_object(words[last].lower) &&
         !begins_statement(words, last)) {
    ++last;
  }
  const std::size_t stop = last;
  while (last > span.first &&
         (is_trailing(words[last - 1].lower) ||
          one_of(words[last - 1].lower,
                 {"so", "much", "lot", "very", "lots", "and", "of", "any", "more", "anything",
                  "than", "well", "best", "right", "most", "days", "these", "all"}))) {
    // "as well", "a lot", "any more", "more than anything", "these days" fall word by word.
    --last;
    if (last > span.first && words[last].lower == "lot" && words[last - 1].lower == "a") --last;
  }
  // "stories that …", "escaping to that world": what is left would say more than was said.
  if (stop < span.last && !words[stop].is_pause &&
      one_of(words[stop].lower, {"that", "which", "who", "where"})) {
    return std::nullopt;
  }
  const std::size_t count = last - span.first;
  if (count == 0 || count > words_max) return std::nullopt;
  for (std::size_t at = span.first; at < last; ++at) {
    const std::string& word = words[at].lower;
    if (is_hedge(word)) return std::nullopt;
    const bool near = at < span.first + 5;
    if (near && is_deictic(word) && word != "one" && word != "other" && word != "same")
      return std::nullopt;
  }
  if (is_deictic(words[span.first].lower) || is_deictic(words[last - 1].lower)) return std::nullopt;
  if (one_of(words[last - 1].lower,
             {"to",    "of",  "like", "in", "on", "at",  "for",  "with", "by", "from",
              "about", "the", "a",    "an", "my", "our", "into", "over", "if", "is"})) {
    return std::nullopt;
  }
  if (one_of(words[span.first].lower, {"everything", "every", "about"})) return std::nullopt;
  return Span{span.first, last};
}

std::string object_key(const Context& context, Span object) {
  const auto& words = context.words();
  std::size_t first = object.first;
  const auto skip = [&](std::initializer_list<std::string_view> any) {
    if (first + 1 < object.last && one_of(words[first].lower, any)) {
      ++first;
      return true;
    }
    return false;
  };
  skip({"to"});
  skip({"eat", "eating", "drink", "drinking", "have", "having", "use", "using", "do", "doing",
        "really"});
  while (skip({"a", "an", "the", "my", "our", "some", "any", "all", "kind", "kinds", "of", "very",
               "really", "lots"})) {
  }
  std::string joined;
  for (std::size_t at = first; at < object.last; ++at) {
    if (!joined.empty()) joined += ' ';
    joined += words[at].lower;
  }
  return key_segment(joined);
}

std::string key_under(std::string_view prefix, std::string_view segment) {
  return segment.empty() ? "" : std::string(prefix) + std::string(segment);
}

std::string rivals_key(std::string_view prefix, std::string a, std::string b) {
  if (a.empty() || b.empty()) return {};
  if (b < a) std::swap(a, b);
  return std::string(prefix) + key_segment(a + "_or_" + b);
}

bool is_hard(const Word& word) {
  if (word.is_pause || word.lower == "i") return false;
  const bool has_digit = word.lower.find_first_of("0123456789") != std::string::npos;
  const bool is_address =
      word.lower.find_first_of("/@") != std::string::npos && word.lower.size() > 3;
  return has_digit || is_address || word.is_capital || tool_kind(word.lower).has_value();
}

}  // namespace clawmark::rules
