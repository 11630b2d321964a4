#include "serve/status.h"

#include <algorithm>

#include "log/cursor.h"
#include "log/event_log.h"
#include "projections/overview.h"
#include "projections/search.h"
#include "serve/tools.h"

namespace clawmark {
namespace {

constexpr std::int64_t kHandshakeStaleMs = 15 * kMinuteMs;  // the plugin greets every 5 minutes

// Workers as the pipeline says; without one, as their cursors say.
std::vector<WorkerState> worker_states(Serving& serving, Database& db) {
  if (serving.writer != nullptr) return serving.writer->workers();
  std::vector<WorkerState> out;
  const auto cursors = list_cursors(db);
  const auto head = EventLog::head(db);
  if (!cursors.ok() || !head.ok()) return out;
  for (const CursorState& cursor : *cursors) {
    out.push_back({cursor.worker.name, cursor.state, cursor.failure, cursor.position,
                   head->value - cursor.position.value, cursor.attempts, cursor.retry_at,
                   cursor.beat_at});
  }
  return out;
}

json::value time_or_null(TimeMs time) {
  return time.value == 0 ? json::value(nullptr) : json::value(format_iso(time));
}

json::array workers_json(const std::vector<WorkerState>& workers) {
  json::array out;
  for (const WorkerState& worker : workers) {
    out.push_back(json::object{{"name", worker.name},
                               {"state", worker.state},
                               {"position", worker.position.value},
                               {"lag", worker.lag},
                               {"failure", worker.failure},
                               {"attempts", worker.attempts},
                               {"retry_at", time_or_null(worker.retry_at)},
                               {"beat_at", time_or_null(worker.beat_at)}});
  }
  return out;
}

Result<json::array> sources_json(Database& db) {
  CLAWMARK_ASSIGN(const auto sources, read_source_states(db));
  json::array out;
  for (const SourceStateRow& source : sources) {
    auto counters = parse_json(source.counters);
    out.push_back(json::object{
        {"carrier", source.carrier},
        {"path", source.path},
        {"state", source.state},
        {"reason", source.reason},
        {"message", source.message},
        {"streams", source.streams},
        {"changes", source.changes},
        {"changed_at", time_or_null(source.changed)},
        {"newest_at", time_or_null(source.newest)},
        {"counters", counters.ok() ? std::move(counters).value() : json::value(json::object{})}});
  }
  return out;
}

json::object counts_json(const Overview& overview) {
  json::object vectors;
  for (const auto& [model, count] : overview.vectors) vectors[model] = count;
  return {{"events", overview.head.value},
          {"messages", overview.messages},
          {"recallable", overview.recallable},
          {"sessions", overview.sessions},
          {"facts", overview.facts},
          {"facts_stated", overview.facts_user},
          {"parked", overview.parked},
          {"vault_bodies", overview.vault_bodies},
          {"skipped_lines", overview.skipped_lines},
          {"newest_message_at", time_or_null(overview.newest_message)},
          {"vectors", std::move(vectors)}};
}

json::object plugin_json(const Handshake& handshake) {
  return {{"version", handshake.plugin_version},
          {"host_version", handshake.host_version},
          {"placement", handshake.placement},
          {"blocked_hooks", handshake.blocked_hooks},
          {"seen_at", time_or_null(handshake.at)}};
}

// "reason=\"lane\"" → lane
json::object by_one_label(const std::map<std::string, double>& values) {
  json::object out;
  for (const auto& [labels, value] : values) {
    const auto open = labels.find('"');
    const auto close = labels.rfind('"');
    if (open == std::string::npos || close <= open) continue;
    out[labels.substr(open + 1, close - open - 1)] = static_cast<std::int64_t>(value);
  }
  return out;
}

json::object spend_json(Serving& serving, Database& db) {
  std::int64_t calls = 0, tokens = 0, micro_usd = 0;
  const std::string today = format_date(serving.clock.now(), "UTC");
  if (const auto rows = read_spend(db, today); rows.ok()) {
    for (const SpendRow& row : *rows) {
      calls += row.calls;
      tokens += row.input_tokens + row.output_tokens;
      micro_usd += row.micro_usd;
    }
  }
  return {{"day", today},
          {"calls", calls},
          {"tokens", tokens},
          {"usd", static_cast<double>(micro_usd) / 1e6}};
}

void warn_of_workers(const std::vector<WorkerState>& workers, std::vector<Warning>& out) {
  for (const WorkerState& worker : workers) {
    if (worker.state == "stopped") {
      out.push_back({"worker_stopped", worker.name + " has stopped: " + worker.failure, true});
    } else if (worker.state == "blocked") {
      out.push_back({"worker_blocked", worker.name + " waits: " + worker.failure, false});
    }
  }
}

void warn_of_plugin(Serving& serving, std::vector<Warning>& out) {
  const Handshake handshake = serving.handshake();
  if (handshake.at.value == 0) return;
  if (!handshake.blocked_hooks.empty()) {
    out.push_back(
        {"hooks_blocked",
         "the host blocks the prompt hook, so nothing is injected; allow it: openclaw config "
         "set plugins.entries.clawmark.hooks.allowConversationAccess true",
         true});
  }
  if (serving.clock.now().value - handshake.at.value > kHandshakeStaleMs) {
    out.push_back({"plugin_silent", "the plugin has not been heard of for over 15 minutes", false});
  }
}

void warn_of_store(Database& db, std::vector<Warning>& out) {
  if (const auto sources = read_source_states(db); sources.ok()) {
    for (const SourceStateRow& source : *sources) {
      if (source.state == "ok" || source.state == "absent" || source.state == "not_initialised")
        continue;
      out.push_back({"source_" + source.state,
                     source.carrier + " at " + source.path + ": " +
                         (source.message.empty() ? source.reason : source.message),
                     false});
    }
  }
  if (const auto parked = read_parked(db, 1); parked.ok() && !parked->empty()) {
    out.push_back({"parked", "some items were set aside; see: clawmark parked list", false});
  }
}

}  // namespace

std::vector<Warning> warnings(Serving& serving) {
  std::vector<Warning> out;
  for (const std::string& problem : serving.config()->problems) {
    out.push_back({"config", problem, true});
  }
  auto lease = serving.readers.lease();
  if (!lease.ok()) {
    out.push_back({"store", lease.error().message, true});
    return out;
  }
  warn_of_workers(worker_states(serving, **lease), out);
  if (serving.index) {
    const IndexState index = serving.index->state();
    if (!index.failure.empty())
      out.push_back({"index", "the vector index: " + index.failure, false});
  }
  warn_of_plugin(serving, out);
  warn_of_store(**lease, out);
  std::stable_sort(out.begin(), out.end(),
                   [](const Warning& a, const Warning& b) { return a.red && !b.red; });
  return out;
}

json::object status_json(Serving& serving) {
  const auto config = serving.config();
  json::object out = protocol_object();
  json::array problems, warned;
  for (const std::string& problem : config->problems) problems.emplace_back(problem);
  for (const Warning& warning : warnings(serving)) {
    warned.push_back(
        json::object{{"code", warning.code}, {"message", warning.message}, {"red", warning.red}});
  }
  out["version"] = serving.version;
  out["inert"] = !config->problems.empty();
  out["problems"] = std::move(problems);
  out["warnings"] = std::move(warned);
  out["started_at"] = format_iso(serving.started);
  out["uptime_seconds"] = (serving.clock.now().value - serving.started.value) / 1000;
  out["store"] = config->db_path;
  auto lease = serving.readers.lease();
  if (lease.ok()) {
    Database& db = **lease;
    if (const auto overview = read_overview(db); overview.ok()) {
      out["counts"] = counts_json(*overview);
    } else {
      out["counts_error"] = describe(overview.error());
    }
    if (auto sources = sources_json(db); sources.ok()) out["sources"] = std::move(sources).value();
    if (const auto search = search_counts(db); search.ok()) {
      out["search"] = json::object{{"indexed", search->indexed},
                                   {"masked", search->masked},
                                   {"pending", search->pending},
                                   {"gone", search->gone}};
    }
    out["workers"] = workers_json(worker_states(serving, db));
    out["progress"] = progress_note(db);
    out["spend"] = spend_json(serving, db);
  } else {
    out["store_error"] = describe(lease.error());
  }
  if (serving.index) {
    const IndexState index = serving.index->state();
    out["index"] = json::object{{"model", index.model.name},
                                {"dims", index.model.dims},
                                {"vectors", static_cast<std::int64_t>(index.vectors)},
                                {"loaded", index.loaded},
                                {"failure", index.failure}};
  }
  out["plugin"] = plugin_json(serving.handshake());
  out["refusals"] = by_one_label(serving.metrics.by_label("clawmark_refusals_total"));
  out["degraded"] = by_one_label(serving.metrics.by_label("clawmark_degraded_total"));
  if (serving.writer != nullptr) out["pipeline"] = serving.writer->describe();
  return out;
}

std::string metrics_text(Serving& serving) {
  if (auto lease = serving.readers.lease(); lease.ok()) {
    if (const auto overview = read_overview(**lease); overview.ok()) {
      serving.metrics.set("clawmark_events", {}, static_cast<double>(overview->head.value));
      serving.metrics.set("clawmark_messages", {}, static_cast<double>(overview->messages));
      serving.metrics.set("clawmark_facts", {}, static_cast<double>(overview->facts));
      serving.metrics.set("clawmark_parked", {}, static_cast<double>(overview->parked));
    }
    for (const WorkerState& worker : worker_states(serving, **lease)) {
      const std::string label = Metrics::label("worker", worker.name);
      serving.metrics.set("clawmark_worker_lag", label, static_cast<double>(worker.lag));
      const bool up = worker.state != "stopped" && worker.state != "blocked";
      serving.metrics.set("clawmark_worker_up", label, up ? 1 : 0);
    }
    if (const auto sources = read_source_states(**lease); sources.ok()) {
      for (const SourceStateRow& source : *sources) {
        const std::string label =
            Metrics::label("carrier", source.carrier) + "," + Metrics::label("path", source.path);
        serving.metrics.set("clawmark_source_ok", label, source.state == "ok" ? 1 : 0);
      }
    }
  }
  if (serving.index) {
    serving.metrics.set("clawmark_vectors", {},
                        static_cast<double>(serving.index->state().vectors));
  }
  return serving.metrics.text();
}

}  // namespace clawmark
