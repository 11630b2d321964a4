#pragma once
// Lexical candidates: FTS5 (contentless, own tokenizer `clawmark`: ICU word breaks, CJK bigrams and single characters, diacritics and
// case folded, porter for English, identifiers whole and split) over presentable text of recallable messages.
// User text is never query syntax: it is tokenized and quoted.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

// Registers the tokenizer and the ranking function on a connection. Every connection that searches needs it.
Status register_search(Database& db);

std::vector<std::string> search_tokens(std::string_view text);
bool is_stop_word(std::string_view token);

struct LexicalHit {
  Seq message;
  double score = 0;  // higher is better
};

struct LexicalQuery {
  std::string text;
  std::string agent;
  std::vector<std::string> audiences;  // only messages for these holders
  std::size_t limit = 50;
  std::int64_t deadline_ms = 50;       // then what was found so far, flagged
};

struct LexicalAnswer {
  std::vector<LexicalHit> hits;
  bool cut = false;        // the deadline came first
  std::string degraded;    // not empty: why this leg could not answer
};

Result<LexicalAnswer> lexical_search(Database& db, const LexicalQuery& query);

}  // namespace clawmark
