#include "cmd/pipeline_port.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/limits.h"
#include "base/secrets.h"
#include "cmd/verify_store.h"
#include "projections/rebuild.h"
#include "workers/driver.h"
#include "workers/history_state.h"
#include "workers/purge.h"

namespace clawmark {
namespace {

constexpr std::int64_t kPauseMs = 500;

// "embed" and "embed.2" are one stage; projections are counted where they delay recall.
void add_remaining(const WorkerRemaining& row, Remaining& remaining) {
  if (row.worker == "ingest") remaining.ingest += row.remaining;
  if (row.worker == "embed") remaining.embed += row.remaining;
  if (row.worker == "extract") remaining.extract += row.remaining;
  if (row.worker == "graph" || row.worker == "condense" || row.worker == "explore")
    remaining.graph += row.remaining;
}

// A server that refuses us, or that has failed so often that its circuit is open.
bool is_blocked(const Condition& condition) {
  return condition.state == "blocked" || condition.state == "stopped" ||
         (condition.state == "waiting" && condition.attempts >= kCircuitFailures);
}

void find_blocked(const DrainReport& report, const std::vector<WorkerStatus>& states,
                  ReconcileAnswer& answer) {
  answer.stuck = true;
  for (const auto& row : report.workers) {
    const auto state = std::find_if(states.begin(), states.end(),
                                    [&](const auto& s) { return s.name == row.worker; });
    const bool stopped = state != states.end() && state->condition.state == "stopped";
    if (row.remaining == 0 && !stopped) continue;
    if (state == states.end() || !is_blocked(state->condition)) {
      answer.stuck = false;
      continue;
    }
    answer.blocked.push_back({row.worker, redact_secrets(state->condition.failure)});
  }
  answer.stuck = answer.stuck && !answer.blocked.empty();
}

// While a command runs.
class Busy {
 public:
  explicit Busy(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Busy() { --count_; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<int>& count_;
};

json::object digest_json(const ProjectionDigest& digest) {
  return {{"name", digest.name},
          {"generation", digest.generation},
          {"position", digest.position.value},
          {"digest", to_hex(digest.digest)}};
}

}  // namespace

Status PipelinePort::submit(std::vector<NewEvent> events) {
  return pipeline_.append_now(events);
}

Result<DrainReport> PipelinePort::drain_here(std::int64_t wait_ms) {
  const std::int64_t end_ms = clock_.steady_ms() + wait_ms;
  OnceOptions once;
  once.call = call_;
  once.slice = [&] { return clock_.steady_ms() < end_ms; };
  // A little patience with an endpoint, so that who asks again and again does not do so in a whirl.
  std::int64_t left_ms = std::min(kPauseMs, wait_ms);
  once.wait = [&](TimeMs until) {
    if (left_ms <= 0) return false;
    const std::int64_t ms = std::clamp<std::int64_t>(until.value - clock_.now().value, 1, left_ms);
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable never;
    never.wait_for(lock, std::chrono::milliseconds(ms));
    left_ms -= ms;
    return true;
  };
  return pipeline_.run_until_idle(once);
}

Result<ReconcileAnswer> PipelinePort::reconcile(bool drain, std::int64_t wait_ms) {
  CLAWMARK_ASSIGN(const DrainReport report,
                  pipeline_.running() ? pipeline_.drain(wait_ms, drain) : drain_here(wait_ms));
  ReconcileAnswer answer;
  answer.done = report.done;
  for (const auto& row : report.workers) add_remaining(row, answer.remaining);
  if (!report.done) find_blocked(report, pipeline_.status(), answer);
  return answer;
}

std::vector<WorkerState> PipelinePort::workers() {
  std::vector<WorkerState> out;
  const TimeMs now = clock_.now();
  for (const auto& row : pipeline_.status()) {
    const TimeMs beat{pipeline_.running() ? now.value - row.beat_age_ms : 0};
    out.push_back({row.name, row.condition.state, redact_secrets(row.condition.failure),
                   row.position, row.pending, row.condition.attempts, row.condition.retry_at,
                   beat});
  }
  return out;
}

void PipelinePort::notify(const Caller&, std::string_view) {
  pipeline_.notify();
}

Result<json::object> PipelinePort::rebuild_all(const std::string& only) {
  json::array rows;
  bool found = false;
  for (Projection* projection : pipeline_.projections()) {
    if (!only.empty() && projection->name() != only) continue;
    found = true;
    // Piece by piece: what a person states meanwhile does not wait for the whole.
    RebuildStep step;
    while (!step.done) {
      CLAWMARK_TRY(pipeline_.run_on_writer([&](Store& store) -> Status {
        CLAWMARK_ASSIGN(step, rebuild_step(store.db(), *projection, clock_.now()));
        if (!step.done) return Ok{};
        CLAWMARK_ASSIGN(const auto digest, live_digest(store.db(), *projection));
        rows.push_back(digest_json(digest));
        return Ok{};
      }));
    }
  }
  if (!found) {
    std::string names;
    for (const Projection* projection : pipeline_.projections()) {
      names += (names.empty() ? "" : ", ") + std::string(projection->name());
    }
    return make_error(ErrorKind::kInvalid, "rebuild", "unknown_projection",
                      "there is no such projection; give one of " + names);
  }
  return json::object{{"ok", true}, {"projections", std::move(rows)}};
}

Result<json::object> PipelinePort::verify_all(bool mend) {
  const auto rebuild = [this](const std::string& name) -> Status {
    CLAWMARK_TRY(rebuild_all(name));
    return Ok{};
  };
  return verify_store(pipeline_, clock_, mend ? rebuild : RebuildOne());
}

Result<json::object> PipelinePort::estimate() {
  if (!pipeline_.running()) {
    // Reads what there is; without a transport no model is asked.
    CLAWMARK_TRY(pipeline_.run_until_idle({}));
  }
  CLAWMARK_ASSIGN(const BacklogEstimate guess, pipeline_.estimate());
  return json::object{{"ok", true},
                      {"messages_to_embed", guess.messages_to_embed},
                      {"messages_to_extract", guess.messages_to_extract},
                      {"embed_tokens", guess.embed_tokens},
                      {"extract_tokens", guess.extract_tokens},
                      {"usd", guess.usd}};
}

Result<json::object> PipelinePort::purge_all() {
  PurgeReport report;
  CLAWMARK_TRY(pipeline_.run_on_writer([&](Store& store) -> Status {
    CLAWMARK_ASSIGN(report, purge(store, pipeline_.projections(), clock_.now()));
    return Ok{};
  }));
  pipeline_.notify();
  json::array backups, still_in;
  for (const auto& path : report.backups) backups.emplace_back(path);
  for (const auto& path : report.still_in) still_in.emplace_back(path);
  std::string text = "Purged: " + std::to_string(report.events) + " events blanked, " +
                     std::to_string(report.texts.bodies) + " texts and " +
                     std::to_string(report.texts.vectors) + " vectors removed, " +
                     std::to_string(report.backups.size()) + " older backups removed, the files " +
                     "rewritten; looked for " + std::to_string(report.looked_for) + " texts: ";
  text += report.still_in.empty()
              ? "none is left in any file of the store."
              : "words of them are still in " + std::to_string(report.still_in.size()) +
                    " file(s), in something that was not forgotten.";
  text += " Keys of facts stay as tombstones, also where they repeat words.";
  return json::object{{"ok", true},
                      {"text", std::move(text)},
                      {"events", report.events},
                      {"bodies", report.texts.bodies},
                      {"vectors", report.texts.vectors},
                      {"parked", report.texts.parked},
                      {"backups", std::move(backups)},
                      {"looked_for", static_cast<std::int64_t>(report.looked_for)},
                      {"still_in", std::move(still_in)}};
}

Result<json::object> PipelinePort::retry_parked(const json::object& params) {
  const Seq event{get_int(params, "event")};
  CLAWMARK_ASSIGN(const auto count, pipeline_.retry_parked(get_string(params, "worker"), event));
  return json::object{{"ok", true}, {"retried", static_cast<std::int64_t>(count)}};
}

Result<json::object> PipelinePort::run(std::string_view command, const json::object& params) {
  const Busy busy(busy_);
  if (command == "rebuild") return rebuild_all(get_string(params, "projection"));
  if (command == "verify") return verify_all(get_bool(params, "mend"));
  if (command == "purge") return purge_all();
  if (command == "estimate") return estimate();
  if (command == "parked_retry") return retry_parked(params);
  if (command == "serve_context") {
    CLAWMARK_ASSIGN(const bool all, pipeline_.serve_context(get_bool(params, "ours")));
    return json::object{{"ok", true}, {"keeps_all", all}};
  }
  if (is_history_command(command)) {
    json::object out;
    CLAWMARK_TRY(pipeline_.run_on_writer([&](Store& store) -> Status {
      CLAWMARK_ASSIGN(out, run_history_command(store.db(), command, params, clock_.now()));
      return Ok{};
    }));
    return out;
  }
  return make_error(ErrorKind::kNotFound, "api", "unknown_command", "there is no such command");
}

json::object PipelinePort::describe() {
  json::object rates;
  for (const auto& row : pipeline_.status()) {
    if (row.per_second > 0) rates[row.name] = row.per_second;
  }
  return {{"running", pipeline_.running()},
          {"beat_age_ms", pipeline_.beat_age_ms()},
          {"per_second", std::move(rates)}};
}

}  // namespace clawmark
