#pragma once
// Words of any language, as the search index keeps them. Inside projections/ only; the public face
// is search.h.
//
// A run without white space is cut into words. Letters and digits of alphabets make a word;
// apostrophes belong to it ("don't" → dont, "user's" → user). Words joined by - _ . / : @ + # &
// stand as a whole and each for itself
// ("ZX-4471" → zx-4471, zx, 4471; "C++" → c++, c). Han, kana and Hangul become bigrams, in
// documents also single characters; Thai, Lao, Khmer and Burmese are cut by ICU's dictionaries.
// Pictographs stand for themselves. All is NFKC case folded, without diacritics; words of a–z are
// stemmed.

#include <functional>
#include <string>
#include <string_view>

namespace clawmark {

struct Token {
  std::string text;
  std::size_t start = 0, end = 0;  // bytes in the text
  bool same_place = false;         // another form of the token before it
};

enum class TokenizeFor { kDocument, kQuery };

// Calls `emit` for each token in order; stops when it returns false.
void tokenize(std::string_view text, TokenizeFor purpose, const std::function<bool(Token&&)>& emit);

}  // namespace clawmark
