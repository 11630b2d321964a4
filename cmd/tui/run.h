#pragma once
// `clawmark tui`, from the first screen to the last.

#include "cmd/console_port.h"
#include "cmd/tui/model.h"

namespace clawmark::tui {

// Until it is left, or a signal ends it; the terminal is as it was. Gives the number of the signal,
// else 0. Errors of CursesTerminal::open.
Result<int> run(ConsolePort& port, ModelOptions options);

}  // namespace clawmark::tui
