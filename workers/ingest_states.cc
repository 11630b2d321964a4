// What is shown of each carrier, and the event when that changes.

#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "base/logging.h"
#include "workers/ingest.h"

namespace clawmark {

// Streams that were read once and are no longer listed: their texts cannot be had there any more.
// Should they come back they are read again from their start.
Status IngestPort::sweep_vanished(const Carrier& carrier, TimeMs now) {
  CLAWMARK_ASSIGN(auto* query, store_.db().cached("SELECT stream FROM source_positions"
                                                  " WHERE carrier = ? AND position <> ''"));
  query->with(carrier.carrier);
  const std::string suffix = path_suffix(carrier.path);
  const auto elsewhere = [&](const std::string& key) {
    const std::string head = key.substr(0, key.size() - suffix.size()) + "@";
    return std::any_of(carriers_.begin(), carriers_.end(), [&](const auto& other) {
      const auto at = other->listed.lower_bound(head);
      return other->carrier == carrier.carrier && at != other->listed.end() &&
             at->starts_with(head);
    });
  };
  std::vector<std::string> vanished;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    if (!query->text(0).ends_with(suffix)) continue;
    const std::string key = query->string(0);
    if (!carrier.listed.contains(key) && !elsewhere(key)) vanished.push_back(key);
  }
  query->reset();
  if (vanished.empty()) return Ok{};
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  for (const std::string& key : vanished) {
    const auto slash = key.find('/');
    const std::string stream = key.substr(slash + 1, key.size() - suffix.size() - slash - 1);
    CLAWMARK_TRY(BodyStore::doubt_locators(txn, key.substr(0, slash), carrier.carrier, stream));
    CLAWMARK_TRY(BodyStore::sweep_locators(txn, carrier.carrier, stream, now));
    CLAWMARK_TRY(
        txn.db().run("UPDATE source_positions SET position = '', anchor = ''"
                     " WHERE carrier = ? AND stream = ?",
                     carrier.carrier, key));
    tips_.erase(key);
  }
  return txn.commit();
}

// Carriers that were read and are nowhere to be found any more.
Status IngestPort::note_absent(TimeMs now) {
  std::set<std::pair<std::string, std::string>> found;
  for (const auto& carrier : carriers_) found.emplace(carrier->carrier, carrier->path);
  if (found == found_) return Ok{};
  CLAWMARK_ASSIGN(auto* query, store_.db().cached("SELECT carrier, path FROM source_states WHERE"
                                                  " state <> 'absent'"));
  std::vector<std::pair<std::string, std::string>> absent;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    std::pair<std::string, std::string> known{query->string(0), query->string(1)};
    // What is there and not to be read (setting `source`) is not gone.
    if (!found.contains(known) && !stat_file(known.second)) absent.push_back(std::move(known));
  }
  query->reset();
  found_ = std::move(found);
  if (absent.empty()) return Ok{};
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  for (const auto& [carrier, path] : absent) {
    Carrier gone;
    gone.carrier = carrier;
    gone.path = path;
    gone.health.state = SourceState::kAbsent;
    gone.health.reason = "absent";
    gone.health.message = path + " is not there any more; what was read of it stays";
    if (state_changed(gone, now)) CLAWMARK_TRY(save_state(txn, gone, now));
  }
  return txn.commit();
}

bool IngestPort::state_changed(Carrier& carrier, TimeMs) {
  const auto key = std::make_pair(carrier.carrier, carrier.path);
  auto shown = shown_.find(key);
  if (shown == shown_.end()) {
    Shown row;
    auto query = store_.db().cached(
        "SELECT state, reason, changes, newest_ms, counters FROM"
        " source_states WHERE carrier = ? AND path = ?");
    if (query.ok()) {
      auto there = (*query)->with(carrier.carrier, carrier.path).step();
      if (there.ok() && *there) {
        row = {(*query)->string(0), (*query)->string(1), (*query)->integer(2), (*query)->time(3)};
        const auto counters = parse_json((*query)->text(4));
        if (counters.ok() && counters->is_object()) {
          for (const auto& [name, value] : counters->get_object()) {
            if (value.is_int64() && name != "sessions_ignored") {
              carrier.counters[std::string(name)] += value.get_int64();
            }
          }
        }
      }
      (*query)->reset();
    }
    shown = shown_.emplace(key, std::move(row)).first;
  }
  return shown->second.state != to_string(carrier.health.state) ||
         shown->second.reason != carrier.health.reason;
}

Status IngestPort::save_state(Transaction& txn, Carrier& carrier, TimeMs now) {
  Shown& shown = shown_[{carrier.carrier, carrier.path}];
  const std::string state(to_string(carrier.health.state));
  const bool changed = shown.state != state || shown.reason != carrier.health.reason;
  const bool was_unknown = shown.state.empty();
  if (changed) ++shown.changes;
  TimeMs newest = shown.newest;
  for (const auto& [agent, time] : carrier.newest_by_agent) newest = std::max(newest, time);
  json::object counters;
  for (const auto& [name, value] : carrier.counters) counters[name] = value;
  CLAWMARK_TRY(txn.db().run(
      "INSERT INTO source_states(carrier, path, state, reason, message, changes, changed_ms,"
      " newest_ms, counters) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(carrier, path) DO"
      " UPDATE SET state = excluded.state, reason = excluded.reason, message = excluded.message,"
      " changes = excluded.changes, newest_ms = excluded.newest_ms, counters = excluded.counters,"
      " changed_ms = CASE WHEN changes = excluded.changes THEN changed_ms ELSE"
      " excluded.changed_ms END",
      carrier.carrier, carrier.path, state, carrier.health.reason, carrier.health.message,
      shown.changes, now, newest, to_text(counters)));
  const SourceState is = carrier.health.state;
  const bool bad = is != SourceState::kOk && is != SourceState::kBusy &&
                   !(is == SourceState::kAbsent && was_unknown);
  if (changed && bad) {
    NewEvent event;
    event.type = event_type::kSourceFallback;
    event.scope.agent = carrier.open.agent.empty() ? "main" : carrier.open.agent;
    event.occurred = now;
    event.dedupe_key = "fallback:" + carrier.carrier + ":" +
                       to_hex(sha256(carrier.path)).substr(0, 16) + ":" +
                       std::to_string(shown.changes);
    event.payload = {{"carrier", carrier.carrier},
                     {"reason", carrier.health.reason.empty() ? state : carrier.health.reason},
                     {"message", carrier.health.message}};
    CLAWMARK_TRY(store_.log().append(txn, event));
    // Old transcripts fall silent at each upgrade of the host: status says whether it is one.
    log_line(is == SourceState::kStale ? LogLevel::kNotice : LogLevel::kWarning, "ingest",
             "source_fallback " + carrier.carrier + " " + state + ": " + carrier.health.message);
  }
  shown.state = state;
  shown.reason = carrier.health.reason;
  shown.newest = newest;
  carrier.counters_changed = false;
  return Ok{};
}

}  // namespace clawmark
