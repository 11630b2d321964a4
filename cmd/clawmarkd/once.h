#pragma once

#include "base/config.h"

namespace clawmark {

// clawmarkd --once: drains, prints counts per source and stage, with a progress bar on a terminal.
// Exit code as in main.cc.
int run_once(const Config& config);

}  // namespace clawmark
