#include "serve/health.h"

#include <algorithm>
#include <array>
#include <set>

namespace clawmark {
namespace {

constexpr Severity kRed = Severity::kRed;
constexpr Severity kWarn = Severity::kWarning;

constexpr std::array<WarningKind, 25> kKinds = {{
    {"config", kRed, "", 0, "correct it, then: systemctl --user reload clawmark"},
    {"store", kRed, "", 0, "clawmark doctor"},
    {"disk_full", kRed, "", 0, "make room there; it goes on by itself"},
    {"daemon_absent", kWarn, "", 0, "systemctl --user start clawmark"},
    {"worker_stopped", kRed, "store", 0, "remove the cause, then restart clawmarkd"},
    {"worker_stuck", kRed, "worker_stopped", 0, "clawmark doctor; journalctl --user -u clawmark"},
    {"worker_silent", kRed, "worker_stopped", 0, "restart clawmarkd"},
    {"worker_blocked", kWarn, "config", 0, "correct the cause; it goes on by itself"},
    {"budget_spent", kWarn, "", 0, "it goes on at midnight UTC; daily_tokens_max, daily_usd_max"},
    {"index", kWarn, "store", kMinuteMs, "clawmark doctor"},
    {"hooks_blocked", kRed, "", 0,
     "openclaw config set plugins.entries.clawmark.hooks.allowConversationAccess true"},
    {"plugin_silent", kWarn, "", 0, "is the gateway running, and the plugin enabled there?"},
    {"parked", kWarn, "", 0, "clawmark parked list; clawmark parked retry"},
    {"texts_gone", kWarn, "", 0,
     "facts from them stay; retention=auto or verbatim keeps texts from then on (README)"},
    {"texts_unread", kWarn, "", 0,
     "once OpenClaw's folder is where state_dir says: clawmark rebuild search, then clawmark "
     "rebuild "
     "history"},
    {"unplaced", kWarn, "", 5 * kMinuteMs,
     "restore the agent's sessions.json or its session table; they are placed by themselves then"},
    {"source_stale", kWarn, "", 0, "is it still written to? clawmark doctor"},
    {"source_absent", kWarn, "", 0,
     "is OpenClaw's folder where state_dir says, and its disk there? clawmark doctor"},
    {"source_busy", kWarn, "", 2 * kMinuteMs, "another program holds it; it is tried again"},
    {"source_incompatible", kWarn, "", 0,
     "a newer clawmark may know its shape; other carriers go on"},
    {"source_broken", kWarn, "", 0,
     "restore it at the host; what was read before is kept, other carriers go on"},
    {"source_forbidden", kWarn, "", 0, "give the service the right to read it"},
    {"source_unread", kWarn, "", 0,
     "let OpenClaw's own copy or a backup put it back, or give the service the right to read it; "
     "it is tried again, and all else is read"},
    {"source_other", kWarn, "", kMinuteMs, "clawmark doctor"},
    {"other", kWarn, "", 0, "clawmark doctor"},
}};

std::string name_of(const Sign& sign) {
  return sign.code + "\n" + sign.subject;
}

}  // namespace

std::span<const WarningKind> warning_kinds() {
  return kKinds;
}

const WarningKind& warning_kind(std::string_view code) {
  for (const WarningKind& kind : kKinds) {
    if (kind.code == code) return kind;
  }
  return code.starts_with("source_") ? warning_kind("source_other") : kKinds.back();
}

std::vector<Warning> HealthMemory::judge(const std::vector<Sign>& signs, std::int64_t steady_ms) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> holding;
  std::set<std::string_view> shown;
  std::vector<std::pair<const Sign*, std::int64_t>> ripe;
  for (const Sign& sign : signs) {
    const std::string name = name_of(sign);
    holding.insert(name);
    const auto [since, fresh] = since_.try_emplace(name, steady_ms);
    const std::int64_t held = steady_ms - since->second;
    if (held < warning_kind(sign.code).visible_after_ms) continue;
    ripe.emplace_back(&sign, held);
    shown.insert(sign.code);
  }
  std::erase_if(since_, [&](const auto& entry) { return !holding.contains(entry.first); });
  std::vector<Warning> out;
  for (const auto& [sign, held] : ripe) {
    const WarningKind& kind = warning_kind(sign->code);
    if (!kind.depends_on.empty() && shown.contains(kind.depends_on)) continue;
    out.push_back(
        {sign->code, sign->message, std::string(kind.remedy), kind.severity == kRed, held});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Warning& a, const Warning& b) { return a.red && !b.red; });
  return out;
}

std::int64_t HealthMemory::stuck_ms(const WorkerState& worker, std::int64_t steady_ms) {
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] =
      workers_.try_emplace(worker.name, Progress{worker.position, worker.lag, steady_ms});
  Progress& known = found->second;
  const bool moved = known.position != worker.position || worker.lag < known.lag;
  if (worker.lag == 0 || moved) known.since_ms = steady_ms;
  known.position = worker.position;
  known.lag = worker.lag;
  return steady_ms - known.since_ms;
}

std::string HealthMemory::damage(std::int64_t steady_ms, const std::function<std::string()>& look) {
  std::unique_lock lock(mutex_);
  if (looked_ms_ && steady_ms - *looked_ms_ < kMinuteMs) return damage_;
  looked_ms_ = steady_ms;  // who asks meanwhile is told what was seen last
  lock.unlock();
  std::string seen = look();
  lock.lock();
  damage_ = std::move(seen);
  return damage_;
}

}  // namespace clawmark
