#include "cmd/clawmarkd/once.h"

#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>

#include "base/files.h"
#include "base/logging.h"
#include "cmd/app.h"
#include "cmd/rows.h"
#include "cmd/source_options.h"
#include "cmd/terminal.h"
#include "serve/status.h"
#include "workers/driver.h"

namespace clawmark {
namespace {

constexpr std::int64_t kRedrawMs = 100;

// One bar over all stages: what is left of the most that ever was.
class Progress {
 public:
  explicit Progress(App& app) : app_(app), bar_(stderr) {}
  ~Progress() { bar_.clear(); }

  // False: a signal asks to stop.
  bool slice() {
    sigset_t pending;
    sigpending(&pending);
    if (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1) return false;
    const std::int64_t now = clock_.steady_ms();
    if (now - drawn_ms_ < kRedrawMs) return true;
    drawn_ms_ = now;
    std::int64_t left = 0, total = 0;
    std::string stage;
    for (const auto& row : app_.pipeline().status()) {
      auto& most = most_[row.name];
      most = std::max(most, row.pending);
      left += row.pending;
      total += most;
      if (row.pending > 0 && stage.empty()) stage = row.name;
    }
    bar_.show(stage.empty() ? "looking" : stage, total - left, total);
    return true;
  }

 private:
  App& app_;
  ProgressBar bar_;
  SystemClock clock_;
  std::int64_t drawn_ms_ = 0;
  std::map<std::string, std::int64_t> most_;
};

void print_report(App& app, const DrainReport& report, std::int64_t fresh, std::int64_t took_ms,
                  const std::string& zone) {
  const json::object status = status_json(app.serving());
  std::printf("\nSources\n");
  print_rows(status, "sources",
             {"carrier", "path", "state", "reason", "streams", "newest_at:newest", "counters"},
             zone, "none: is this an OpenClaw state folder?");
  std::printf("\nStages\n");
  print_rows(status, "workers", {"name", "state", "lag:left", "failure"}, zone, "none");
  if (const auto* counts = find_object(status, "counts")) {
    std::printf("\nMemory\n");
    for (const char* key : {"messages", "recallable", "sessions", "facts", "events", "parked",
                            "skipped_lines", "texts_gone", "unplaced"}) {
      std::printf("  %-14s %s\n", key, format_count(get_int(*counts, key)).c_str());
    }
  }
  std::printf("\n%s new events in %.1f s\n", format_count(fresh).c_str(),
              static_cast<double>(took_ms) / 1000);
  for (const auto& row : report.workers) {
    if (row.remaining == 0) continue;
    std::printf("left: %s %s %s\n", row.worker.c_str(), format_count(row.remaining).c_str(),
                row.why.c_str());
  }
  print_unread(find_array(status, "skipped"));
}

}  // namespace

int run_once(const Config& config) {
  set_log_level(LogLevel::kWarning);
  for (const auto& note : config.notes) log_line(LogLevel::kNotice, "config", note);
  for (const auto& problem : config.problems) log_error("config", problem);
  if (!config.problems.empty()) return 2;
  if (!stat_file(config.state_dir) && config.transcripts_dir.empty() &&
      config.lcm_db_path.empty()) {
    log_error("config", "state_dir: there is no folder " + config.state_dir +
                            ": name the one that OpenClaw keeps its state in");
    return 2;
  }
  if (const std::string agents = unreadable_agents(config); !agents.empty()) {
    log_error("config", "state_dir: " + agents +
                            " is not readable for this user: run Clawmark as the gateway's user");
    return 2;
  }
  auto app = App::open(config, "clawmarkd --once");
  if (!app) {
    log_error("clawmarkd", app.error().message);
    return app.error().stage == "lock" ? 75 : app.error().stage == "store" ? 78 : 1;
  }
  for (const auto& problem : (*app)->problems()) log_error("config", problem);
  if ((*app)->inert()) return 2;
  const SystemClock clock;
  const std::int64_t started = clock.steady_ms();
  Seq before;
  const auto head = [&](Seq& at) {
    return (*app)->pipeline().run_on_writer([&](Store& store) -> Status {
      CLAWMARK_ASSIGN(at, EventLog::head(store.db()));
      return Ok{};
    });
  };
  Seq after;
  Result<DrainReport> report = DrainReport{};
  if (const auto status = head(before); !status.ok()) {
    log_error("clawmarkd", describe(status.error()));
    return 1;
  }
  {
    Progress progress(**app);
    report = (*app)->run_once([&] { return progress.slice(); });
  }
  if (!report) {
    log_error("clawmarkd", describe(report.error()));
    return 1;
  }
  if (const auto status = head(after); !status.ok()) {
    log_error("clawmarkd", describe(status.error()));
    return 1;
  }
  print_report(**app, *report, after.value - before.value, clock.steady_ms() - started,
               config.timezone);
  return report->done ? 0 : 3;
}

}  // namespace clawmark
