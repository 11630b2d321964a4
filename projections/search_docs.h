#pragma once
// Cues of messages, from the rows that the search index keeps of them. Inside projections/ only.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "projections/message_row.h"
#include "projections/search.h"
#include "projections/tables.h"

namespace clawmark {

struct SearchDoc {
  std::int64_t place = -1;
  unsigned cues = 0;  // kCue… of search_cues.h
  std::int64_t tokens = 0;
  std::string speaker;
};

// Columns of a message `m` and of its row `d` in the index; read_message_row reads the first ones,
// this the others.
inline constexpr char kDocColumns[] = ", d.place, d.cues, d.tokens, d.speaker";
SearchDoc read_search_doc(const Statement& row);

// Of one question: what it learns of a talk holds for all its messages.
class CueReader {
 public:
  explicit CueReader(Tables& tables) : tables_(tables) {}  // prefix "search"

  Result<MessageCues> of(SearchDoc doc);

 private:
  Result<bool> among_peers(std::int64_t talk);

  Tables& tables_;
  std::unordered_map<std::int64_t, bool> peers_;
};

}  // namespace clawmark
