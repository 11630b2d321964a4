#pragma once
// The operator's setting share_sessions: what is said in some conversations is recalled in others.

#include "base/config.h"
#include "serve/caller.h"

namespace clawmark {

// sight_of() under this configuration, and what share_sessions opens to such a caller: messages,
// and facts that are not about a person. Read only: nothing can be changed or forgotten from there.
// An error of the database opens nothing.
Sight configured_sight(const Caller& caller, const Config& config, Database& db);

// The holders whose sessions match FROM of a rule "FROM > TO" of which TO matches the caller's
// session.
void open_shares(Sight& sight, const Config& config, Database& db);

// For what acts on memory: as if nothing were shared.
void drop_shares(Sight& sight);

}  // namespace clawmark
