// clawmarkd: the service. Owns a store, reads the history, answers on a socket.
//
//   SIGTERM, SIGINT  stop, within 5 seconds
//   SIGHUP           read the configuration again (everything is set up anew; the socket listens
//   on, nothing is lost)
//
// Exit codes: 0 stopped, or --once with nothing left · 1 failed · 2 wrong arguments · 3 --once, and
// something is left · 75 another process holds the store · 78 the store cannot be used as it is
// (newer schema, unsafe file system).

#include <malloc.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "base/logging.h"
#include "base/sqlite_version.h"
#include "cmd/app.h"
#include "cmd/clawmarkd/once.h"
#include "cmd/config_flags.h"
#include "cmd/service_notify.h"
#include "cmd/version.h"

namespace clawmark {
namespace {

constexpr int kExitHeld = 75, kExitConfig = 78;
constexpr std::int64_t kTickMs = 1'000;
constexpr std::int64_t kBeatMs = 45'000;

enum class Wish { kStop, kReload };

LogLevel log_level(const std::string& name) {
  if (name == "error") return LogLevel::kError;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "info") return LogLevel::kInfo;
  if (name == "debug") return LogLevel::kDebug;
  return LogLevel::kNotice;
}

sigset_t wanted_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  return set;
}

// A text of megabytes is given back to the system when it goes: left to itself, the C library takes
// the size of the largest for that of all, keeps them, and ends at twice the memory.
// What is smaller is kept at hand: a bound for the one alone would give that back at each turn, and
// reading a backlog would take twice the time.
void bound_memory() {
  constexpr int kReturnedBytes = 1 << 20, kKeptBytes = 16 << 20;
  (void)mallopt(M_MMAP_THRESHOLD, kReturnedBytes);
  (void)mallopt(M_TRIM_THRESHOLD, kKeptBytes);
}

int exit_code(const Error& error) {
  if (error.stage == "lock") return kExitHeld;
  if (error.stage == "store") return kExitConfig;
  return 1;
}

// Waits for a signal; meanwhile feeds the watchdog while everything moves.
Wish wait_for_wish(App& app) {
  const SystemClock clock;
  const sigset_t set = wanted_signals();
  const std::int64_t feed_ms = watchdog_ms() / 3;
  std::int64_t fed_ms = 0;
  for (;;) {
    timespec tick{kTickMs / 1000, 0};
    const int number = sigtimedwait(&set, nullptr, &tick);
    if (number == SIGTERM || number == SIGINT) return Wish::kStop;
    if (number == SIGHUP) return Wish::kReload;
    const std::int64_t now = clock.steady_ms();
    if (feed_ms > 0 && now - fed_ms >= feed_ms && app.beats(kBeatMs)) {
      notify_watchdog();
      fed_ms = now;
    }
  }
}

void say_state(const App& app, const Config& config) {
  for (const auto& note : config.notes) log_line(LogLevel::kNotice, "config", note);
  if (!app.inert()) {
    log_line(
        LogLevel::kNotice, "clawmarkd",
        "reading " + config.state_dir + ", store " + config.db_path + ", socket " + config.socket);
    notify_ready("reading " + config.state_dir);
    return;
  }
  for (const auto& problem : app.problems()) log_error("config", problem);
  log_error("clawmarkd",
            "inert: nothing is read or injected until this is corrected and the service reloaded");
  notify_ready("inert: " + app.problems().front());
}

int serve(const std::string& config_file, const std::map<std::string, std::string>& flags) {
  Door door;
  for (;;) {
    const Config config = config_of_process(config_file, flags);
    set_log_level(log_level(config.log_level));
    auto app = App::open(config, "clawmarkd");
    if (!app) {
      log_error("clawmarkd", app.error().message);
      return exit_code(app.error());
    }
    if (const auto started = (*app)->start(door); !started.ok()) {
      log_error("clawmarkd", describe(started.error()));
      return 1;
    }
    say_state(**app, config);
    const Wish wish = wait_for_wish(**app);
    if (wish == Wish::kReload) {
      notify_reloading(SystemClock().steady_ms() * 1000);
    } else {
      notify_stopping();
    }
    if (wish == Wish::kStop) door.turn_away();
    (*app)->stop();
    if (wish == Wish::kStop) return 0;  // the door is shut at last
    log_line(LogLevel::kNotice, "clawmarkd", "reading the configuration again");
  }
}

}  // namespace
}  // namespace clawmark

int main(int argc, char** argv) {
  using namespace clawmark;
  bound_memory();
  CLI::App cli{"Clawmark's service: reads an OpenClaw history and answers on a socket",
               "clawmarkd"};
  cli.set_version_flag("--version", "clawmarkd " + std::string(version_text()) + "\nSQLite " +
                                        std::string(sqlite_version()));
  std::string config_file;
  std::map<std::string, std::string> flags;
  bool once = false;
  cli.add_flag("--once", once, "read all there is, say what was found, and end");
  add_config_flags(cli, config_file, flags);
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? 0 : 2;
  }
  // Before any thread: all of them leave these to sigtimedwait.
  const sigset_t set = wanted_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  if (once) return run_once(config_of_process(config_file, flags));
  return serve(config_file, flags);
}
