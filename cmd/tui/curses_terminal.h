#pragma once
// The one file that knows ncurses: a screen put on a terminal, keys taken from it, and the terminal
// given back as it was, however the program ends.

#include <memory>
#include <optional>

#include "base/result.h"
#include "cmd/tui/screen.h"
#include "cmd/tui/view.h"

namespace clawmark::tui {

class CursesTerminal {
 public:
  // One at a time. Errors, stage "terminal": invalid "no_terminal" (standard input or output is
  // none), "unknown_type" (TERM is not known here, or cannot address the cursor).
  static Result<std::unique_ptr<CursesTerminal>> open();
  virtual ~CursesTerminal() = default;

  // A key that waits; nullopt: none. Pasted text outside of a line that is typed is no key.
  virtual std::optional<Key> read(bool typing) = 0;
  // Standard input was closed: nobody is there any more.
  virtual bool closed() const = 0;
  virtual int rows() const = 0;
  virtual int columns() const = 0;
  virtual void show(const Screen& screen) = 0;
};

}  // namespace clawmark::tui
