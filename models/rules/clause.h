#pragma once
// A message as the rules see it: clauses of words, without what is not the speaker's own plain
// statement.

#include <string>
#include <string_view>
#include <vector>

namespace clawmark::rules {

struct Word {
  std::string lower;      // folded; apostrophes straight; "dont" → "don't"
  std::size_t begin = 0;  // bytes in the message
  std::size_t end = 0;
  bool is_capital = false;  // starts with an upper-case letter, or of a script without case
  bool is_pause = false;    // a comma, dash, bracket: lower is ","; a colon: ":"
};

struct Clause {
  std::vector<Word> words;
  std::size_t begin = 0, end = 0;  // of the sentence in the message: the quote
  bool is_first = false;           // the sentence begins with it
  bool is_correction = false;  // opened by "no,", "actually", "sorry,", "correction:", "I meant"
  bool is_explicit = false;  // under "remember that", "note that", "from now on", "for the record"
};

// Clauses of a message. Left out: code blocks, quoted lines and passages, log-like lines,
// questions, conditions and hypotheticals, and all from where somebody else's words are passed on
// ("Here is the mail from Peter: …"). Openers ("well,", "hey", "by the way") are taken off
// and, where they mean something, turned into flags.
std::vector<Clause> split_clauses(std::string_view message);

// The message's own bytes from word `first` up to word `last` (exclusive), trimmed.
std::string_view words_text(std::string_view message, const Clause& clause, std::size_t first,
                            std::size_t last);

}  // namespace clawmark::rules
