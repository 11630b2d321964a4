#pragma once
// One batch of the facts fold. Inside projections/ only.

#include <cstdint>
#include <string>
#include <vector>

#include "log/event.h"
#include "projections/fact_machine.h"
#include "projections/projection.h"
#include "projections/standing.h"
#include "projections/tables.h"

namespace clawmark {

struct FactKey {
  std::string agent, holder, subject, key;
  bool operator==(const FactKey&) const = default;
};

// An observation as it is kept, with all its evidence.
struct KeptObservation {
  struct Evidence {
    std::int64_t message = 0;
    std::string quote;
    TimeMs occurred;
    Standing standing = Standing::kUnknown;
  };
  Observation observation;
  std::vector<Evidence> evidence;
  std::string kind, reason, state, replaces;
  bool blank = false;
  // After settle(): what it is now.
  std::string settled;  // active, rewound, deleted, forgotten, rejected
};

class FactsFold {
 public:
  FactsFold(Database& db, int generation, const FoldOptions& options)
      : tables_(db, "fact", generation), ledger_(tables_, true), options_(options) {}

  Status fold(const Event& event);
  // Whether anything here comes from this event.
  Result<bool> touched_by(Seq event);

 private:
  struct Present {
    bool live = false;
    std::string value, source;
  };
  struct Candidate;  // a fact of an extraction on its way in

  Status message_observed(const Event& event);
  Status message_sighted(const Event& event);
  Status stated(const Event& event);
  Status forgotten(const Event& event);
  Status expired(const Event& event);
  Status extraction(const Event& event);
  Status extracted_fact(const Event& event, std::int64_t ordinal, const json::object& fact);
  Status take_in(const Event& event, const Candidate& candidate);
  Status parked(const Event& event);
  // Keys with evidence in these messages are computed again; what changes is in the audit trail.
  Status restand(const Event& event, const std::vector<Seq>& messages, const char* cause);

  Result<Present> present(const FactKey& key);
  Result<std::vector<KeptObservation>> load(const FactKey& key);
  Status load_evidence(KeptObservation& row);
  void settle(std::vector<KeptObservation>& rows);
  Status hydrate(KeptObservation& row);
  // The key, and those whose value was given up for one of its own.
  Status recompute(const Event& event, const FactKey& key);
  Result<std::vector<KeptObservation>> compute(const FactKey& key);
  Status load_replacing(const FactKey& key, std::vector<Observation>& out);
  Result<std::vector<FactKey>> keys_holding(const FactKey& other, std::string_view value);
  Status write_state(const FactKey& key, const KeyState& state);
  Status write_rows(const FactKey& key, std::vector<KeptObservation>& rows);
  Status withdraw_text(const FactKey& key, const std::vector<KeptObservation>& rows,
                       const std::string& value);
  Result<std::string> state_of(Seq event, std::int64_t ordinal);
  Status insert_observation(const Event& event, const Candidate& candidate);

  struct Audit {
    const char* type = "";
    std::optional<std::string> old_value, new_value;
    std::string source;
    TimeMs at;
  };
  Status audit(const Event& event, const FactKey& key, const Audit& row);
  Status audit_change(const Event& event, const FactKey& key, const Present& before,
                      const Observation& by, const std::string& source);

  Tables tables_;
  StandingLedger ledger_;
  FoldOptions options_;
};

}  // namespace clawmark
