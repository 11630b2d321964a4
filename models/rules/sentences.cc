#include "models/rules/sentences.h"

#include <algorithm>
#include <array>

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

bool is_abbreviation(std::string_view before) {
  const std::size_t start = before.find_last_of(" \n(") + 1;
  const std::string word = lower_ascii(before.substr(start));
  if (word.size() == 1 && is_alnum(word[0]) && word != "i") return true;  // an initial
  constexpr std::array<std::string_view, 12> kKnown = {"e.g", "i.e", "etc", "vs", "mr",  "mrs",
                                                       "ms",  "dr",  "st",  "no", "a.m", "p.m"};
  return word != "no" && std::find(kKnown.begin(), kKnown.end(), word) != kKnown.end();
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
    } else if (c == '.' && gap && !is_abbreviation(text.substr(begin, here - begin))) {
      close(at);
    }
  }
  close(text.size());
  return sentences;
}

}  // namespace clawmark::rules
