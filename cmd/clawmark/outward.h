#pragma once
// Subcommands that carry the memory outward: to other programs, and into copies.

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_mcp(Registry& registry);
void add_backup(Registry& registry);

}  // namespace clawmark
