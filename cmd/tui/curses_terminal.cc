#include "cmd/tui/curses_terminal.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
// term.h makes macros of these words.
#undef columns
#undef lines

#include <array>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>

#include "base/utf8.h"
#include "cmd/tui/glyphs.h"

namespace clawmark::tui {
namespace {

constexpr int kEscapeMs = 25;     // after which an escape is the key of that name
constexpr wint_t kRedraw = 0x0C;  // Ctrl-L
constexpr int kPasteBegin = KEY_MAX - 1, kPasteEnd = KEY_MAX - 2;
constexpr std::array<int, 5> kFatal = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// terminfo says that a name is no string by the address -1.
bool is_there(const char* capability) {
  return capability != nullptr && reinterpret_cast<std::intptr_t>(capability) != -1;
}

// What a handler of a fatal signal may still do: both calls below are async-signal-safe.
struct Restore {
  std::array<char, 256> bytes{};
  std::size_t size = 0;
  termios settings{};
  void add(const char* capability) {
    const char* const text = ::tigetstr(capability);
    if (!is_there(text)) return;
    add_bytes(text);
  }
  void add_bytes(const char* text) {
    const std::size_t length = std::strlen(text);
    const bool fits = size + length <= bytes.size();
    if (!fits || std::strstr(text, "$<") != nullptr) return;
    std::memcpy(bytes.data() + size, text, length);
    size += length;
  }
};
Restore restore;

void give_back(int signal) {
  [[maybe_unused]] const ssize_t put = ::write(STDOUT_FILENO, restore.bytes.data(), restore.size);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &restore.settings);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

constexpr short kGreen = 1, kYellow = 2, kRed = 3, kCyan = 4;

attr_t attributes_of(Style style) {
  switch (style) {
    case Style::kDim:
    case Style::kOld:
      return A_DIM;
    case Style::kStrong:
      return A_BOLD;
    case Style::kBar:
    case Style::kHere:
      return A_REVERSE;
    case Style::kOk:
    case Style::kWarning:
      return A_BOLD;
    case Style::kBad:
      return A_BOLD | A_REVERSE;
    default:
      return A_NORMAL;
  }
}

short color_of(Style style) {
  switch (style) {
    case Style::kOk:
      return kGreen;
    case Style::kWarning:
      return kYellow;
    case Style::kBad:
      return kRed;
    case Style::kBar:
      return kCyan;
    default:
      return 0;
  }
}

Key key_of(int code) {
  switch (code) {
    case KEY_UP:
      return {Key::Kind::kUp, 0};
    case KEY_DOWN:
      return {Key::Kind::kDown, 0};
    case KEY_PPAGE:
      return {Key::Kind::kPageUp, 0};
    case KEY_NPAGE:
      return {Key::Kind::kPageDown, 0};
    case KEY_HOME:
      return {Key::Kind::kHome, 0};
    case KEY_END:
      return {Key::Kind::kEnd, 0};
    case KEY_ENTER:
      return {Key::Kind::kEnter, 0};
    case KEY_BTAB:
      return {Key::Kind::kBackTab, 0};
    case KEY_BACKSPACE:
      return {Key::Kind::kBackspace, 0};
    default:
      return {};
  }
}

Key key_of_character(wint_t c) {
  switch (c) {
    case L'\r':
    case L'\n':
      return {Key::Kind::kEnter, 0};
    case L'\t':
      return {Key::Kind::kTab, 0};
    case 0x1B:
      return {Key::Kind::kEscape, 0};
    case 0x7F:
    case 0x08:
      return {Key::Kind::kBackspace, 0};
    default:
      return {Key::Kind::kCharacter, static_cast<char32_t>(c)};
  }
}

class Curses final : public CursesTerminal {
 public:
  Curses(SCREEN* screen, bool ascii) : screen_(screen), ascii_(ascii) {
    ::cbreak();
    ::noecho();
    ::nonl();
    ::intrflush(::stdscr, FALSE);
    ::keypad(::stdscr, TRUE);
    ::nodelay(::stdscr, TRUE);
    ::set_escdelay(kEscapeMs);
    ::curs_set(0);
    const char* const plain = std::getenv("NO_COLOR");
    colors_ = ::has_colors() && (plain == nullptr || *plain == '\0');
    if (colors_) start_colors();
    // Pasted text comes between two marks, so that none of it is taken for commands.
    ::define_key("\033[200~", kPasteBegin);
    ::define_key("\033[201~", kPasteEnd);
    ::putp("\033[?2004h");
    std::fflush(stdout);
    guard();
  }
  ~Curses() override {
    for (const int signal : kFatal) ::signal(signal, SIG_DFL);
    ::putp("\033[?2004l");
    ::endwin();
    ::delscreen(screen_);
  }

  std::optional<Key> read(bool typing) override {
    for (;;) {
      wint_t c = 0;
      const int kind = ::get_wch(&c);
      if (kind == ERR) {
        if (::feof(stdin) != 0) closed_ = true;
        return std::nullopt;
      }
      if (kind == KEY_CODE_YES) {
        if (c == static_cast<wint_t>(kPasteBegin)) pasting_ = true;
        if (c == static_cast<wint_t>(kPasteEnd)) pasting_ = false;
        if (pasting_) continue;
        return key_of(static_cast<int>(c));
      }
      if (!pasting_ && c == kRedraw) {
        ::redrawwin(::stdscr);
        return Key{};
      }
      if (!pasting_) return key_of_character(c);
      // Of what is pasted into a line, line ends do not end it.
      if (typing && c >= 0x20) return Key{Key::Kind::kCharacter, static_cast<char32_t>(c)};
    }
  }
  bool closed() const override { return closed_; }
  int rows() const override { return ::getmaxy(::stdscr); }
  int columns() const override { return ::getmaxx(::stdscr); }

  void show(const Screen& screen) override {
    for (int row = 0; row < screen.rows() && row < rows(); ++row) {
      for (int column = 0; column < screen.columns() && column < columns(); ++column) {
        const Cell& cell = screen.at(row, column);
        if (!cell.bytes.empty()) put(row, column, cell);
      }
    }
    ::wrefresh(::stdscr);
  }

 private:
  void start_colors() {
    ::start_color();
    ::use_default_colors();
    ::init_pair(kGreen, COLOR_GREEN, -1);
    ::init_pair(kYellow, COLOR_YELLOW, -1);
    ::init_pair(kRed, COLOR_RED, -1);
    ::init_pair(kCyan, COLOR_CYAN, -1);
  }

  void guard() {
    restore.size = 0;
    ::tcgetattr(STDIN_FILENO, &restore.settings);
    restore.settings.c_lflag |= ECHO | ICANON | ISIG;
    restore.settings.c_iflag |= ICRNL;
    restore.add_bytes("\033[?2004l");
    restore.add("sgr0");
    restore.add("cnorm");
    restore.add("rmkx");
    restore.add("rmcup");
    struct sigaction action{};
    action.sa_handler = give_back;
    for (const int signal : kFatal) ::sigaction(signal, &action, nullptr);
  }

  void put(int row, int column, const Cell& cell) {
    std::array<wchar_t, CCHARW_MAX + 1> text{};
    std::size_t length = 0;
    if (!ascii_) {
      for (std::size_t at = 0; at < cell.bytes.size() && length + 1 < text.size();) {
        text[length++] = static_cast<wchar_t>(next_code_point(cell.bytes, at));
      }
    }
    // What the C library measures differently would shift the rest of the line.
    const bool agreed = !ascii_ && ::wcwidth(text[0]) == cell.width;
    const attr_t attributes = attributes_of(cell.style);
    const short color = colors_ ? color_of(cell.style) : short{0};
    if (agreed) {
      cchar_t drawn;
      ::setcchar(&drawn, text.data(), attributes, color, nullptr);
      ::mvadd_wch(row, column, &drawn);
      return;
    }
    ::attr_set(attributes, color, nullptr);
    ::mvaddstr(row, column, to_ascii({cell.bytes, cell.width}).c_str());
    ::attr_set(A_NORMAL, 0, nullptr);
  }

  SCREEN* const screen_;
  const bool ascii_;
  bool colors_ = false, pasting_ = false, closed_ = false;
};

}  // namespace

Result<std::unique_ptr<CursesTerminal>> CursesTerminal::open() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return make_error(ErrorKind::kInvalid, "terminal", "no_terminal",
                      "tui needs a terminal for input and output; `clawmark status`, `facts`, "
                      "`graph` … print the same for pipes and files");
  }
  std::setlocale(LC_ALL, "");
  const bool ascii = std::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0;
  const char* const type = std::getenv("TERM");
  const std::string named = type == nullptr ? "" : type;
  const Error unknown = make_error(
      ErrorKind::kInvalid, "terminal", "unknown_type",
      "the terminal type “" + named +
          "” (TERM) is not known here, or cannot move its cursor; try: TERM=xterm clawmark tui");
  int status = 0;
  if (::setupterm(nullptr, STDOUT_FILENO, &status) != OK) return unknown;
  const char* const cup = ::tigetstr("cup");
  if (!is_there(cup)) return unknown;
  SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return unknown;
  ::set_term(screen);
  return std::unique_ptr<CursesTerminal>(std::make_unique<Curses>(screen, ascii));
}

}  // namespace clawmark::tui
