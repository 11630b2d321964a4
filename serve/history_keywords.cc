#include "serve/history_keywords.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cmath>

#include "base/limits_history.h"
#include "base/utf8.h"
#include "projections/rarity.h"
#include "projections/search.h"
#include "serve/quote.h"

namespace clawmark {
namespace {

constexpr std::size_t kWordsRanked = 200;  // the most frequent; the others say little
constexpr std::size_t kWordMin = 3;        // letters, unless of a script without blanks

bool is_word_char(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) || c == '_' || c == '-' || c == '.' || c == '/' ||
         u_charType(static_cast<UChar32>(c)) == U_NON_SPACING_MARK ||
         u_charType(static_cast<UChar32>(c)) == U_COMBINING_SPACING_MARK;
}

bool has_letter(std::string_view word) {
  for (std::size_t at = 0; at < word.size();) {
    if (u_isalpha(static_cast<UChar32>(next_code_point(word, at)))) return true;
  }
  return false;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  const auto close = [&] {
    while (!word.empty() && std::string_view("-./_").find(word.back()) != std::string_view::npos) {
      word.pop_back();
    }
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_word_char(c)) {
      append_code_point(word, c);
    } else {
      close();
    }
  }
  close();
  return out;
}

}  // namespace

void Keywords::add(std::string_view text) {
  std::unordered_set<std::string> seen;
  for (const std::string& word : words_of(prefix_bytes(text, kKeywordTextMax))) {
    const auto tokens = search_tokens(word);
    if (tokens.empty()) continue;
    const bool ascii = std::all_of(word.begin(), word.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii && (word.size() < kWordMin || !has_letter(word))) continue;
    // A script without blanks gives several tokens for a run; each is shown as it is.
    const bool run = !ascii && tokens.size() > 1;
    for (const std::string& token : tokens) {
      if (is_stop_word(token) || is_stop_word(lower_ascii(word)) || !has_letter(token)) continue;
      Word& entry = words_[token];
      if (seen.insert(token).second) ++entry.messages;
      ++entry.spellings[run ? token : word];
      if (!run) break;  // the whole word stands for its parts
    }
  }
}

std::vector<std::string> Keywords::best(Database& db, std::size_t count) const {
  std::vector<std::pair<std::string, std::int64_t>> ranked;
  for (const auto& [token, word] : words_) ranked.emplace_back(token, word.messages);
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (ranked.size() > kWordsRanked) ranked.resize(kWordsRanked);
  std::vector<std::string> tokens;
  for (const auto& [token, messages] : ranked) tokens.push_back(token);
  const auto rarity = token_rarity(db, tokens);
  std::vector<std::pair<double, std::size_t>> scored;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    double idf = 1;
    if (rarity.ok() && rarity->documents.size() == ranked.size()) {
      const auto total = static_cast<double>(std::max<std::int64_t>(rarity->total, 1));
      const auto df = static_cast<double>(std::max<std::int64_t>(rarity->documents[i], 1));
      idf = std::log(1 + total / df);
    }
    scored.emplace_back(static_cast<double>(ranked[i].second) * idf, i);
  }
  std::sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> out;
  for (const auto& [score, i] : scored) {
    if (out.size() >= count) break;
    const auto& spellings = words_.at(ranked[i].first).spellings;
    const auto most =
        std::max_element(spellings.begin(), spellings.end(), [](const auto& a, const auto& b) {
          return a.second != b.second ? a.second < b.second : a.first > b.first;
        });
    out.push_back(shorten(quote_inline(most->first), 40));
  }
  return out;
}

}  // namespace clawmark
