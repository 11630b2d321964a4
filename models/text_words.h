#pragma once
// Words of a text in any script, for hashing and table look-up: simple Unicode rules, no
// dictionaries.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

enum class WordKind {
  kLetters,   // a script that writes words apart, or letters mixed with digits
  kNumber,    // digits only
  kUnspaced,  // a run of a script that does not write words apart (Han, Kana, Hangul, Thai, …)
  kSymbol,    // one emoji
};

struct TextWord {
  std::string_view text;
  WordKind kind = WordKind::kLetters;
};

// Lower case, compatibility forms unified; pure ASCII takes a fast path.
std::string fold_for_words(std::string_view text);

// Words of a folded text in order; views into it. An apostrophe between letters belongs to the
// word, marks belong to the letter before them, everything else parts words.
std::vector<TextWord> split_words(std::string_view folded);

// A light English stem: plural and past endings off ("dogs" "dog", "moved" "move"/"mov"). Only for
// words of ASCII letters.
std::string light_stem(std::string_view word);

}  // namespace clawmark
