#include "projections/rarity.h"

#include "projections/rebuild.h"
#include "projections/tables.h"

namespace clawmark {

Result<TokenRarity> token_rarity(Database& db, std::span<const std::string> tokens) {
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "search"));
  Tables tables(db, "search", generation);
  TokenRarity out;
  CLAWMARK_ASSIGN(const auto total,
                  tables.query_int("SELECT rows FROM search_stats__g# WHERE id = 1"));
  out.total = total.value_or(0);
  for (const std::string& token : tokens) {
    CLAWMARK_ASSIGN(const auto rows,
                    tables.query_int("SELECT rows FROM search_terms__g# WHERE term = ?1", token));
    out.documents.push_back(rows.value_or(0));
  }
  return out;
}

}  // namespace clawmark
