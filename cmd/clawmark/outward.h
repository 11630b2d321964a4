#pragma once
// Subcommands that carry the memory outward: to other programs, to people, and into
// copies.

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_mcp(Registry& registry);
void add_backup(Registry& registry);
void add_tui(Registry& registry);
void add_web(Registry& registry);

}  // namespace clawmark
