// The state of one key: its observations are loaded, settled against where their evidence stands
// now, folded in the order in which they were said, and written back.

#include <algorithm>
#include <map>

#include "base/utf8.h"
#include "log/event_log.h"
#include "projections/facts_fold.h"

namespace clawmark {
namespace {

// Evidence that counts now; the observation was said when the newest of it was.
void weigh(KeptObservation& row) {
  auto& o = row.observation;
  Standing best = Standing::kUnknown;
  for (const auto& e : row.evidence) {
    if (e.standing != Standing::kUnknown && (best == Standing::kUnknown || e.standing < best)) {
      best = e.standing;
    }
  }
  bool dated = false;
  for (const auto& e : row.evidence) {
    if (e.standing != best) continue;
    if (!dated || e.occurred > o.said) o.said = e.occurred;
    dated = true;
    if (e.standing != Standing::kActive) continue;
    o.messages.push_back(e.message);
    o.message = e.message;
    o.quote = e.quote;
  }
  row.settled = to_string(best);
}

}  // namespace

Result<FactsFold::Present> FactsFold::present(const FactKey& key) {
  Present out;
  CLAWMARK_TRY(tables_.each(
      "SELECT is_deleted, value, source FROM facts__g# WHERE agent = ?1 AND holder = ?2 AND "
      "subject = ?3 AND key = ?4",
      [&](Statement& row) {
        out.live = row.integer(0) == 0;
        if (out.live) out.value = row.string(1);
        out.source = row.string(2);
      },
      key.agent, key.holder, key.subject, key.key));
  return out;
}

Result<std::vector<KeptObservation>> FactsFold::load(const FactKey& key) {
  std::vector<KeptObservation> rows;
  CLAWMARK_TRY(tables_.each(
      "SELECT seq, ordinal, value, kind, confidence, said_ms, recorded_ms, due_ms, reason, state, "
      "blank, replaces FROM fact_observations__g# WHERE agent = ?1 AND holder = ?2 AND subject = "
      "?3 AND "
      "key = ?4 ORDER BY seq, ordinal",
      [&](Statement& row) {
        KeptObservation kept;
        auto& o = kept.observation;
        o.seq = row.integer(0);
        o.ordinal = row.integer(1);
        o.value = row.string(2);
        kept.kind = row.string(3);
        o.kind = observation_kind(kept.kind);
        o.confidence = row.real(4);
        o.said = row.time(5);
        o.recorded = row.time(6);
        if (!row.is_null(7)) o.due = row.time(7);
        kept.reason = row.string(8);
        kept.state = row.string(9);
        kept.blank = row.integer(10) != 0;
        kept.replaces = row.string(11);
        rows.push_back(std::move(kept));
      },
      key.agent, key.holder, key.subject, key.key));
  for (auto& row : rows) {
    if (row.observation.kind == ObservationKind::kExtracted) CLAWMARK_TRY(load_evidence(row));
  }
  return rows;
}

Status FactsFold::load_evidence(KeptObservation& row) {
  CLAWMARK_TRY(tables_.each(
      "SELECT e.message, e.quote, m.occurred_ms FROM fact_evidence__g# e JOIN fact_messages__g# m "
      "ON m.message = e.message WHERE e.seq = ?1 AND e.ordinal = ?2 "
      "ORDER BY m.occurred_ms, e.message",
      [&](Statement& statement) {
        row.evidence.push_back({statement.integer(0), statement.string(1), statement.time(2), {}});
      },
      row.observation.seq, row.observation.ordinal));
  for (auto& evidence : row.evidence) {
    CLAWMARK_ASSIGN(evidence.standing, ledger_.standing({evidence.message}));
  }
  return Ok{};
}

// Forgotten beats deleted beats rejected beats rewound.
void FactsFold::settle(std::vector<KeptObservation>& rows) {
  std::vector<Observation> order;
  for (auto& row : rows) {
    const bool extracted = row.observation.kind == ObservationKind::kExtracted;
    row.settled = "active";
    if (extracted) weigh(row);
    if (!row.reason.empty() && row.settled != "deleted") row.settled = "rejected";
    Observation place = row.observation;
    // What was refused cannot lift a tombstone.
    if (!row.reason.empty()) place.kind = ObservationKind::kExtracted;
    order.push_back(std::move(place));
  }
  sort_observations(order);
  const auto gone = buried(order);
  std::map<std::pair<std::int64_t, std::int64_t>, bool> by_id;
  for (std::size_t i = 0; i < order.size(); ++i) {
    by_id[{order[i].seq, order[i].ordinal}] = gone[i];
  }
  for (auto& row : rows) {
    const bool text = row.kind == "stated" || row.kind == "extracted";
    if (text && by_id[{row.observation.seq, row.observation.ordinal}]) row.settled = "forgotten";
  }
}

// Takes the text again from the log, when evidence that was gone stands again.
Status FactsFold::hydrate(KeptObservation& row) {
  CLAWMARK_ASSIGN(const auto event, EventLog::get(tables_.db(), {row.observation.seq}));
  if (!event || event->redacted) {
    row.settled = "deleted";
    return Ok{};
  }
  if (row.kind == "stated") {
    row.observation.value = get_string(event->payload, "value");
    return Ok{};
  }
  const auto* facts = find_array(event->payload, "facts");
  const auto ordinal = static_cast<std::size_t>(row.observation.ordinal);
  if (facts == nullptr || ordinal >= facts->size() || !(*facts)[ordinal].is_object()) {
    row.settled = "deleted";
    return Ok{};
  }
  const auto& fact = (*facts)[ordinal].get_object();
  row.observation.value = get_string(fact, "value");
  row.replaces = fold_case(trim(get_string(fact, "replaces")));
  const auto* evidence = find_array(fact, "evidence");
  for (auto& kept : row.evidence) {
    if (evidence == nullptr) break;
    for (const auto& item : *evidence) {
      if (item.is_object() && get_int(item.get_object(), "message") == kept.message) {
        kept.quote = get_string(item.get_object(), "quote");
      }
    }
    if (kept.message == row.observation.message) row.observation.quote = kept.quote;
  }
  return Ok{};
}

Status FactsFold::recompute(const Event& event, const FactKey& key) {
  CLAWMARK_ASSIGN(const auto rows, compute(key));
  for (const auto& row : rows) {
    if (row.replaces.empty() || row.settled == row.state) continue;
    CLAWMARK_ASSIGN(const auto others, keys_holding(key, row.replaces));
    for (const FactKey& other : others) {
      CLAWMARK_ASSIGN(const auto before, present(other));
      CLAWMARK_ASSIGN(const auto computed, compute(other));
      CLAWMARK_ASSIGN(const auto after, present(other));
      if (computed.empty() || before.live == after.live) continue;
      Audit note{after.live ? "create" : "delete", std::nullopt, std::nullopt, "replaced",
                 row.observation.said};
      if (before.live) note.old_value = before.value;
      if (after.live) note.new_value = after.value;
      CLAWMARK_TRY(audit(event, other, note));
    }
  }
  return Ok{};
}

// The rows as they were kept before, with what they are settled as now.
Result<std::vector<KeptObservation>> FactsFold::compute(const FactKey& key) {
  CLAWMARK_ASSIGN(auto rows, load(key));
  settle(rows);
  std::vector<Observation> counting;
  for (auto& row : rows) {
    const bool text = row.kind == "stated" || row.kind == "extracted";
    if (row.settled == "active" && row.blank && text) CLAWMARK_TRY(hydrate(row));
    if (row.settled == "active") counting.push_back(row.observation);
  }
  CLAWMARK_TRY(load_replacing(key, counting));
  sort_observations(counting);
  CLAWMARK_TRY(write_state(key, fold_key(counting)));
  CLAWMARK_TRY(write_rows(key, rows));
  return rows;
}

Status FactsFold::load_replacing(const FactKey& key, std::vector<Observation>& out) {
  if (out.empty()) return Ok{};
  return tables_.each(
      "SELECT seq, ordinal, replaces, said_ms FROM fact_observations__g# WHERE agent = ?1 AND "
      "holder = ?2 AND replaces <> '' AND state = 'active' AND key <> ?3",
      [&](Statement& row) {
        Observation o;
        o.seq = row.integer(0);
        o.ordinal = row.integer(1);
        o.kind = ObservationKind::kReplaced;
        o.value = row.string(2);
        o.said = row.time(3);
        out.push_back(std::move(o));
      },
      key.agent, key.holder, key.key);
}

Result<std::vector<FactKey>> FactsFold::keys_holding(const FactKey& other, std::string_view value) {
  std::vector<FactKey> keys;
  CLAWMARK_TRY(tables_.each(
      "SELECT DISTINCT subject, key, value FROM fact_observations__g# WHERE agent = ?1 AND "
      "holder = ?2 AND key <> ?3 AND kind = 'extracted' ORDER BY subject, key",
      [&](Statement& row) {
        FactKey key{other.agent, other.holder, row.string(0), row.string(1)};
        if (!same_fact_value(row.text(2), value)) return;
        if (keys.empty() || keys.back() != key) keys.push_back(std::move(key));
      },
      other.agent, other.holder, other.key));
  return keys;
}

Status FactsFold::write_state(const FactKey& key, const KeyState& state) {
  CLAWMARK_TRY(
      tables_.run("DELETE FROM fact_history__g# WHERE agent = ?1 AND holder = ?2 AND "
                  "subject = ?3 AND key = ?4",
                  key.agent, key.holder, key.subject, key.key));
  if (state.life == KeyState::Life::kNone) {
    return tables_.run(
        "DELETE FROM facts__g# WHERE agent = ?1 AND holder = ?2 AND subject = ?3 "
        "AND key = ?4",
        key.agent, key.holder, key.subject, key.key);
  }
  CLAWMARK_TRY(tables_.run(
      "INSERT OR REPLACE INTO facts__g#(agent, holder, subject, key, value, confidence, source, "
      "created_ms, updated_ms, last_observed_ms, due_ms, observations, message, origin, "
      "is_deleted) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
      key.agent, key.holder, key.subject, key.key, state.value, state.confidence, state.source,
      state.created, state.updated, state.last_observed, state.due, state.observations,
      state.message, state.source == "user" ? "command" : "person",
      state.life != KeyState::Life::kLive));
  std::int64_t ordinal = 0;
  for (const auto& validity : state.history) {
    CLAWMARK_TRY(tables_.run(
        "INSERT INTO fact_history__g#(agent, holder, subject, key, ordinal, value, source, "
        "valid_from_ms, valid_to_ms, message, quote) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
        "?10, ?11)",
        key.agent, key.holder, key.subject, key.key, ordinal++, validity.value, validity.source,
        validity.from, validity.to, validity.message, validity.quote));
  }
  return Ok{};
}

Status FactsFold::write_rows(const FactKey& key, std::vector<KeptObservation>& rows) {
  std::vector<std::string> withdrawn;
  for (auto& row : rows) {
    const bool blank = row.settled == "deleted" || row.settled == "forgotten" ||
                       (row.blank && row.settled != "active");
    if (blank && !row.blank) withdrawn.push_back(std::exchange(row.observation.value, {}));
    if (blank == row.blank && row.settled == row.state) continue;
    CLAWMARK_TRY(tables_.run(
        "UPDATE fact_observations__g# SET value = ?3, state = ?4, blank = ?5, replaces = ?6 WHERE "
        "seq = ?1 AND ordinal = ?2",
        row.observation.seq, row.observation.ordinal, row.observation.value, row.settled, blank,
        blank ? std::string() : row.replaces));
    if (blank == row.blank) continue;
    row.blank = blank;
    for (const auto& evidence : row.evidence) {
      CLAWMARK_TRY(
          tables_.run("UPDATE fact_evidence__g# SET quote = ?4 WHERE seq = ?1 AND "
                      "ordinal = ?2 AND message = ?3",
                      row.observation.seq, row.observation.ordinal, evidence.message,
                      blank ? std::string() : evidence.quote));
    }
  }
  for (const auto& value : withdrawn) CLAWMARK_TRY(withdraw_text(key, rows, value));
  return Ok{};
}

// A text that nothing stands for any more leaves the audit trail too; its rows stay.
Status FactsFold::withdraw_text(const FactKey& key, const std::vector<KeptObservation>& rows,
                                const std::string& value) {
  const bool held = std::any_of(rows.begin(), rows.end(), [&](const KeptObservation& row) {
    return !row.blank && row.observation.value == value;
  });
  if (held) return Ok{};
  CLAWMARK_TRY(tables_.run(
      "UPDATE memory_events__g# SET old_value = NULL WHERE agent = ?1 AND holder = ?2 AND subject "
      "= ?3 AND memory_key = ?4 AND old_value = ?5",
      key.agent, key.holder, key.subject, key.key, value));
  return tables_.run(
      "UPDATE memory_events__g# SET new_value = NULL WHERE agent = ?1 AND holder = ?2 AND subject "
      "= ?3 AND memory_key = ?4 AND event_type <> 'reject' AND (new_value = ?5 OR (event_type = "
      "'injection_blocked' AND new_value = substr(?5, 1, 200)))",
      key.agent, key.holder, key.subject, key.key, value);
}

Result<std::string> FactsFold::state_of(Seq event, std::int64_t ordinal) {
  std::string state;
  CLAWMARK_TRY(tables_.each(
      "SELECT state FROM fact_observations__g# WHERE seq = ?1 AND ordinal = ?2",
      [&](Statement& row) { state = row.string(0); }, event.value, ordinal));
  return state;
}

}  // namespace clawmark
