#pragma once
// Signs from the files themselves: the store is damaged, its disk is full, the host's folder is
// not there; what is left out for a cause of its own while all else goes on.

#include <string_view>
#include <vector>

#include "base/config.h"
#include "serve/health.h"
#include "serve/serving.h"

namespace clawmark {

// Whether a failure, described, is that of a damaged file.
bool says_damage(std::string_view failure);
// Reads what status reads, once a minute at most. Sign "store", red, while any of it cannot be read
// because the file is damaged.
void look_for_damage(Serving& serving, Database& db, std::vector<Sign>& out);
// "disk_full": the store needs room to take anything in, also to forget. "source_absent": there is
// no folder of the host's where the configuration says, and no other source is named.
void look_at_folders(const Config& config, std::vector<Sign>& out);
// Files and archives of a carrier that cannot be read to their ends, by name; items that a worker
// set aside.
void look_for_set_aside(Database& db, std::vector<Sign>& out);

}  // namespace clawmark
