#include "serve/terms.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/hash.h"
#include "base/utf8.h"
#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::size_t kHeaviest = 6;      // a long prompt need not be covered in full
constexpr std::size_t kTokensMax = 4000;  // of one text
constexpr std::size_t kSmallTalkTokensMax = 12;
constexpr std::size_t kTermsMax = 64;         // of one query
constexpr std::size_t kOccurrencesMax = 200;  // of one term in one long text

double shape_weight(std::string_view token) {
  const bool digit =
      std::any_of(token.begin(), token.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
  if (digit && token.size() >= 3) return 2.0;
  if (static_cast<unsigned char>(token.front()) >= 0xE0 && count_code_points(token) == 1)
    return 0.5;
  return token.size() >= 7 ? 1.3 : 1.0;
}

// A word of the text and how many characters it begins after the start.
struct Word {
  std::size_t begin, end;   // bytes
  std::size_t first, last;  // code points
  double weight = 0;
};

std::vector<Word> words_of(std::string_view text, const QueryTerms& query) {
  std::vector<Word> words;
  std::size_t at = 0, chars = 0;
  Word word{0, 0, 0, 0};
  bool inside = false;
  const auto close = [&](std::size_t byte, std::size_t character) {
    if (!inside) return;
    word.end = byte;
    word.last = character;
    words.push_back(word);
    inside = false;
  };
  while (at < text.size()) {
    const std::size_t before = at;
    const char32_t c = next_code_point(text, at);
    // Scripts without blanks: a long run is many words.
    if (is_space(c) || (inside && chars - word.first >= 24)) close(before, chars);
    if (!is_space(c) && !inside) {
      word = {before, before, chars, chars};
      inside = true;
    }
    ++chars;
  }
  close(text.size(), chars);
  for (Word& w : words) {
    const TokenSet tokens = token_set(text.substr(w.begin, w.end - w.begin), query.words());
    for (const QueryTerm& term : query.terms()) {
      if (std::binary_search(tokens.begin(), tokens.end(), term.hash)) w.weight += term.weight;
    }
  }
  return words;
}

}  // namespace

TokenSet token_set(std::string_view text, Words words) {
  TokenSet set;
  for (const std::string& token : search_tokens(text)) {
    if (set.size() >= kTokensMax) break;
    if (words == Words::kAll || !is_stop_word(token)) set.push_back(fnv1a(token));
  }
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

double jaccard(const TokenSet& a, const TokenSet& b) {
  if (a.empty() || b.empty()) return 0;
  std::size_t common = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) {
      ++common;
      ++x;
      ++y;
    } else if (*x < *y) {
      ++x;
    } else {
      ++y;
    }
  }
  return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

QueryTerms QueryTerms::literal(std::string_view text) {
  QueryTerms terms(text);
  return terms.empty() ? QueryTerms(text, Words::kAll) : terms;
}

QueryTerms::QueryTerms(std::string_view text, Words words) : words_(words) {
  for (std::string& token : search_tokens(text)) {
    if (terms_.size() >= kTermsMax) break;
    if (token.empty() || (words == Words::kContent && is_stop_word(token))) continue;
    const std::uint64_t hash = fnv1a(token);
    if (std::any_of(terms_.begin(), terms_.end(), [&](const auto& t) { return t.hash == hash; }))
      continue;
    const double weight = shape_weight(token);
    terms_.push_back({std::move(token), hash, weight});
  }
  for (const QueryTerm& term : terms_) set_.push_back(term.hash);
  std::sort(set_.begin(), set_.end());
}

void QueryTerms::set_rarity(std::span<const std::int64_t> documents, std::int64_t total) {
  if (documents.size() != terms_.size() || total <= 0) return;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const auto df = static_cast<double>(std::clamp<std::int64_t>(documents[i], 0, total));
    const auto n = static_cast<double>(total);
    // BM25's idf, which is 0 for what stands everywhere; a little is left so that words are words.
    terms_[i].weight = 0.1 + std::log(1.0 + (n - df + 0.5) / (df + 0.5));
  }
}

double QueryTerms::coverage(const TokenSet& text) const {
  double found = 0;
  std::vector<double> weights;
  weights.reserve(terms_.size());
  for (const QueryTerm& term : terms_) {
    weights.push_back(term.weight);
    if (std::binary_search(text.begin(), text.end(), term.hash)) found += term.weight;
  }
  std::sort(weights.begin(), weights.end(), std::greater<>());
  double all = 0;
  for (std::size_t i = 0; i < std::min(kHeaviest, weights.size()); ++i) all += weights[i];
  return all <= 0 ? 0 : std::min(1.0, found / all);
}

bool QueryTerms::names(std::string_view tokens) const {
  for (std::size_t at = 0; at < tokens.size();) {
    const std::size_t end = std::min(tokens.find(' ', at), tokens.size());
    const std::string_view token = tokens.substr(at, end - at);
    if (std::any_of(terms_.begin(), terms_.end(), [&](const auto& t) { return t.token == token; }))
      return true;
    at = end + 1;
  }
  return false;
}

bool is_small_talk(std::string_view text) {
  static const std::set<std::string> words = [] {
    std::set<std::string> out;
    for (auto& token : search_tokens(
             "hi hello hey hiya yo greetings welcome good morning afternoon evening night day bye "
             "goodbye cheers thanks thank thx ty ok okay okey k yes yeah yep yup no nope nah sure "
             "fine great cool nice awesome perfect excellent wonderful amazing lovely super wow "
             "lol "
             "haha hahaha hehe hmm hm oh ah uh um well right exactly indeed alright agreed got get "
             "it sorry please sounds sound looks look good much lot very really so go ahead "
             "continue done nevermind never mind later soon see again today tomorrow hope "
             "appreciate appreciated understood noted makes sense "
             "what's up hallo guten tag morgen danke bitte ja nein merci bonjour salut oui non "
             "gracias hola si grazie ciao obrigado")) {
      out.insert(std::move(token));
    }
    return out;
  }();
  const auto tokens = search_tokens(text);
  return tokens.size() <= kSmallTalkTokensMax &&
         std::all_of(tokens.begin(), tokens.end(), [&](const std::string& token) {
           return is_stop_word(token) || words.contains(token);
         });
}

std::string_view focus(std::string_view text, const QueryTerms& query, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  const std::string lower = lower_ascii(text);
  std::vector<std::pair<std::size_t, double>> hits;
  for (const QueryTerm& term : query.terms()) {
    std::size_t at = lower.find(term.token);
    for (std::size_t n = 0; n < kOccurrencesMax && at != std::string::npos; ++n) {
      hits.emplace_back(at, term.weight);
      at = lower.find(term.token, at + term.token.size());
    }
  }
  std::sort(hits.begin(), hits.end());
  std::size_t best_at = 0;
  double best = 0, sum = 0;
  for (std::size_t from = 0, to = 0; to < hits.size(); ++to) {
    sum += hits[to].second;
    while (hits[to].first - hits[from].first > bytes_max / 2) sum -= hits[from++].second;
    if (sum > best + 1e-9) {
      best = sum;
      best_at = hits[from].first;
    }
  }
  const std::size_t begin =
      std::min(best_at - std::min(best_at, bytes_max / 4), text.size() - bytes_max);
  const std::string_view tail = suffix_bytes(text, text.size() - begin);
  return prefix_bytes(tail, bytes_max);
}

std::string excerpt_around(std::string_view text, const QueryTerms& query, std::size_t chars_max) {
  std::string flat = collapse_space(text);
  if (count_code_points(flat) <= chars_max) return flat;
  if (chars_max < 8) return std::string(prefix_code_points(flat, chars_max));
  const std::size_t room = chars_max - 2;  // two marks
  const std::vector<Word> words = words_of(flat, query);
  // The window of words within `room` with the greatest weight; of equals the first.
  std::size_t best_from = 0, best_to = 0;
  double best = -1, sum = 0;
  for (std::size_t from = 0, to = 0; to < words.size(); ++to) {
    sum += words[to].weight;
    while (words[to].last - words[from].first > room) sum -= words[from++].weight;
    if (sum > best + 1e-9) {
      best = sum;
      best_from = from;
      best_to = to;
    }
  }
  // The match in the middle, not at the end: take words after it, then before it, while there is
  // room.
  while (best_from < best_to && words[best_from].weight == 0) ++best_from;
  for (bool grown = true; grown;) {
    grown = false;
    if (best_to + 1 < words.size() && words[best_to + 1].last - words[best_from].first <= room) {
      ++best_to;
      grown = true;
    }
    if (best_from > 0 && words[best_to].last - words[best_from - 1].first <= room) {
      --best_from;
      grown = true;
    }
  }
  std::string out = best_from > 0 ? "…" : "";
  out.append(flat, words[best_from].begin, words[best_to].end - words[best_from].begin);
  if (best_to + 1 < words.size()) out.append("…");
  return out;
}

}  // namespace clawmark
