#include "models/rules/clause.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace clawmark::rules {
namespace {

using Strings = std::vector<std::string_view>;

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

// Overwrites code blocks, quoted lines and long quoted passages with line ends or blanks, keeping
// every offset.
class Mask {
 public:
  explicit Mask(std::string_view message) : text_(message) {
    fences();
    lines();
    quotes('"', '"');
    between("\xE2\x80\x9C", "\xE2\x80\x9D");  // “ ”
    between("\xC2\xAB", "\xC2\xBB");          // « »
    between("\xE2\x80\x9E", "\xE2\x80\x9C");  // „ “
    quotes('`', '`');
  }
  std::string take() { return std::move(text_); }

 private:
  void blank(std::size_t from, std::size_t to, char with) {
    for (std::size_t i = from; i < to; ++i) text_[i] = with;
  }
  void fences() {
    for (const std::string_view fence : {"```", "~~~"}) {
      for (std::size_t at = text_.find(fence); at != std::string::npos;
           at = text_.find(fence, at)) {
        const std::size_t close = text_.find(fence, at + 3);
        const std::size_t end = close == std::string::npos ? text_.size() : close + 3;
        blank(at, end, '\n');
        at = end;
      }
    }
  }
  void lines() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      if (is_foreign(std::string_view(text_).substr(at, end - at))) blank(at, end, '\n');
      at = end + 1;
    }
  }
  // A quoted line, a shell line, or one with too many symbols to be prose.
  static bool is_foreign(std::string_view line) {
    const std::string_view body = trim(line);
    if (body.starts_with('>') || body.starts_with("$ ") || body.starts_with("|")) return true;
    std::size_t symbols = 0;
    for (const char c : body) {
      symbols += std::string_view("{}[]<>=;|\\$_^~").find(c) != std::string_view::npos;
    }
    return symbols > 3 && symbols * 12 > body.size();
  }
  // A passage of three words or more is someone else's; a short one may name a thing.
  void cut_passage(std::size_t from, std::size_t to) {
    const std::string_view inside = std::string_view(text_).substr(from, to - from);
    const auto blanks = std::count(inside.begin(), inside.end(), ' ');
    if (blanks >= 2) blank(from, to, '\x01');
  }
  void quotes(char open, char close) {
    for (std::size_t at = text_.find(open); at != std::string::npos; at = text_.find(open, at)) {
      const std::size_t end = text_.find(close, at + 1);
      if (end == std::string::npos) return;
      cut_passage(at + 1, end);
      at = end + 1;
    }
  }
  void between(std::string_view open, std::string_view close) {
    for (std::size_t at = text_.find(open); at != std::string::npos; at = text_.find(open, at)) {
      const std::size_t end = text_.find(close, at + open.size());
      if (end == std::string::npos) return;
      cut_passage(at + open.size(), end);
      at = end + close.size();
    }
  }

  std::string text_;
};

bool is_abbreviation(std::string_view before) {
  const std::size_t start = before.find_last_of(" \n(") + 1;
  const std::string word = lower_ascii(before.substr(start));
  if (word.size() == 1 && is_alnum(word[0]) && word != "i") return true;  // an initial
  constexpr std::array<std::string_view, 12> kKnown = {"e.g", "i.e", "etc", "vs", "mr",  "mrs",
                                                       "ms",  "dr",  "st",  "no", "a.m", "p.m"};
  return word != "no" && std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end();
}

struct Sentence {
  std::size_t begin = 0, end = 0;
  bool is_question = false;
};

std::vector<Sentence> split_sentences(std::string_view text) {
  std::vector<Sentence> sentences;
  std::size_t begin = 0;
  bool question = false;
  const auto close = [&](std::size_t end) {
    if (end > begin) sentences.push_back({begin, end, question});
    begin = end;
    question = false;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    const char32_t c = next_code_point(text, at);
    const bool last = at >= text.size();
    const bool gap = last || is_space(static_cast<unsigned char>(text[at])) || text[at] == '"' ||
                     text[at] == ')' || text[at] == '*' || text[at] == '?' || text[at] == '!' ||
                     text[at] == '.';
    if (c == '\n') {
      close(here);
      begin = at;
    } else if (c == '?' || c == 0xFF1F || c == 0x061F) {
      question = true;
      if (gap || c > 0x7F) close(at);
    } else if ((c == '!' && gap) || c == 0x3002 || c == 0xFF01) {
      // "what?!" has been closed by the mark before
      close(at);
    } else if (c == '.' && gap && !is_abbreviation(text.substr(begin, here - begin))) {
      close(at);
    }
  }
  close(text.size());
  return sentences;
}

// Contractions written without the apostrophe, or with words run together.
std::string normal_word(std::string word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kForms = {{
      {"dont", "don't"},
      {"cant", "can't"},
      {"cannot", "can't"},
      {"im", "i'm"},
      {"ive", "i've"},
      {"lets", "let's"},
      {"doesnt", "doesn't"},
      {"weve", "we've"},
      {"thats", "that's"},
      {"favourite", "favorite"},
      {"colour", "color"},
      {"anymore", "any_more"},
      {"isnt", "isn't"},
      {"wont", "won't"},
  }};
  for (const auto& [form, normal] : kForms) {
    if (word == form) return std::string(normal);
  }
  return word;
}

bool is_capital(std::string_view word) {
  std::size_t at = 0;
  const char32_t c = next_code_point(word, at);
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  const std::string_view first = word.substr(0, at);
  const std::string folded = fold_case(first);
  if (folded != first) return true;  // an upper-case letter beyond ASCII
  return c >= 0x0590 && !(c >= 0x2000 && c <= 0x2BFF) && !(c >= 0x1E00 && c <= 0x1FFF);
}

// Bytes of punctuation (or of a mask) at the start; 0: none.
std::size_t opening(std::string_view token) {
  for (const std::string_view mark :
       {"\"", "'", "(", "[", "{", "*", "_", "~", "`", "\x01", "#", "-", "\xE2\x80\x9C",
        "\xE2\x80\x98", "\xE2\x80\xA2", "\xE2\x80\x9E", "\xC2\xAB", "\xE3\x80\x8C"}) {
    if (token.starts_with(mark)) return mark.size();
  }
  return 0;
}

std::size_t closing(std::string_view token) {
  for (const std::string_view mark : {"\"",
                                      "'",
                                      ")",
                                      "]",
                                      "}",
                                      "*",
                                      "_",
                                      "~",
                                      "`",
                                      "\x01",
                                      ".",
                                      "!",
                                      "?",
                                      ",",
                                      ";",
                                      ":",
                                      "-",
                                      "\xE2\x80\x9D",
                                      "\xE2\x80\x99",
                                      "\xE2\x80\xA6",
                                      "\xE3\x80\x82",
                                      "\xEF\xBC\x81",
                                      "\xEF\xBC\x8C",
                                      "\xE2\x80\x9C",
                                      "\xC2\xBB",
                                      "\xE3\x80\x8D"}) {
    if (token.ends_with(mark)) return mark.size();
  }
  return 0;
}

bool pauses(std::string_view mark) {
  return mark == "," || mark == ";" || mark == ":" || mark == "(" || mark == ")" || mark == "-" ||
         mark == "\xE2\x80\xA6" || mark == "\x01" || mark == "\xEF\xBC\x8C" || mark == "[" ||
         mark == "]";
}

void add_pause(std::vector<Word>& words, std::size_t at, bool colon = false) {
  if (words.empty() || words.back().is_pause) return;
  words.push_back({colon ? ":" : ",", at, at, false, true});
}

// One blank-separated token: marks off, word on.
void add_token(std::vector<Word>& words, std::string_view text, std::size_t begin,
               std::size_t end) {
  while (begin < end) {
    const std::size_t mark = opening(text.substr(begin, end - begin));
    if (mark == 0) break;
    if (pauses(text.substr(begin, mark))) add_pause(words, begin);
    begin += mark;
  }
  bool pause_after = false, colon = false;
  while (begin < end) {
    const std::string_view token = text.substr(begin, end - begin);
    const std::size_t mark = closing(token);
    if (mark == 0) break;
    pause_after = pause_after || pauses(token.substr(token.size() - mark));
    colon = colon || token.ends_with(':');
    end -= mark;
  }
  if (begin < end) {
    const std::string_view token = text.substr(begin, end - begin);
    std::string lower = fold_case(token);
    for (std::size_t at = lower.find("\xE2\x80\x99"); at != std::string::npos;
         at = lower.find("\xE2\x80\x99")) {
      lower.replace(at, 3, "'");
    }
    std::size_t first = 0;
    const char32_t c = next_code_point(token, first);
    const bool wordless = c > 0x2000 && c < 0x2E80 && token.size() <= 8;  // arrows, symbols
    const bool emoji = c >= 0x1F000 && c <= 0x1FAFF;
    const bool dash = token == "\xE2\x80\x94" || token == "\xE2\x80\x93";
    if (dash || wordless || emoji) {
      add_pause(words, begin);
    } else {
      words.push_back({normal_word(std::move(lower)), begin, end, is_capital(token), false});
    }
  }
  if (pause_after) add_pause(words, end, colon);
}

// "I am" reads as "I'm", "do not" as "don't", and so on, so that the rules know one form each.
void contract(std::vector<Word>& words) {
  struct Pair {
    std::string_view first, second, one;
  };
  constexpr std::array<Pair, 7> kPairs = {{{"i", "am", "i'm"},
                                           {"we", "are", "we're"},
                                           {"we", "will", "we'll"},
                                           {"do", "not", "don't"},
                                           {"can", "not", "can't"},
                                           {"let", "us", "let's"},
                                           {"any", "more", "any_more"}}};
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    for (const Pair& pair : kPairs) {
      if (words[at].lower != pair.first || words[at + 1].lower != pair.second) continue;
      words[at].lower = pair.one;
      words[at].end = words[at + 1].end;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      break;
    }
  }
}

std::vector<Word> split_words(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<Word> words;
  while (begin < end) {
    while (begin < end && (text[begin] == ' ' || text[begin] == '\t' || text[begin] == '\r'))
      ++begin;
    std::size_t stop = begin;
    while (stop < end && text[stop] != ' ' && text[stop] != '\t' && text[stop] != '\r') {
      ++stop;
      const bool dash = text.substr(stop).starts_with("\xE2\x80\x94") && stop > begin;
      if (dash) break;
    }
    if (stop > begin) add_token(words, text, begin, stop);
    begin = stop;
  }
  while (!words.empty() && words.back().is_pause) words.pop_back();
  contract(words);
  return words;
}

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
      !one_of(clause.words[0].lower, {"i", "we", "my", "our"})) {
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

}  // namespace

std::vector<Clause> split_clauses(std::string_view message) {
  std::string masked = Mask(message).take();
  std::vector<Clause> clauses;
  for (const Sentence& sentence : split_sentences(masked)) {
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
