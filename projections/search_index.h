#pragma once
// What fold, query and SQLite's FTS5 share about the index. Inside projections/ only.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/event.h"
#include "projections/search_score.h"

namespace clawmark {

constexpr std::size_t kSearchChunkChars =
    600;  // long replies must not swamp short ones (reference: eval)
constexpr std::size_t kSearchChunksMax = 1024;  // of one message; what is beyond is not searched

// A message's place: its talk (session, numbered as first seen) and its turn in it, so that
// neighbours are found by counting.
constexpr int kTurnBits = 22;
inline std::int64_t search_place(std::int64_t talk, std::int64_t turn) {
  return talk << kTurnBits | turn;
}
inline std::int64_t talk_of_place(std::int64_t place) {
  return place >> kTurnBits;
}
inline bool same_talk(std::int64_t a, std::int64_t b) {
  return talk_of_place(a) == talk_of_place(b);
}

// A row of the index is a chunk: the message's place, the ordinal of the chunk and its length in
// tokens (on a logarithmic scale, so that ranking needs no look-up) make its rowid.
constexpr int kLengthBits = 6;
constexpr int kOrdinalBits = 10;
std::int64_t search_rowid(std::int64_t place, std::size_t ordinal, std::size_t tokens);
inline std::int64_t place_of_rowid(std::int64_t rowid) {
  return rowid >> (kOrdinalBits + kLengthBits);
}
inline std::int64_t ordinal_of_rowid(std::int64_t rowid) {
  return rowid >> kLengthBits & ((1 << kOrdinalBits) - 1);
}
double tokens_of_rowid(std::int64_t rowid);

std::vector<std::string_view> search_chunks(std::string_view text);

// Tokens of a chunk, kept for the FTS5 tokenizer, which is asked for the same text right after.
struct ChunkTokens {
  std::vector<std::string> texts;
  std::vector<bool> same_place;
  std::size_t own = 0;  // of the text itself; what follows stands beside it
};
// `beside`: further terms under which the chunk is found.
ChunkTokens chunk_tokens(std::string_view chunk, std::span<const std::string> beside = {});
// While one of these lives on a thread, the tokenizer takes its tokens for this very text.
class ChunkTokensScope {
 public:
  ChunkTokensScope(std::string_view chunk, const ChunkTokens& tokens);
  ~ChunkTokensScope();
  ChunkTokensScope(const ChunkTokensScope&) = delete;
  ChunkTokensScope& operator=(const ChunkTokensScope&) = delete;
};

// Where clawmark_hits() puts what it counts, while a scope of this thread lives.
struct HitsCollector {
  std::vector<int> terms;  // of each phrase of the expression, in order: which term, -1: none
  std::vector<TermHits> rows;
};
class HitsCollectorScope {
 public:
  explicit HitsCollectorScope(HitsCollector& into);
  ~HitsCollectorScope();
  HitsCollectorScope(const HitsCollectorScope&) = delete;
  HitsCollectorScope& operator=(const HitsCollectorScope&) = delete;
};

}  // namespace clawmark
