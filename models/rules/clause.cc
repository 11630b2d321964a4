#include "models/rules/clause.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "models/rules/sentences.h"
#include "models/rules/words.h"

namespace clawmark::rules {
namespace {

using Strings = std::vector<std::string_view>;

bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Sentences that begin so ask, suppose or order something once.
bool opens_no_statement(const std::vector<Word>& words) {
  if (words.empty()) return true;
  const std::string& first = words[0].lower;
  if (one_of(first,
             {"if",      "unless",    "suppose",  "imagine", "assuming",  "whether", "what",
              "what's",  "why",       "how",      "who",     "who's",     "where",   "which",
              "would",   "could",     "should",   "might",   "maybe",     "perhaps", "do",
              "does",    "did",       "is",       "are",     "was",       "were",    "can",
              "may",     "shall",     "will",     "have",    "has",       "had",     "am",
              "when",    "whenever",  "once",     "after",   "before",    "while",   "although",
              "though",  "hopefully", "as",       "say",     "let's say", "isn't",   "aren't",
              "doesn't", "didn't",    "wouldn't", "won't",   "until",     "wish"})) {
    return true;
  }
  return words.size() > 1 && first == "let's" && words[1].lower == "say";
}

bool starts_with_words(const std::vector<Word>& words, std::size_t at, const Strings& phrase) {
  if (at + phrase.size() > words.size()) return false;
  for (std::size_t i = 0; i < phrase.size(); ++i) {
    if (words[at + i].lower != phrase[i]) return false;
  }
  return true;
}

struct Opener {
  Strings phrase;
  bool correction = false;
  bool is_explicit = false;
  bool wants_pause = false;  // only when a comma follows: "no, it is" but not "no cats here"
};

const std::vector<Opener>& openers() {
  static const std::vector<Opener> kOpeners = {
      {{"no"}, true, false, true},
      {{"nope"}, true, false, false},
      {{"actually"}, true, false, false},
      {{"correction"}, true, false, true},
      {{"sorry"}, true, false, true},
      {{"wait"}, true, false, true},
      {{"i", "meant"}, true, false, false},
      {{"i", "mean"}, true, false, true},
      {{"please", "remember", "that"}, false, true, false},
      {{"please", "remember"}, false, true, false},
      {{"remember", "that"}, false, true, false},
      {{"remember"}, false, true, false},
      {{"please", "note", "that"}, false, true, false},
      {{"note", "that"}, false, true, false},
      {{"note", "to", "self"}, false, true, false},
      {{"note"}, false, true, true},
      {{"keep", "in", "mind", "that"}, false, true, false},
      {{"keep", "in", "mind"}, false, true, true},
      {{"don't", "forget", "that"}, false, true, false},
      {{"from", "now", "on"}, false, true, false},
      {{"going", "forward"}, false, true, false},
      {{"in", "the", "future"}, false, true, true},
      {{"for", "the", "record"}, false, true, false},
      {{"for", "future", "reference"}, false, true, false},
      {{"fyi"}, false, true, false},
      {{"just", "so", "you", "know"}, false, true, false},
      {{"by", "the", "way"}, false, false, false},
      {{"btw"}, false, false, false},
      {{"to", "be", "honest"}, false, false, false},
      {{"to", "be", "clear"}, false, false, false},
      {{"in", "general"}, false, false, false},
      {{"in", "fact"}, false, false, false},
      {{"as", "for", "me"}, false, false, false},
      {{"for", "me"}, false, false, true},
      {{"tbh"}, false, false, false},
      {{"well"}, false, false, false},
      {{"so"}, false, false, false},
      {{"and"}, false, false, false},
      {{"but"}, false, false, false},
      {{"also"}, false, false, false},
      {{"oh"}, false, false, false},
      {{"ah"}, false, false, false},
      {{"hey"}, false, false, false},
      {{"hi"}, false, false, false},
      {{"hello"}, false, false, false},
      {{"yes"}, false, false, false},
      {{"yeah"}, false, false, false},
      {{"yep"}, false, false, false},
      {{"ok"}, false, false, false},
      {{"okay"}, false, false, false},
      {{"right"}, false, false, true},
      {{"great"}, false, false, true},
      {{"cool"}, false, false, true},
      {{"thanks"}, false, false, true},
      {{"haha"}, false, false, false},
      {{"lol"}, false, false, false},
      {{"honestly"}, false, false, false},
      {{"personally"}, false, false, false},
      {{"generally"}, false, false, false},
      {{"please"}, false, false, false},
      {{"really"}, false, false, false},
      {{"anyway"}, false, false, false},
      {{"anyways"}, false, false, false},
      {{"too"}, false, false, true},
  };
  return kOpeners;
}

// Takes openers off the front and notes what they say.
void take_openers(Clause& clause) {
  std::size_t at = 0;
  for (bool again = true; again;) {
    again = false;
    while (at < clause.words.size() && clause.words[at].is_pause) ++at;
    for (const Opener& opener : openers()) {
      if (!starts_with_words(clause.words, at, opener.phrase)) continue;
      const std::size_t after = at + opener.phrase.size();
      if (opener.wants_pause && (after >= clause.words.size() || !clause.words[after].is_pause))
        continue;
      clause.is_correction = clause.is_correction || opener.correction;
      // "Remember, practice makes perfect" is advice; "remember: …" is not.
      const bool advice = opener.phrase.back() == "remember" && after < clause.words.size() &&
                          clause.words[after].lower == ",";
      clause.is_explicit = clause.is_explicit || (opener.is_explicit && !advice);
      at = after;
      again = true;
      break;
    }
  }
  clause.words.erase(clause.words.begin(), clause.words.begin() + static_cast<std::ptrdiff_t>(at));
}

// "hi Sam, I use …": a greeting's name goes with it.
void take_greeted_name(Clause& clause) {
  if (clause.words.size() > 3 && clause.words[0].is_capital && clause.words[1].is_pause &&
      !one_of(clause.words[0].lower,
              {"i", "we", "my", "our", "decision", "decided", "todo", "task", "next", "plan"})) {
    Clause rest = clause;
    rest.words.erase(rest.words.begin(), rest.words.begin() + 2);
    take_openers(rest);
    if (!rest.words.empty() &&
        one_of(rest.words[0].lower, {"i", "i'm", "we", "my", "our", "let's", "use", "we're"})) {
      clause = std::move(rest);
    }
  }
}

// Where a new statement with its own subject begins inside a sentence.
bool begins_clause(const std::vector<Word>& words, std::size_t at) {
  if (at + 1 >= words.size()) return false;
  std::size_t subject = at;
  const bool joined = one_of(words[at].lower, {"and", "but", "so", "also", "then"});
  if (joined) ++subject;
  const bool after_pause = at > 0 && words[at - 1].is_pause;
  if (!joined && !after_pause) return false;
  if (one_of(words[subject].lower, {"i", "i'm", "i've", "my", "we", "we've", "we're", "our",
                                    "let's", "please", "don't", "never", "always", "it's"})) {
    return subject + 1 < words.size();
  }
  return false;
}

void add_clauses(std::string_view message, const Sentence& sentence, std::string_view masked,
                 std::vector<Clause>& out) {
  const std::vector<Word> words = split_words(masked, sentence.begin, sentence.end);
  if (words.size() < 2) return;
  Clause whole;
  whole.begin = sentence.begin;
  whole.end = sentence.end;
  while (whole.begin < whole.end && is_space(static_cast<unsigned char>(message[whole.begin])))
    ++whole.begin;
  while (whole.end > whole.begin && is_space(static_cast<unsigned char>(message[whole.end - 1])))
    --whole.end;
  bool first = true, inherited = false;
  std::size_t start = 0;
  for (std::size_t at = 1; at <= words.size(); ++at) {
    if (at < words.size() && !begins_clause(words, at)) continue;
    Clause clause = whole;
    clause.words.assign(words.begin() + static_cast<std::ptrdiff_t>(start),
                        words.begin() + static_cast<std::ptrdiff_t>(at));
    start = at;
    take_openers(clause);
    take_greeted_name(clause);
    while (!clause.words.empty() && clause.words.back().is_pause) clause.words.pop_back();
    const bool dead = opens_no_statement(clause.words);
    if (dead && first && !clause.words.empty()) return;  // "if …, we use …"
    if (dead) {
      // "Remember, I …": the opener's meaning passes on to what follows it.
      inherited = inherited || clause.is_explicit;
      first = first && clause.words.empty();
      if (clause.is_correction) whole.is_correction = true;
      continue;
    }
    clause.is_explicit = clause.is_explicit || inherited;
    clause.is_first = first;
    inherited = clause.is_explicit;
    first = false;
    out.push_back(std::move(clause));
  }
}

// "Here is the mail from Peter: …", "Peter wrote: …", "Forwarded message": from here on somebody
// else speaks.
bool passes_the_word(const std::vector<Word>& words, std::string_view sentence) {
  const auto is = [&](std::size_t at, std::initializer_list<std::string_view> list) {
    return at < words.size() && !words[at].is_pause && one_of(words[at].lower, list);
  };
  if (is(0, {"forwarded"}) && is(1, {"message", "mail", "from"})) return true;
  const bool header = words.size() > 1 && words[1].lower == ":";
  if (header && is(0, {"fwd", "fw", "wg", "forwarded"})) return true;
  constexpr std::size_t kIntroductionWords = 14;
  std::size_t colon = 0;
  while (colon < words.size() && words[colon].lower != ":") ++colon;
  const bool ends = colon == words.size() && trim(sentence).ends_with(':');
  if ((colon == words.size() && !ends) || colon == 0 || colon > kIntroductionWords) return false;
  if (is(colon - 1, {"wrote", "writes", "said", "says", "replied", "replies", "answered"}) ||
      (colon > 1 && is(colon - 2, {"wrote", "told", "writes"}) && is(colon - 1, {"me", "us"}))) {
    return colon < 2 || !is(0, {"i", "we"});
  }
  bool text = false;
  for (std::size_t at = 0; at < colon; ++at) {
    text = text || is(at, {"mail", "email", "e-mail", "message", "letter", "reply", "text", "post",
                           "article", "memo", "statement", "announcement", "transcript"});
    const bool whose =
        is(at, {"from", "by", "of"}) && at + 1 < colon && !is(at + 1, {"me", "us", "mine"});
    if (text && whose) return true;
  }
  return false;
}

}  // namespace

std::vector<Clause> split_clauses(std::string_view message) {
  std::string masked = masked_text(message);
  std::vector<Clause> clauses;
  for (const Sentence& sentence : split_sentences(masked)) {
    const std::string_view said =
        std::string_view(masked).substr(sentence.begin, sentence.end - sentence.begin);
    if (passes_the_word(split_words(masked, sentence.begin, sentence.end), said)) break;
    if (!sentence.is_question) add_clauses(message, sentence, masked, clauses);
  }
  return clauses;
}

std::string_view words_text(std::string_view message, const Clause& clause, std::size_t first,
                            std::size_t last) {
  while (first < last && clause.words[first].is_pause) ++first;
  while (last > first && clause.words[last - 1].is_pause) --last;
  if (first >= last) return {};
  const std::size_t begin = clause.words[first].begin;
  return message.substr(begin, clause.words[last - 1].end - begin);
}

}  // namespace clawmark::rules
