#pragma once
// Signs that the store's file is damaged: whatever is read for status and health says so. Signs of
// what is left out for a cause of its own while all else goes on.

#include <string_view>
#include <vector>

#include "serve/health.h"
#include "serve/serving.h"

namespace clawmark {

// Whether a failure, described, is that of a damaged file.
bool says_damage(std::string_view failure);
// Reads what status reads, once a minute at most. Sign "store", red, while any of it cannot be read
// because the file is damaged.
void look_for_damage(Serving& serving, Database& db, std::vector<Sign>& out);
// Files and archives of a carrier that cannot be read to their ends, by name; items that a worker
// set aside.
void look_for_set_aside(Database& db, std::vector<Sign>& out);

}  // namespace clawmark
