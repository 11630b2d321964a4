#include "models/rules/words.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace clawmark::rules {
namespace {

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

}  // namespace

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

}  // namespace clawmark::rules
