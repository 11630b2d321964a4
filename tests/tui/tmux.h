#pragma once
// A program of ours on a terminal: tmux, with a server of its own.

#include <map>
#include <string>

#include "tests/cmd/process.h"

namespace clawmark::support {

class Tmux {
 public:
  // `command`: ours by name first; runs in 80 by 24 columns unless told otherwise, with a UTF-8
  // locale.
  explicit Tmux(const std::string& command, std::map<std::string, std::string> environment = {},
                int columns = 80, int rows = 24);
  ~Tmux();
  Tmux(const Tmux&) = delete;
  Tmux& operator=(const Tmux&) = delete;

  void press(const std::string& key);   // "Enter", "j"
  void paste(const std::string& text);  // as a terminal does, between its marks
  void resize(int columns, int rows);
  std::string screen();
  // Of the program itself, not of the shell around it.
  int pid();
  void signal(int number);
  // Empty once the screen is so; else what it is, after a minute.
  std::string wait_for(const std::string& screen);
  // Until the screen holds this text; what it is then.
  std::string wait_until(const std::string& text);
  // What stands after the program has ended: "ENDED <exit code>" in its last line.
  std::string wait_for_the_end();

 private:
  std::string tmux(const std::string& arguments);
  TempDir dir_;
};

}  // namespace clawmark::support
