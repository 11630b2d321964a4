#pragma once
// How rare words are among the texts that may be recalled, for judging how much a match says.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

struct TokenRarity {
  std::vector<std::int64_t> documents;  // texts that hold each token
  std::int64_t total = 0;               // texts in all
};

// `tokens` as made by search_tokens(). Error: whatever the search table says; callers then do
// without.
Result<TokenRarity> token_rarity(Database& db, std::span<const std::string> tokens);

}  // namespace clawmark
