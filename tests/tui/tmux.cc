#include "tests/tui/tmux.h"

#include <csignal>
#include <stdexcept>
#include <utility>

#include "base/files.h"
#include "test_paths.h"

namespace clawmark::support {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string without_blanks_at_ends(const std::string& screen) {
  std::string out;
  for (std::size_t at = 0; at < screen.size();) {
    const auto end = std::min(screen.find('\n', at), screen.size());
    std::string line = screen.substr(at, end - at);
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
    at = end + 1;
  }
  return out;
}

}  // namespace

Tmux::Tmux(const std::string& command, std::map<std::string, std::string> environment, int columns,
           int rows) {
  environment.insert({"LC_ALL", "C.UTF-8"});
  environment.insert({"HOME", dir_.path()});
  std::string line = "cd /; stty -echo; env";
  for (const auto& [name, value] : environment) line += " " + name + "=" + quoted(value);
  // The shell says how it ended, on the screen that was there before.
  line += " sh -c 'echo $$ >" + (dir_ / "pid") + "; exec " + CLAWMARK_BIN_DIR + "/" + command +
          "'; code=$?; echo; echo ENDED $code; stty -a | tr ' ' '\\n' | grep -x 'icanon;\\?'; "
          "exec cat";
  tmux("-f /dev/null new-session -d -x " + std::to_string(columns) + " -y " + std::to_string(rows) +
       " " + quoted(line));
}

Tmux::~Tmux() {
  tmux("kill-server");
}

std::string Tmux::tmux(const std::string& arguments) {
  return in_shell("LC_ALL=C.UTF-8 TMUX= tmux -u -S " + (dir_ / "tmux") + " " + arguments).out;
}

void Tmux::press(const std::string& key) {
  const bool named = key.size() > 1 && key[0] >= 'A' && key[0] <= 'Z';  // "C-c", too
  tmux(std::string("send-keys ") + (named ? "" : "-l -- ") + quoted(key));
}

void Tmux::paste(const std::string& text) {
  tmux("set-buffer -- " + quoted(text));
  tmux("paste-buffer -p");
}

void Tmux::resize(int columns, int rows) {
  tmux("resize-window -x " + std::to_string(columns) + " -y " + std::to_string(rows));
}

std::string Tmux::screen() {
  return without_blanks_at_ends(tmux("capture-pane -p"));
}

int Tmux::pid() {
  if (!eventually([&] { return read_text(dir_ / "pid").ends_with('\n'); })) {
    throw std::runtime_error("the program was not started");
  }
  return std::stoi(read_text(dir_ / "pid"));
}

void Tmux::signal(int number) {
  ::kill(pid(), number);
}

std::string Tmux::wait_for(const std::string& wanted) {
  std::string now;
  const bool there = eventually([&] {
    now = screen();
    return now == wanted;
  });
  return there ? std::string() : now;
}

std::string Tmux::wait_until(const std::string& text) {
  // A screen may be seen half drawn: it counts once it stays.
  std::string now;
  eventually([&] {
    const std::string before = std::exchange(now, screen());
    return now == before && now.find(text) != std::string::npos;
  });
  return now;
}

std::string Tmux::wait_for_the_end() {
  return wait_until("ENDED ");
}

}  // namespace clawmark::support
