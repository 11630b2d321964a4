#include "projections/facts_fold.h"

#include <algorithm>

#include "base/limits.h"
#include "base/utf8.h"
#include "projections/facts.h"

namespace clawmark {

// What an extraction or a command says about one key, checked.
struct FactsFold::Candidate {
  FactKey key;
  Observation observation;
  const char* kind = "extracted";
  std::string reason;  // not empty: it does not count
  std::string replaces;
  bool blank = false;
  std::vector<std::pair<std::int64_t, std::string>> evidence;
};

namespace {

constexpr std::size_t kBlockedExcerpt = 200;  // characters of a blocked value in the audit trail
constexpr std::size_t kParkedExcerpt = 300;

FactKey key_of(const Event& event) {
  return {event.scope.agent, get_string(event.payload, "holder"),
          get_string(event.payload, "subject"), get_string(event.payload, "key")};
}

bool is_persons_lane(Lane lane) {
  return lane == Lane::kDirect || lane == Lane::kGroup || lane == Lane::kUnknown;
}

// A person's own words: the only thing that can carry a fact. Not the assistant's echo, no tool's
// output, no text of ours.
bool is_persons_word(const Event& event) {
  return get_string(event.payload, "role") == "user" &&
         get_string(event.payload, "class") == "chat" &&
         get_string(event.payload, "noise").empty() && is_persons_lane(event.scope.lane);
}

std::string error_code(const Error& error) {
  return error.message.substr(0, error.message.find(':'));
}

std::string audit_key(std::string_view key) {
  return std::string(prefix_code_points(to_valid_utf8(key), kFactKeyMax));
}

std::string upper_state(const std::string& state) {
  return state == "deleted" ? "WITHDRAWN" : state == "rewound" ? "REWOUND" : "FORGOTTEN";
}

}  // namespace

Status FactsFold::fold(const Event& event) {
  if (event.redacted) return Ok{};
  const std::string& type = event.type;
  if (type == event_type::kMessageObserved) return message_observed(event);
  if (type == event_type::kMessageSighted) return message_sighted(event);
  if (type == event_type::kFactStated) return stated(event);
  if (type == event_type::kFactForgotten) return forgotten(event);
  if (type == event_type::kFactExpired) return expired(event);
  if (type == event_type::kExtractionCompleted) return extraction(event);
  if (type == event_type::kBatchParked) return parked(event);
  if (type == event_type::kSessionBranch) {
    CLAWMARK_ASSIGN(const auto changed, ledger_.branch(event));
    return restand(event, changed, "branch");
  }
  if (type == event_type::kSessionDeleted) {
    CLAWMARK_ASSIGN(
        const auto changed,
        ledger_.remove_session(event.scope.agent, get_string(event.payload, "session_id")));
    return restand(event, changed, "deletion");
  }
  if (type == event_type::kMessageForgotten || type == event_type::kSessionForgotten ||
      type == event_type::kPersonForgotten) {
    CLAWMARK_ASSIGN(const auto changed, ledger_.forget(event));
    return restand(event, changed, "deletion");
  }
  if (type == event_type::kSourceFallback) {
    const FactKey key{event.scope.agent, "", "",
                      "source." + get_string(event.payload, "carrier", "unknown")};
    return audit(event, key,
                 {"source_fallback", std::nullopt, get_string(event.payload, "message"),
                  "selectSource", event.occurred});
  }
  return Ok{};
}

Status FactsFold::message_observed(const Event& event) {
  if (!is_persons_word(event)) return Ok{};
  CLAWMARK_TRY(
      tables_.run("INSERT OR IGNORE INTO fact_messages__g#(message, entry_id, occurred_ms) "
                  "VALUES(?1, ?2, ?3)",
                  event.seq.value, get_string(event.payload, "entry_id"), event.occurred));
  CLAWMARK_TRY(ledger_.observe(event));
  return ledger_.sight(event.seq, event.scope.agent, get_string(event.payload, "session_id"),
                       get_string(event.payload, "session_key"));
}

Status FactsFold::message_sighted(const Event& event) {
  const Seq message{get_int(event.payload, "message")};
  CLAWMARK_ASSIGN(
      const auto known,
      tables_.query_int("SELECT 1 FROM fact_messages__g# WHERE message = ?1", message.value));
  if (!known) return Ok{};
  CLAWMARK_TRY(ledger_.sight(message, event.scope.agent, get_string(event.payload, "session_id"),
                             get_string(event.payload, "session_key")));
  return restand(event, {message}, "sighting");
}

Status FactsFold::stated(const Event& event) {
  Candidate candidate;
  candidate.key = key_of(event);
  candidate.kind = "stated";
  auto& o = candidate.observation;
  o.kind = ObservationKind::kStated;
  o.value = get_string(event.payload, "value");
  o.confidence = 1;
  o.said = event.occurred;
  const auto refuse = [&](const char* type, std::string why) {
    return audit(event, candidate.key, {type, std::nullopt, std::move(why), "user", o.said});
  };
  if (auto key_ok = check_fact_key(candidate.key.key); !key_ok.ok()) {
    return refuse("reject", error_code(key_ok.error()));
  }
  if (auto value_ok = check_fact_value(o.value); !value_ok.ok()) {
    return refuse("reject", error_code(value_ok.error()));
  }
  if (candidate.key.holder.empty()) return refuse("reject", "HOLDER");
  // The tool is called by a model that may have been talked into it, here and where an import comes
  // from; the command line is the person's own.
  const std::string by = get_string(event.payload, "by");
  if ((by == "tool" || by == "import") && !screen_for_injection(o.value).empty()) {
    candidate.reason = "INJECTION";
  }
  return take_in(event, candidate);
}

Status FactsFold::forgotten(const Event& event) {
  Candidate candidate;
  candidate.key = key_of(event);
  candidate.kind = "forgotten";
  candidate.observation.kind = ObservationKind::kForgotten;
  candidate.observation.said = event.occurred;
  CLAWMARK_TRY(insert_observation(event, candidate));
  const auto& key = candidate.key;
  CLAWMARK_TRY(tables_.run(
      "UPDATE memory_events__g# SET old_value = NULL, new_value = NULL WHERE agent = ?1 AND "
      "holder = ?2 AND subject = ?3 AND memory_key = ?4 AND event_type <> 'reject'",
      key.agent, key.holder, key.subject, key.key));
  CLAWMARK_TRY(recompute(event, key));
  return audit(event, key, {"delete", std::nullopt, std::nullopt, "user", event.occurred});
}

Status FactsFold::expired(const Event& event) {
  Candidate candidate;
  candidate.key = key_of(event);
  candidate.kind = "expired";
  candidate.observation.kind = ObservationKind::kExpired;
  candidate.observation.said = {get_int(event.payload, "last_observed_ms")};
  CLAWMARK_ASSIGN(const auto before, present(candidate.key));
  CLAWMARK_TRY(insert_observation(event, candidate));
  CLAWMARK_TRY(recompute(event, candidate.key));
  CLAWMARK_ASSIGN(const auto after, present(candidate.key));
  if (!before.live || after.live) return Ok{};
  return audit(event, candidate.key,
               {"delete", before.value, std::nullopt, "decay", event.occurred});
}

Status FactsFold::extraction(const Event& event) {
  const auto* facts = find_array(event.payload, "facts");
  if (facts == nullptr) return Ok{};
  std::int64_t ordinal = 0;
  for (const auto& item : *facts) {
    if (item.is_object()) CLAWMARK_TRY(extracted_fact(event, ordinal, item.get_object()));
    ++ordinal;
  }
  return Ok{};
}

Status FactsFold::extracted_fact(const Event& event, std::int64_t ordinal,
                                 const json::object& fact) {
  Candidate candidate;
  candidate.key = {event.scope.agent, get_string(fact, "holder"), get_string(fact, "subject"),
                   get_string(fact, "key")};
  auto& o = candidate.observation;
  o.ordinal = ordinal;
  o.value = get_string(fact, "value");
  o.confidence = std::clamp(get_double(fact, "confidence"), 0.0, 1.0);
  o.said = {get_int(fact, "observed_ms", event.occurred.value)};
  if (const auto due = get_int(fact, "due_ms"); due > 0) o.due = TimeMs{due};
  candidate.replaces = fold_case(trim(get_string(fact, "replaces")));
  if (const auto* evidence = find_array(fact, "evidence"); evidence && get_bool(fact, "verified")) {
    for (const auto& item : *evidence) {
      if (!item.is_object()) continue;
      const std::int64_t message = get_int(item.get_object(), "message");
      CLAWMARK_ASSIGN(const auto occurred,
                      tables_.query_int("SELECT occurred_ms FROM fact_messages__g# WHERE "
                                        "message = ?1",
                                        message));
      if (!occurred) continue;
      // Said when its newest evidence was, whatever the model or the clock say.
      o.said = {candidate.evidence.empty() ? *occurred : std::max(o.said.value, *occurred)};
      candidate.evidence.emplace_back(message, get_string(item.get_object(), "quote"));
    }
  }
  const auto refuse = [&](std::string code) {
    candidate.reason = std::move(code);
    candidate.blank = true;
    candidate.replaces.clear();
    o.value.clear();
    for (auto& [message, quote] : candidate.evidence) quote.clear();
    candidate.key.key = audit_key(candidate.key.key);
    return take_in(event, candidate);
  };
  if (auto key_ok = check_fact_key(candidate.key.key); !key_ok.ok()) {
    return refuse(error_code(key_ok.error()));
  }
  if (auto value_ok = check_fact_value(o.value); !value_ok.ok()) {
    return refuse(error_code(value_ok.error()));
  }
  if (candidate.key.holder.empty()) return refuse("HOLDER");
  if (candidate.evidence.empty()) return refuse("EVIDENCE");
  if (!(o.confidence >= options_.confidence_threshold)) {
    candidate.reason = "CONFIDENCE";
  } else if (!screen_for_injection(o.value).empty()) {
    candidate.reason = "INJECTION";
  }
  return take_in(event, candidate);
}

Status FactsFold::take_in(const Event& event, const Candidate& candidate) {
  const auto& key = candidate.key;
  const std::string source =
      candidate.observation.kind == ObservationKind::kStated ? "user" : "extracted";
  CLAWMARK_ASSIGN(const auto before, present(key));
  CLAWMARK_TRY(insert_observation(event, candidate));
  CLAWMARK_TRY(recompute(event, key));
  CLAWMARK_ASSIGN(const auto state, state_of(event.seq, candidate.observation.ordinal));
  const TimeMs at = candidate.observation.said;
  if (state == "deleted" || state == "rewound" || state == "forgotten") {
    return audit(event, key, {"reject", std::nullopt, upper_state(state), source, at});
  }
  if (candidate.reason == "INJECTION") {
    return audit(event, key,
                 {"injection_blocked", std::nullopt,
                  std::string(prefix_code_points(candidate.observation.value, kBlockedExcerpt)),
                  source, at});
  }
  if (!candidate.reason.empty()) {
    return audit(event, key, {"reject", std::nullopt, candidate.reason, source, at});
  }
  return audit_change(event, key, before, candidate.observation, source);
}

// What an observation did, by its effect on the key: also when it was said long before the present
// value.
Status FactsFold::audit_change(const Event& event, const FactKey& key, const Present& before,
                               const Observation& by, const std::string& source) {
  CLAWMARK_ASSIGN(const auto after, present(key));
  Audit row{"conflict_skip", std::nullopt, by.value, source, by.said};
  if (!before.live && after.live) {
    row.type = "create";
    row.new_value = after.value;
  } else if (before.live && after.live && !same_fact_value(before.value, after.value)) {
    row.type = "update";
    row.old_value = before.value;
    row.new_value = after.value;
  } else if (after.live && before.source != after.source) {
    row.type = "update";
    row.old_value = before.value;
  } else if (after.live && same_fact_value(after.value, by.value)) {
    row.type = "reinforce";
    row.old_value = after.value;
    row.new_value.reset();
  } else if (after.live) {
    row.old_value = after.value;
  }
  return audit(event, key, row);
}

Status FactsFold::parked(const Event& event) {
  if (get_string(event.payload, "worker") != "extract") return Ok{};
  const FactKey key{event.scope.agent, "", "",
                    "extractor." + get_string(event.payload, "reason", "parse_error")};
  std::string detail = get_string(event.payload, "detail");
  detail = std::string(prefix_code_points(detail, kParkedExcerpt));
  return audit(event, key,
               {"extract_error", std::nullopt, std::move(detail), "extractor", event.occurred});
}

Status FactsFold::restand(const Event& event, const std::vector<Seq>& messages, const char* cause) {
  std::vector<FactKey> keys;
  for (const Seq message : messages) {
    CLAWMARK_TRY(tables_.each(
        "SELECT DISTINCT o.agent, o.holder, o.subject, o.key FROM fact_evidence__g# e JOIN "
        "fact_observations__g# o ON o.seq = e.seq AND o.ordinal = e.ordinal WHERE e.message = ?1",
        [&](Statement& row) {
          FactKey key{row.string(0), row.string(1), row.string(2), row.string(3)};
          if (std::find(keys.begin(), keys.end(), key) == keys.end())
            keys.push_back(std::move(key));
        },
        message.value));
  }
  for (const auto& key : keys) {
    CLAWMARK_ASSIGN(const auto before, present(key));
    CLAWMARK_TRY(recompute(event, key));
    CLAWMARK_ASSIGN(const auto after, present(key));
    if (before.live == after.live && before.value == after.value) continue;
    const bool texts = std::string_view(cause) != "deletion";
    Audit row{"update", std::nullopt, std::nullopt, cause, event.occurred};
    if (before.live && texts) row.old_value = before.value;
    if (after.live) row.new_value = after.value;
    if (!before.live) row.type = "create";
    if (!after.live) row.type = "delete";
    CLAWMARK_TRY(audit(event, key, row));
  }
  return Ok{};
}

Status FactsFold::audit(const Event& event, const FactKey& key, const Audit& row) {
  return tables_.run(
      "INSERT INTO memory_events__g#(seq, event_type, agent, holder, subject, memory_key, "
      "old_value, new_value, source, at_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
      event.seq.value, row.type, key.agent, key.holder, key.subject, audit_key(key.key),
      row.old_value, row.new_value, row.source, row.at);
}

Status FactsFold::insert_observation(const Event& event, const Candidate& candidate) {
  const auto& o = candidate.observation;
  const auto& key = candidate.key;
  CLAWMARK_TRY(tables_.run(
      "INSERT INTO fact_observations__g#(seq, ordinal, agent, holder, subject, key, value, kind, "
      "confidence, said_ms, recorded_ms, due_ms, reason, state, blank, replaces) VALUES(?1, ?2, "
      "?3, "
      "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 'new', ?14, ?15)",
      event.seq.value, o.ordinal, key.agent, key.holder, key.subject, key.key, o.value,
      candidate.kind, o.confidence, o.said, event.recorded, o.due, candidate.reason,
      candidate.blank, candidate.replaces));
  for (const auto& [message, quote] : candidate.evidence) {
    CLAWMARK_TRY(
        tables_.run("INSERT OR IGNORE INTO fact_evidence__g#(seq, ordinal, message, quote) "
                    "VALUES(?1, ?2, ?3, ?4)",
                    event.seq.value, o.ordinal, message, quote));
  }
  return Ok{};
}

Result<bool> FactsFold::touched_by(Seq event) {
  CLAWMARK_ASSIGN(
      const auto found,
      tables_.query_int("SELECT 1 WHERE EXISTS(SELECT 1 FROM fact_observations__g# WHERE seq = ?1) "
                        "OR EXISTS(SELECT 1 FROM memory_events__g# WHERE seq = ?1) "
                        "OR EXISTS(SELECT 1 FROM fact_messages__g# WHERE message = ?1)",
                        event.value));
  return found.has_value();
}

}  // namespace clawmark
