#include "projections/search_terms.h"

#include <algorithm>

#include "base/limits.h"
#include "base/utf8.h"
#include "projections/search_cues.h"
#include "projections/tokenizer.h"

namespace clawmark {
namespace {

constexpr std::size_t kTermsMax = 64;

// Positions as in the index: other forms of the same place are left out.
std::vector<std::string> phrase_tokens(std::string_view text) {
  std::vector<std::string> out;
  tokenize(text, TokenizeFor::kDocument, [&](Token&& token) {
    if (!token.same_place) out.push_back(std::move(token.text));
    return out.size() < kTermsMax;
  });
  return out;
}

struct Segment {
  std::string_view text;
  bool quoted = false;
  SearchTerm::Role role = SearchTerm::Role::kAny;
};

// Cuts at balanced double quotes; one that is left over is a character like any other.
std::vector<Segment> cut_quotes(std::string_view text) {
  std::vector<Segment> out;
  while (!text.empty()) {
    const std::size_t open = text.find('"');
    const std::size_t close = open == std::string_view::npos ? open : text.find('"', open + 1);
    if (close == std::string_view::npos) break;
    out.push_back({text.substr(0, open)});
    out.push_back({text.substr(open + 1, close - open - 1), true});
    text.remove_prefix(close + 1);
  }
  out.push_back({text});
  return out;
}

void add(std::vector<SearchTerm>& terms, SearchTerm term) {
  if (term.tokens.empty() || terms.size() >= kTermsMax) return;
  const bool known = std::any_of(terms.begin(), terms.end(), [&](const SearchTerm& t) {
    return t.tokens == term.tokens && t.role == term.role;
  });
  if (!known) terms.push_back(std::move(term));
}

void add_words(std::vector<SearchTerm>& terms, std::string_view text, SearchTerm::Role role) {
  for (auto& token : search_tokens(text)) {
    SearchTerm term;
    term.tokens.push_back(std::move(token));
    term.role = role;
    add(terms, std::move(term));
  }
}

void add_phrase(std::vector<SearchTerm>& terms, std::string_view text, SearchTerm::Role role) {
  SearchTerm term;
  term.tokens = phrase_tokens(text);
  term.role = role;
  add(terms, std::move(term));
}

void drop_stop_words(std::vector<SearchTerm>& terms) {
  const auto idle = [](const SearchTerm& term) {
    return term.tokens.size() == 1 && term.role == SearchTerm::Role::kAny && !term.prefix &&
           is_stop_word(term.tokens.front());
  };
  if (std::all_of(terms.begin(), terms.end(), idle)) return;
  std::erase_if(terms, idle);
}

std::vector<SearchTerm> parse_plain(std::string_view text) {
  std::vector<SearchTerm> terms;
  const auto segments = cut_quotes(text);
  const bool only_phrases = std::all_of(segments.begin(), segments.end(), [](const Segment& s) {
    return s.quoted || trim(s.text).empty();
  });
  for (const auto& segment : segments) {
    if (segment.quoted) {
      add_phrase(terms, segment.text,
                 only_phrases ? SearchTerm::Role::kMust : SearchTerm::Role::kAny);
    }
    if (!segment.quoted || !only_phrases) add_words(terms, segment.text, SearchTerm::Role::kAny);
  }
  return terms;
}

SearchTerm::Role role_of(std::string_view& word) {
  if (word.size() > 1 && (word.front() == '+' || word.front() == '-')) {
    const bool must = word.front() == '+';
    word.remove_prefix(1);
    return must ? SearchTerm::Role::kMust : SearchTerm::Role::kNot;
  }
  return SearchTerm::Role::kAny;
}

void add_advanced_word(std::vector<SearchTerm>& terms, std::string_view word) {
  const auto role = role_of(word);
  const bool prefix = word.size() > 1 && word.back() == '*';
  if (!prefix) {
    // A word of several tokens ("ZX-4471", "評審会議") must be met in this order.
    role == SearchTerm::Role::kAny ? add_words(terms, word, role) : add_phrase(terms, word, role);
    return;
  }
  word.remove_suffix(1);
  // Unstemmed: what is typed is a beginning.
  SearchTerm term;
  term.tokens.push_back(lower_ascii(trim(word)));
  std::erase_if(term.tokens.front(), [](char c) { return c == '"' || c == '\0'; });
  if (term.tokens.front().empty()) return;
  term.prefix = true;
  term.role = role;
  add(terms, std::move(term));
}

std::vector<SearchTerm> parse_advanced(std::string_view text) {
  std::vector<SearchTerm> terms;
  std::string_view pending;  // a + or - before a quote
  for (const auto& segment : cut_quotes(text)) {
    if (segment.quoted) {
      const auto role = pending == "+"   ? SearchTerm::Role::kMust
                        : pending == "-" ? SearchTerm::Role::kNot
                                         : SearchTerm::Role::kAny;
      add_phrase(terms, segment.text, role);
      pending = {};
      continue;
    }
    std::string_view rest = segment.text;
    pending = {};
    while (!rest.empty()) {
      const std::size_t start = rest.find_first_not_of(" \t\r\n");
      if (start == std::string_view::npos) break;
      rest.remove_prefix(start);
      const std::size_t end = std::min(rest.find_first_of(" \t\r\n"), rest.size());
      const std::string_view word = rest.substr(0, end);
      rest.remove_prefix(end);
      if (rest.empty() && (word == "+" || word == "-")) {
        pending = word;
      } else {
        add_advanced_word(terms, word);
      }
    }
  }
  return terms;
}

}  // namespace

std::vector<SearchTerm> parse_search(const LexicalQuery& query) {
  const std::string_view text = prefix_code_points(query.text, kPromptMax);
  auto terms = query.advanced ? parse_advanced(text) : parse_plain(text);
  drop_stop_words(terms);
  if (!query.advanced && !terms.empty()) {
    for (auto& day : named_day_terms(text, query.zone)) {
      SearchTerm term;
      term.tokens.push_back(std::move(day));
      add(terms, std::move(term));
    }
  }
  return terms;
}

std::string quote_term(const SearchTerm& term) {
  std::string out;
  for (const auto& token : term.tokens) {
    if (!out.empty()) out += " + ";
    out += '"';
    for (const char c : token) {
      if (c == '"') out += '"';
      if (c != '\0') out += c;
    }
    out += '"';
  }
  if (term.prefix) out += " *";
  return out;
}

}  // namespace clawmark
