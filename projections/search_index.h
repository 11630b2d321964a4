#pragma once
// What fold, query and SQLite's FTS5 share about the index. Inside projections/ only.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "log/event.h"

namespace clawmark {

constexpr std::size_t kSearchChunkChars =
    600;  // long replies must not swamp short ones (reference: eval)
constexpr std::size_t kSearchChunksMax = 1024;  // of one message; what is beyond is not searched

// A row of the index is a chunk: message, ordinal of the chunk and its length in tokens (on a
// logarithmic scale, so that ranking needs no look-up) make its rowid.
std::int64_t search_rowid(Seq message, std::size_t ordinal, std::size_t tokens);
inline Seq message_of_rowid(std::int64_t rowid) {
  return {rowid >> 16};
}
double tokens_of_rowid(std::int64_t rowid);

std::vector<std::string_view> search_chunks(std::string_view text);

// Tokens of a chunk, kept for the FTS5 tokenizer, which is asked for the same text right after.
struct ChunkTokens {
  std::vector<std::string> texts;
  std::vector<bool> same_place;
};
ChunkTokens chunk_tokens(std::string_view chunk);
// While one of these lives on a thread, the tokenizer takes its tokens for this very text.
class ChunkTokensScope {
 public:
  ChunkTokensScope(std::string_view chunk, const ChunkTokens& tokens);
  ~ChunkTokensScope();
  ChunkTokensScope(const ChunkTokensScope&) = delete;
  ChunkTokensScope& operator=(const ChunkTokensScope&) = delete;
};

}  // namespace clawmark
