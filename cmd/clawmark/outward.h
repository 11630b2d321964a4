#pragma once
// Subcommands that carry the memory outward: to other programs, into copies, onto a machine.

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_mcp(Registry& registry);
void add_backup(Registry& registry);
void add_moving(Registry& registry);
void add_init(Registry& registry);
void add_uninstall(Registry& registry);

}  // namespace clawmark
