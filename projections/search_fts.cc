// The part of search that lives inside SQLite: FTS5's tokenizer "clawmark" and the function
// clawmark_hits(table), which counts a row's phrases into the collector of the thread.

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.h"
#include "projections/search.h"
#include "projections/search_index.h"
#include "projections/tokenizer.h"

namespace clawmark {
namespace {

constexpr double kLengthScale = 5;  // steps per doubling: 63 stands for 6,200 tokens

thread_local std::string_view current_chunk;
thread_local const ChunkTokens* current_tokens = nullptr;

using TokenCallback = int (*)(void*, int, const char*, int, int, int);

int create_tokenizer(void*, const char**, int, Fts5Tokenizer** out) {
  *out = reinterpret_cast<Fts5Tokenizer*>(sqlite3_malloc(1));
  return *out == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

void delete_tokenizer(Fts5Tokenizer* tokenizer) {
  sqlite3_free(tokenizer);
}

int run_tokenizer(Fts5Tokenizer*, void* context, int flags, const char* data, int bytes,
                  TokenCallback on_token) {
  const std::string_view text(data == nullptr ? "" : data,
                              static_cast<std::size_t>(std::max(bytes, 0)));
  // Queries are made of our own tokens already.
  if ((flags & FTS5_TOKENIZE_QUERY) != 0) {
    return text.empty() ? SQLITE_OK : on_token(context, 0, text.data(), bytes, 0, bytes);
  }
  int code = SQLITE_OK;
  const auto send = [&](std::string_view token, bool same_place) {
    code = on_token(context, same_place ? FTS5_TOKEN_COLOCATED : 0, token.data(),
                    static_cast<int>(token.size()), 0, bytes);
    return code == SQLITE_OK;
  };
  if (current_tokens != nullptr && current_chunk == text) {
    for (std::size_t i = 0; i < current_tokens->texts.size(); ++i) {
      if (!send(current_tokens->texts[i], current_tokens->same_place[i])) break;
    }
    return code;
  }
  tokenize(text, TokenizeFor::kDocument,
           [&](Token&& token) { return send(token.text, token.same_place); });
  return code;
}

thread_local HitsCollector* collector = nullptr;

void count_hits(const Fts5ExtensionApi* api, Fts5Context* fts, sqlite3_context* context, int,
                sqlite3_value**) {
  sqlite3_result_int(context, 0);
  if (collector == nullptr) return;
  TermHits row;
  row.rowid = api->xRowid(fts);
  const int phrases = std::min(api->xPhraseCount(fts), static_cast<int>(collector->terms.size()));
  for (int phrase = 0; phrase < phrases; ++phrase) {
    const int term = collector->terms[static_cast<std::size_t>(phrase)];
    if (term < 0) continue;
    Fts5PhraseIter iterator;
    int column = 0, offset = 0, hits = 0;
    if (api->xPhraseFirst(fts, phrase, &iterator, &column, &offset) != SQLITE_OK) return;
    for (; column >= 0; api->xPhraseNext(fts, &iterator, &column, &offset)) ++hits;
    row.hits[static_cast<std::size_t>(term)] = static_cast<std::uint8_t>(std::min(hits, 255));
  }
  collector->rows.push_back(row);
}

fts5_api* fts5_of(sqlite3* db) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  return api;
}

}  // namespace

Status register_search(Database& db) {
  fts5_api* api = fts5_of(db.handle());
  if (api == nullptr) {
    return make_error(ErrorKind::kFatal, "search", "no_fts5", "this SQLite has no FTS5");
  }
  void* context = nullptr;
  fts5_tokenizer known{};
  if (api->xFindTokenizer(api, "clawmark", &context, &known) == SQLITE_OK &&
      known.xTokenize == run_tokenizer) {
    return Ok{};
  }
  fts5_tokenizer ours{create_tokenizer, delete_tokenizer, run_tokenizer};
  int code = api->xCreateTokenizer(api, "clawmark", nullptr, &ours, nullptr);
  if (code == SQLITE_OK)
    code = api->xCreateFunction(api, "clawmark_hits", nullptr, count_hits, nullptr);
  if (code != SQLITE_OK) return sqlite_error(code, "register search", sqlite3_errstr(code));
  return Ok{};
}

HitsCollectorScope::HitsCollectorScope(HitsCollector& into) {
  collector = &into;
}

HitsCollectorScope::~HitsCollectorScope() {
  collector = nullptr;
}

std::int64_t search_rowid(std::int64_t place, std::size_t ordinal, std::size_t tokens) {
  const double steps =
      kLengthScale * std::log2(static_cast<double>(std::max<std::size_t>(tokens, 1)));
  const auto length = std::min<std::int64_t>(std::lround(steps), (1 << kLengthBits) - 1);
  return place << (kOrdinalBits + kLengthBits) | static_cast<std::int64_t>(ordinal) << kLengthBits |
         length;
}

double tokens_of_rowid(std::int64_t rowid) {
  static const auto lengths = [] {
    std::array<double, 1 << kLengthBits> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] = std::exp2(static_cast<double>(i) / kLengthScale);
    }
    return table;
  }();
  return lengths[static_cast<std::size_t>(rowid & ((1 << kLengthBits) - 1))];
}

std::vector<std::string_view> search_chunks(std::string_view text) {
  std::vector<std::string_view> chunks;
  while (!text.empty() && chunks.size() < kSearchChunksMax) {
    std::string_view chunk = prefix_code_points(text, kSearchChunkChars);
    if (chunk.size() < text.size()) {
      // Between words where there are any near the end.
      const std::size_t space = chunk.find_last_of(" \n\t");
      if (space != std::string_view::npos && space > chunk.size() / 2) {
        chunk = chunk.substr(0, space + 1);
      }
    }
    chunks.push_back(chunk);
    text.remove_prefix(chunk.size());
  }
  return chunks;
}

ChunkTokens chunk_tokens(std::string_view chunk, std::span<const std::string> beside) {
  ChunkTokens out;
  tokenize(chunk, TokenizeFor::kDocument, [&](Token&& token) {
    out.texts.push_back(std::move(token.text));
    out.same_place.push_back(token.same_place);
    return true;
  });
  out.own = out.texts.size();
  for (const std::string& term : beside) {
    out.texts.push_back(term);
    out.same_place.push_back(false);
  }
  return out;
}

ChunkTokensScope::ChunkTokensScope(std::string_view chunk, const ChunkTokens& tokens) {
  current_chunk = chunk;
  current_tokens = &tokens;
}

ChunkTokensScope::~ChunkTokensScope() {
  current_chunk = {};
  current_tokens = nullptr;
}

std::vector<std::string> search_tokens(std::string_view text) {
  std::vector<std::string> out;
  tokenize(text, TokenizeFor::kQuery, [&](Token&& token) {
    out.push_back(std::move(token.text));
    return true;
  });
  return out;
}

}  // namespace clawmark
