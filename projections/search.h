#pragma once
// Lexical candidates: FTS5 (contentless, own tokenizer `clawmark`: ICU word breaks, CJK bigrams and
// single characters, diacritics and case folded, porter for English, identifiers whole and split)
// over presentable text of recallable messages. User text is never query syntax: it is tokenized
// and quoted.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"
#include "projections/messages.h"

namespace clawmark {

// Registers the tokenizer and the ranking function on a connection. Every connection that searches
// needs it.
Status register_search(Database& db);

// Tokens of a text as a question: in order, with repetitions.
std::vector<std::string> search_tokens(std::string_view text);
// Of a token as search_tokens gives it, or of a lower-case word.
bool is_stop_word(std::string_view token);

// What the index knows of a message beside its words.
struct MessageCues {
  bool asks = false;        // ends with a question mark
  bool names_time = false;  // yesterday, last week, in June, 2023
  bool names_number = false;
  bool is_standing = false;  // an instruction for always
  bool prefers = false;      // "I prefer …"
  bool answers = false;      // the message before it asks, and is another's; among peers only
  std::int64_t tokens = 0;
  std::string speaker;  // the speaker's name, as tokens joined by blanks
  // Two that talk alike, rather than someone and an assistant that answers at length.
  bool among_peers = false;
};
struct LexicalHit {
  Seq message;
  double score = 0;  // 0..1, against the best of the answer
};

// A hit as the message index and the search index have it.
struct FoundMessage {
  MessageRow row;
  MessageCues cues;
};

struct LexicalQuery {
  std::string text;
  std::string agent;
  std::vector<std::string> audiences;  // only messages for these holders
  std::size_t limit = 50;
  bool with_rows = false;
  std::int64_t deadline_ms = 50;  // then what was found so far, flagged
  const Clock* clock = nullptr;   // measures the deadline; null: the system's
  // The text is a query in our own small language: +word must, -word must not, "a phrase", word*
  // begins with. Never FTS5's.
  bool advanced = false;
  // Messages around one that matches count in part, and are found though none of the words is
  // theirs. Not where words are required.
  bool context = false;
  std::string zone = "UTC";                          // IANA, of the days that the text names
  TimeMs since, before;                              // [since, before); zero: open
  std::optional<std::vector<std::string>> sessions;  // only messages seen in one of these
};

struct LexicalAnswer {
  std::vector<LexicalHit> hits;
  std::vector<FoundMessage> found;  // of each hit, when asked for
  bool cut = false;                 // the deadline came first
  std::string degraded;             // not empty: why this leg could not answer
};

// Words of any kind find any document that holds one of them; a "quoted phrase" is looked for as
// such, and is required when the text is nothing else. Never an error for what the text says: a
// broken index is `degraded`.
Result<LexicalAnswer> lexical_search(Database& db, const LexicalQuery& query);

// In the order asked for, without those that there are none of. A message that is not in the index
// has no cues, nor has any when the index cannot be read.
Result<std::vector<FoundMessage>> found_messages(Database& db, std::span<const Seq> messages);

struct QueryCues {
  bool asks_when = false, asks_how_many = false;
  bool asks_agent = false;  // about what the assistant said: "what did you recommend"
};
QueryCues query_cues(std::string_view text);

struct SearchCounts {
  std::int64_t indexed = 0;
  std::int64_t masked = 0;   // rewound: hidden, may come back
  std::int64_t pending = 0;  // deleted and hidden, words still in the index until it is rebuilt
  std::int64_t gone = 0;     // text could not be had
};
Result<SearchCounts> search_counts(Database& db);
// Messages that are not in the index because their texts could not be read then, though a carrier
// is known that has them: a rebuild finds them once it is back.
Result<std::int64_t> count_unread(Database& db);

}  // namespace clawmark
