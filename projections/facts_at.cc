#include "projections/facts_at.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "projections/fact_machine.h"
#include "projections/facts_tables.h"
#include "projections/rebuild.h"
#include "projections/tables.h"

namespace clawmark {
namespace {

using Key = std::pair<std::string, std::string>;  // subject, key

struct Said {
  Key key;
  Observation observation;
  std::string replaces;
  bool evident = true;  // an extracted one: some of its evidence had been said
};

// All observations of one holder that count now and had been made by then.
Result<std::vector<Said>> said_by(Tables& tables, std::string_view agent, std::string_view holder,
                                  const AsOf& at) {
  std::vector<Said> out;
  CLAWMARK_TRY(tables.each(
      "SELECT seq, ordinal, subject, key, value, kind, confidence, said_ms, recorded_ms, due_ms, "
      "replaces FROM fact_observations__g# WHERE agent = ?1 AND holder = ?2 AND state = 'active' "
      "AND seq <= ?3 ORDER BY seq, ordinal",
      [&](Statement& row) {
        Said said;
        Observation& o = said.observation;
        o.seq = row.integer(0);
        o.ordinal = row.integer(1);
        said.key = {row.string(2), row.string(3)};
        o.value = row.string(4);
        o.kind = observation_kind(row.text(5));
        o.confidence = row.real(6);
        o.said = row.time(7);
        o.recorded = row.time(8);
        if (!row.is_null(9)) o.due = row.time(9);
        said.replaces = row.string(10);
        said.evident = o.kind != ObservationKind::kExtracted;
        out.push_back(std::move(said));
      },
      agent, holder, at.last_seq()));
  for (Said& said : out) {
    Observation& o = said.observation;
    if (said.evident) continue;
    CLAWMARK_TRY(tables.each(
        "SELECT e.message, e.quote, m.occurred_ms FROM fact_evidence__g# e JOIN fact_messages__g# "
        "m "
        "ON m.message = e.message WHERE e.seq = ?1 AND e.ordinal = ?2 AND m.occurred_ms <= ?3 AND "
        "e.message <= ?4 ORDER BY m.occurred_ms, e.message",
        [&](Statement& row) {
          o.messages.push_back(row.integer(0));
          o.message = row.integer(0);
          o.quote = row.string(1);
          o.said = said.evident ? std::max(o.said, row.time(2)) : row.time(2);
          said.evident = true;
        },
        o.seq, o.ordinal, at.last_said(), at.last_seq()));
  }
  std::erase_if(out, [&](const Said& said) {
    return !said.evident || said.observation.said > at.last_said();
  });
  return out;
}

// What other keys were said to be in place of.
void add_replaced(const std::vector<Said>& all, const Key& key, std::vector<Observation>& into) {
  for (const Said& said : all) {
    if (said.replaces.empty() || said.key.second == key.second) continue;
    Observation o;
    o.seq = said.observation.seq;
    o.ordinal = said.observation.ordinal;
    o.kind = ObservationKind::kReplaced;
    o.value = said.replaces;
    o.said = said.observation.said;
    into.push_back(std::move(o));
  }
}

}  // namespace

Result<std::vector<Fact>> facts_at(Database& db, std::string_view agent,
                                   const std::vector<std::string>& holders, const AsOf& at) {
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "facts"));
  Tables tables(db, kFactsPrefix, generation);
  std::vector<Fact> facts;
  for (const auto& holder : holders) {
    CLAWMARK_ASSIGN(const auto all, said_by(tables, agent, holder, at));
    std::map<Key, std::vector<Observation>> by_key;
    for (const Said& said : all) by_key[said.key].push_back(said.observation);
    for (auto& [key, observations] : by_key) {
      add_replaced(all, key, observations);
      sort_observations(observations);
      const KeyState state = fold_key(observations);
      if (state.life != KeyState::Life::kLive) continue;
      Fact fact{std::string(agent), holder,        key.first,           key.second,
                state.value,        state.source,  state.confidence,    0,
                state.created,      state.updated, state.last_observed, state.due,
                state.observations, state.message};
      fact.effective_confidence = effective_confidence(fact, at.time);
      facts.push_back(std::move(fact));
    }
  }
  std::sort(facts.begin(), facts.end(), [](const Fact& a, const Fact& b) {
    const bool stated_a = a.source == "user", stated_b = b.source == "user";
    if (stated_a != stated_b) return stated_a;
    return std::tie(a.key, a.holder, a.subject) < std::tie(b.key, b.holder, b.subject);
  });
  return facts;
}

}  // namespace clawmark
