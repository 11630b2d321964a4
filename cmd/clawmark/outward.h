#pragma once
// Subcommands that carry the memory outward: to other programs, to people, into copies, onto a
// machine.

#include "cmd/clawmark/command.h"

namespace clawmark {

void add_mcp(Registry& registry);
void add_backup(Registry& registry);
void add_moving(Registry& registry);
void add_init(Registry& registry);
void add_uninstall(Registry& registry);
void add_tui(Registry& registry);
void add_web(Registry& registry);

}  // namespace clawmark
