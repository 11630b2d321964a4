#include "models/rules/sentences.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/utf8.h"

namespace clawmark::rules {
namespace {

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

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Shortened words that a designation follows: "rev. C", "no. 5", "Fig. 3b".
constexpr auto kBeforeDesignation =
    std::to_array<std::string_view>({"rev", "nr", "fig", "figs", "vol", "ver", "sec", "ch", "chap",
                                     "pp", "eq", "bldg", "apt", "rm", "abb", "bd", "kap", "ziff"});
constexpr auto kBeforeNumber = std::to_array<std::string_view>(
    {"no", "nos", "p", "art", "ext", "tel", "ref", "ed", "par", "pos", "str", "lot"});
// What an option, a version or a part is called by a letter: "plan B." is no initial.
constexpr auto kLettered = std::to_array<std::string_view>(
    {"plan",    "option", "version", "variant", "revision",  "type",     "class",    "grade",
     "part",    "team",   "group",   "room",    "block",     "building", "appendix", "annex",
     "section", "phase",  "model",   "vitamin", "hepatitis", "case",     "point",    "step",
     "gate",    "hall",   "line",    "row",     "seat"});
constexpr auto kNeverLast = std::to_array<std::string_view>(
    {"e.g", "i.e", "etc", "vs", "mr", "mrs", "ms", "dr", "st", "a.m", "p.m", "z.b", "d.h", "bzw",
     "prof", "approx", "ca", "incl", "excl"});

std::string_view next_word(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos || begin == 0) return {};
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

// "3b", "117".
bool begins_with_number(std::string_view text) {
  const std::string_view word = next_word(text);
  return !word.empty() && word[0] >= '0' && word[0] <= '9';
}

// "C", "B2", "D,", "II": a capital that is a word, or stands before a number.
bool begins_with_letter(std::string_view text) {
  const std::string_view word = next_word(text);
  if (word.empty() || word[0] < 'A' || word[0] > 'Z' || word == "I") return false;
  const bool roman = word.find_first_not_of("IVX,.") == std::string_view::npos;
  return word.size() == 1 || roman || (word[1] >= '0' && word[1] <= '9') ||
         std::string_view(",.;:)!?").find(word[1]) != std::string_view::npos;
}

// Does the full stop between `before` and `after` belong to its word?
bool is_abbreviation(std::string_view before, std::string_view after) {
  const std::size_t start = before.find_last_of(" \n(") + 1;
  const std::string word = lower_ascii(before.substr(start));
  const std::string_view above = trim(before.substr(0, start));
  const bool digits = !word.empty() && std::all_of(word.begin(), word.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {  // "1. Milk", "am 3. mai"; "Room 4. Then" ends
    const std::size_t next = after.find_first_not_of(' ');
    const bool goes_on =
        next != std::string_view::npos && next > 0 && after[next] >= 'a' && after[next] <= 'z';
    return goes_on || (above.empty() && word.size() < 3);
  }
  if (word.size() == 1 && is_alnum(word[0]) && word != "i") {
    std::string last = lower_ascii(above.substr(above.find_last_of(" \n(") + 1));
    if (last.ends_with('.')) last.pop_back();
    return !contains(kLettered, last) && !contains(kBeforeDesignation, last);
  }
  const bool numbered = begins_with_number(after);
  if (contains(kBeforeDesignation, word) && (numbered || begins_with_letter(after))) return true;
  if (contains(kBeforeNumber, word) && numbered) return true;
  return contains(kNeverLast, word);
}

}  // namespace

std::string masked_text(std::string_view message) {
  return Mask(message).take();
}

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
    } else if (c == '.' && gap &&
               !is_abbreviation(text.substr(begin, here - begin), text.substr(at))) {
      close(at);
    }
  }
  close(text.size());
  return sentences;
}

}  // namespace clawmark::rules
