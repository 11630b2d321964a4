#include "serve/status.h"

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/sqlite_version.h"
#include "log/cursor.h"
#include "log/event_log.h"
#include "projections/overview.h"
#include "projections/search.h"
#include "serve/store_signs.h"
#include "serve/tools.h"

namespace clawmark {
namespace {

constexpr std::size_t kSkippedTold = 50;
constexpr std::int64_t kHandshakeStaleMs = 15 * kMinuteMs;  // the plugin greets every 5 minutes

// They go by sources, by the clock or by requests: their cursors never say how far the log is read.
constexpr std::array<std::string_view, 4> kNotByTheLog = {"ingest", "decay", "forget", "keep"};

// Workers as the pipeline says; without one, as their cursors say.
std::vector<WorkerState> worker_states(Serving& serving, Database& db) {
  if (serving.writer != nullptr) return serving.writer->workers();
  std::vector<WorkerState> out;
  const auto cursors = list_cursors(db);
  const auto head = EventLog::head(db);
  if (!cursors.ok() || !head.ok()) return out;
  for (const CursorState& cursor : *cursors) {
    const bool waits = std::find(kNotByTheLog.begin(), kNotByTheLog.end(), cursor.worker.name) ==
                       kNotByTheLog.end();
    out.push_back({cursor.worker.name, cursor.state, cursor.failure, cursor.position,
                   waits ? head->value - cursor.position.value : 0, cursor.attempts,
                   cursor.retry_at, cursor.beat_at});
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

// The folder of an agent, whatever carrier of it a path names: ".../agents/main/".
std::string_view agent_folder(std::string_view path) {
  const auto at = path.rfind("/agents/");
  if (at == std::string_view::npos) return {};
  const auto end = path.find('/', at + 8);
  return path.substr(0, end);
}

// The old store after a host upgrade: silent, and the same agent's newer carrier goes on.
bool is_retired(const SourceStateRow& source, const std::vector<SourceStateRow>& all) {
  if (source.state != "stale" || source.carrier != "transcripts") return false;
  const auto folder = agent_folder(source.path);
  return std::any_of(all.begin(), all.end(), [&](const SourceStateRow& other) {
    return other.carrier == "agent-db" && other.state == "ok" && other.newest > source.newest &&
           agent_folder(other.path) == folder;
  });
}

// What is not there matters only if nothing newer is.
bool is_replaced(const SourceStateRow& source, const std::vector<SourceStateRow>& all) {
  if (source.state != "absent") return false;
  if (source.newest.value == 0) return true;  // it never was
  return std::any_of(all.begin(), all.end(), [&](const SourceStateRow& other) {
    return other.state == "ok" && other.newest >= source.newest;
  });
}

Result<json::array> sources_json(Database& db) {
  CLAWMARK_ASSIGN(const auto sources, read_source_states(db));
  json::array out;
  for (const SourceStateRow& source : sources) {
    auto counters = parse_json(source.counters);
    const bool retired = is_retired(source, sources);
    out.push_back(json::object{
        {"carrier", source.carrier},
        {"path", source.path},
        {"state", retired ? std::string("retired") : source.state},
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
          {"texts_gone", overview.texts_gone},
          {"unplaced", overview.unplaced},
          {"sessions", overview.sessions},
          {"facts", overview.facts},
          {"facts_stated", overview.facts_user},
          {"parked", overview.parked},
          {"vault_bodies", overview.vault_bodies},
          {"skipped_lines", overview.skipped_lines},
          {"newest_message_at", time_or_null(overview.newest_message)},
          {"vectors", std::move(vectors)}};
}

json::array skipped_json(Database& db) {
  json::array out;
  const auto rows = read_skipped(db, kSkippedTold);
  if (!rows.ok()) return out;
  for (const SkippedRow& row : *rows) {
    json::object line{{"carrier", row.carrier},
                      {"file", row.file},
                      {"reason", row.reason},
                      {"seen_at", time_or_null(row.seen)}};
    if (row.line >= 0) line["line"] = row.line;
    if (row.byte >= 0) line["byte"] = row.byte;
    out.push_back(std::move(line));
  }
  return out;
}

json::object reasons_json(const ReasonCounts& counts) {
  json::object out;
  for (const auto& [reason, count] : counts) out[reason] = count;
  return out;
}

// Which texts are copied, and how far the copying of earlier ones has come.
json::object retention_json(const Config& config, const Handshake& handshake,
                            const json::array& workers) {
  const bool all = config.retention == "verbatim" || handshake.keeps_all;
  json::object out{
      {"setting", config.retention}, {"keeps_all", all}, {"events_to_look_at", std::int64_t{0}}};
  for (const auto& worker : workers) {
    if (get_string(worker.as_object(), "name") != "keep") continue;
    out["events_to_look_at"] = get_int(worker.as_object(), "lag");
  }
  return out;
}

json::object plugin_json(const Handshake& handshake) {
  return {{"version", handshake.plugin_version},    {"host_version", handshake.host_version},
          {"placement", handshake.placement},       {"blocked_hooks", handshake.blocked_hooks},
          {"context_mode", handshake.context_mode}, {"seen_at", time_or_null(handshake.at)}};
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
  const auto config = serving.config();
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
          {"usd", static_cast<double>(micro_usd) / 1e6},
          {"tokens_max", config->daily_tokens_max},
          {"usd_max", config->daily_usd_max}};
}

// How long a worker may have work before it without moving. Windows of talk that are neither full
// nor old wait on purpose.
std::int64_t patience_ms(const WorkerState& worker, const Config& config) {
  const bool windows = worker.name == "extract" || worker.name == "graph";
  const bool fills = windows && worker.state == "running" && worker.attempts == 0;
  return kNoProgressMs +
         (fills ? static_cast<std::int64_t>(config.idle_hours * static_cast<double>(kHourMs)) : 0);
}

void look_at_workers(Serving& serving, const std::vector<WorkerState>& workers,
                     std::vector<Sign>& out) {
  const std::int64_t steady = serving.clock.steady_ms();
  const auto config = serving.config();
  for (const WorkerState& worker : workers) {
    const std::int64_t stuck = serving.health.stuck_ms(worker, steady);
    const bool budget = worker.failure.find("daily budget spent") != std::string::npos;
    const std::string minutes = std::to_string(stuck / kMinuteMs) + " minutes";
    if (worker.state == "stopped") {
      out.push_back(
          {"worker_stopped", worker.name, worker.name + " has stopped: " + worker.failure});
    } else if (budget) {
      out.push_back({"budget_spent", worker.name, worker.name + " waits: " + worker.failure});
    } else if (stuck >= patience_ms(worker, *config)) {
      out.push_back({"worker_stuck", worker.name,
                     worker.name + " has " + std::to_string(worker.lag) +
                         " before it and has not moved for " + minutes +
                         (worker.failure.empty() ? "" : ": " + worker.failure)});
    } else if (worker.state == "blocked") {
      out.push_back({"worker_blocked", worker.name, worker.name + " waits: " + worker.failure});
    }
    // Without a service nobody comes round: that is said once, not of each.
    const std::int64_t silent =
        serving.writer == nullptr ? 0 : serving.clock.now().value - worker.beat_at.value;
    if (worker.beat_at.value > 0 && silent >= kNoProgressMs && worker.state != "stopped") {
      out.push_back({"worker_silent", worker.name,
                     worker.name + " has not come round for " + std::to_string(silent / kMinuteMs) +
                         " minutes"});
    }
  }
}

void look_at_plugin(Serving& serving, std::vector<Sign>& out) {
  const Handshake handshake = serving.handshake();
  if (handshake.at.value == 0) return;
  if (!handshake.blocked_hooks.empty()) {
    out.push_back(
        {"hooks_blocked", "",
         "the host blocks the prompt hook, so nothing is injected; allow it: openclaw config "
         "set plugins.entries.clawmark.hooks.allowConversationAccess true"});
  }
  if (serving.clock.now().value - handshake.at.value > kHandshakeStaleMs) {
    out.push_back({"plugin_silent", "", "the plugin has not been heard of for over 15 minutes"});
  }
}

void look_at_store(Serving& serving, Database& db, std::vector<Sign>& out) {
  look_for_damage(serving, db, out);
  if (const auto sources = read_source_states(db); sources.ok()) {
    for (const SourceStateRow& source : *sources) {
      if (source.state == "ok" || source.state == "not_initialised" ||
          is_retired(source, *sources) || is_replaced(source, *sources)) {
        continue;
      }
      out.push_back({"source_" + source.state, source.carrier + source.path,
                     source.carrier + " at " + source.path + ": " +
                         (source.message.empty() ? source.reason : source.message)});
    }
  }
  if (const auto gone = count_texts_gone(db); gone.ok() && *gone > 0) {
    out.push_back({"texts_gone", "",
                   std::to_string(*gone) + " messages have lost their text: the host has rewritten "
                                           "or removed it, and no copy was kept"});
  }
  if (const auto unread = count_unread(db); unread.ok() && *unread > 0) {
    out.push_back({"texts_unread", "",
                   std::to_string(*unread) +
                       " messages are not in the search index: their texts could not be read when "
                       "it was made"});
  }
  if (const auto unplaced = count_unplaced(db); unplaced.ok() && *unplaced > 0) {
    out.push_back({"unplaced", "",
                   std::to_string(*unplaced) +
                       " messages stand in sessions that no index names, so whose they are is not "
                       "known: no prompt gets them; clawmark search finds them"});
  }
  look_for_set_aside(db, out);
}

std::vector<Sign> signs_of(Serving& serving) {
  std::vector<Sign> out;
  for (const std::string& problem : serving.config()->problems) {
    out.push_back({"config", problem, problem});
  }
  auto lease = serving.readers.lease();
  if (!lease.ok()) {
    out.push_back({"store", "", lease.error().message});
    return out;
  }
  if (serving.writer == nullptr) {
    out.push_back({"daemon_absent", "", "the service does not run: what follows is as it left it"});
  }
  look_at_workers(serving, worker_states(serving, **lease), out);
  if (serving.index) {
    const IndexState index = serving.index->state();
    if (says_damage(index.failure)) {
      out.push_back({"store", "index", "the store cannot be read: " + index.failure});
    } else if (!index.failure.empty()) {
      out.push_back({"index", "", "the vector index: " + index.failure});
    }
  }
  look_at_plugin(serving, out);
  look_at_folders(*serving.config(), out);
  look_at_store(serving, **lease, out);
  return out;
}

}  // namespace

std::vector<Warning> warnings(Serving& serving) {
  return serving.health.judge(signs_of(serving), serving.clock.steady_ms());
}

std::string_view health_word(const std::vector<Warning>& warnings) {
  if (warnings.empty()) return "ok";
  return warnings.front().red ? "red" : "warning";
}

json::object status_json(Serving& serving) {
  const auto config = serving.config();
  json::object out = protocol_object();
  json::array problems, warned;
  for (const std::string& problem : config->problems) problems.emplace_back(problem);
  const auto told = warnings(serving);
  for (const Warning& warning : told) {
    warned.push_back(json::object{{"code", warning.code},
                                  {"severity", warning.red ? "red" : "warning"},
                                  {"red", warning.red},
                                  {"message", warning.message},
                                  {"remedy", warning.remedy},
                                  {"held_seconds", warning.held_ms / 1000}});
  }
  out["health"] = health_word(told);
  out["version"] = serving.version;
  out["sqlite"] = sqlite_version();
  out["timezone"] = config->timezone.empty() ? std::string("UTC") : config->timezone;
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
    out["skipped"] = skipped_json(db);
    if (const auto filtered = read_filtered(db); filtered.ok()) {
      out["filtered"] = json::object{{"messages", reasons_json(filtered->messages)},
                                     {"facts", reasons_json(filtered->facts)}};
    }
    json::array workers = workers_json(worker_states(serving, db));
    out["retention"] = retention_json(*config, serving.handshake(), workers);
    out["workers"] = std::move(workers);
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
  const auto gauge = [&](const char* name, double value) { serving.metrics.set(name, {}, value); };
  const bool red = health_word(warnings(serving)) == "red";
  gauge("clawmark_healthy", red ? 0 : 1);
  serving.metrics.set("clawmark_build_info", Metrics::label("version", serving.version), 1);
  if (auto lease = serving.readers.lease(); lease.ok()) {
    if (const auto overview = read_overview(**lease); overview.ok()) {
      const auto count = [&](const char* name, std::int64_t value) {
        gauge(name, static_cast<double>(value));
      };
      count("clawmark_events", overview->head.value);
      count("clawmark_messages", overview->messages);
      count("clawmark_messages_recallable", overview->recallable);
      count("clawmark_texts_gone", overview->texts_gone);
      count("clawmark_vault_texts", overview->vault_bodies);
      count("clawmark_facts", overview->facts);
      count("clawmark_facts_stated", overview->facts_user);
      count("clawmark_parked", overview->parked);
      count("clawmark_skipped_lines", overview->skipped_lines);
      gauge("clawmark_newest_message_timestamp_seconds",
            static_cast<double>(overview->newest_message.value) / 1000);
    }
    const json::object spend = spend_json(serving, **lease);
    gauge("clawmark_spend_today_tokens", static_cast<double>(get_int(spend, "tokens")));
    gauge("clawmark_spend_today_usd", get_double(spend, "usd"));
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
    gauge("clawmark_vectors", static_cast<double>(serving.index->state().vectors));
  }
  return serving.metrics.text();
}

}  // namespace clawmark
