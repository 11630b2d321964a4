#pragma once
// The bundled sample, read by the real sources at a fixed time, behind the real interface: in this
// process, and on a Unix socket.

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "cmd/tui/model.h"
#include "serve/http_server.h"

namespace clawmark::support {

class Sampled {
 public:
  Sampled();
  ~Sampled();
  HttpAnswer answer(const HttpCall& call);
  std::string socket() const;  // listens from now on
  std::string folder() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A model whose questions are answered at once.
class Played {
 public:
  explicit Played(Sampled& memory, tui::ModelOptions options = {});
  // "3", "Enter", "/", "Tab": as tmux calls them.
  void press(const std::string& key);
  void resize(int rows, int columns) { model_.resize(rows, columns); }
  std::string screen() const { return model_.draw().text(); }

 private:
  void answer_all(std::vector<tui::Ask> asks);
  Sampled& memory_;
  tui::Model model_;
};

}  // namespace clawmark::support
