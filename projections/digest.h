#pragma once
// Hashing of rows for digests: every column with its length, so that no two contents give the same
// bytes.

#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

// Feeds `columns` columns of every row of a query, in its order.
Status hash_rows(Database& db, const std::string& sql, int columns, Sha256& into);

}  // namespace clawmark
