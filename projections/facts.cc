#include "projections/facts.h"

#include <array>

#include "base/json.h"
#include "log/event_log.h"
#include "projections/digest.h"
#include "projections/fact_machine.h"
#include "projections/facts_fold.h"
#include "projections/facts_tables.h"
#include "projections/refold.h"
#include "projections/text_list.h"

namespace clawmark {
namespace {

constexpr std::array<std::string_view, 14> kTypes = {
    event_type::kMessageObserved,  event_type::kMessageSighted, event_type::kSessionBranch,
    event_type::kSessionDeleted,   event_type::kSourceFallback, event_type::kFactStated,
    event_type::kFactForgotten,    event_type::kFactExpired,    event_type::kExtractionCompleted,
    event_type::kBatchParked,      event_type::kEventRedacted,  event_type::kMessageForgotten,
    event_type::kSessionForgotten, event_type::kPersonForgotten};

class FactsProjection final : public Projection {
 public:
  explicit FactsProjection(const FoldOptions& options) : options_(options) {}

  std::string_view name() const override { return "facts"; }
  int fold_version() const override { return 4; }
  std::string ddl(int generation) const override {
    return generation_sql(kFactsDdl, kFactsPrefix, generation) +
           generation_sql(StandingLedger::ddl(), kFactsPrefix, generation);
  }
  std::string views(int generation) const override {
    return generation_sql(kFactsViews, kFactsPrefix, generation);
  }
  std::string drop(int generation) const override {
    return generation_sql(kFactsDrop, kFactsPrefix, generation) +
           generation_sql(StandingLedger::drop(), kFactsPrefix, generation);
  }
  std::span<const std::string_view> types() const override { return kTypes; }

  Status apply(Transaction& txn, int generation, std::span<const Event> events) override {
    FactsFold fold(txn.db(), generation, options_);
    return apply_or_refold(*this, txn, generation, events, fold);
  }

  Result<Hash256> digest(Database& db, int generation) const override {
    Sha256 hash;
    const auto feed = [&](std::string_view sql, int columns) {
      return hash_rows(db, generation_sql(sql, kFactsPrefix, generation), columns, hash);
    };
    // Messages by entry id and no log positions: the same history in another log gives the same
    // digest.
    CLAWMARK_TRY(feed(
        "SELECT agent, holder, subject, key, value, confidence, source, created_ms, updated_ms, "
        "last_observed_ms, due_ms, observations, origin, is_deleted, (SELECT entry_id FROM "
        "fact_messages__g# m WHERE m.message = f.message) FROM facts__g# f "
        "ORDER BY agent, holder, subject, key",
        15));
    CLAWMARK_TRY(feed(
        "SELECT agent, holder, subject, key, ordinal, value, source, valid_from_ms, valid_to_ms, "
        "quote, (SELECT entry_id FROM fact_messages__g# m WHERE m.message = h.message) "
        "FROM fact_history__g# h ORDER BY agent, holder, subject, key, ordinal",
        11));
    CLAWMARK_TRY(feed(
        "SELECT o.agent, o.holder, o.subject, o.key, o.value, o.kind, o.confidence, o.said_ms, "
        "o.due_ms, o.reason, o.state, o.blank, m.entry_id, e.quote, o.replaces FROM "
        "fact_observations__g# o "
        "LEFT JOIN fact_evidence__g# e ON e.seq = o.seq AND e.ordinal = o.ordinal "
        "LEFT JOIN fact_messages__g# m ON m.message = e.message "
        "ORDER BY 1, 2, 3, 4, 8, 6, 5, 7, 9, 10, 11, 12, 13, 14, 15",
        15));
    CLAWMARK_TRY(
        feed("SELECT agent, holder, subject, memory_key, at_ms, event_type, old_value, new_value, "
             "source "
             "FROM memory_events__g# ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9",
             9));
    return hash.finish();
  }

 private:
  FoldOptions options_;
};

Fact read_row(Statement& row, TimeMs as_of) {
  Fact fact;
  fact.agent = row.string(0);
  fact.holder = row.string(1);
  fact.subject = row.string(2);
  fact.key = row.string(3);
  fact.value = row.string(4);
  fact.confidence = row.real(5);
  fact.source = row.string(6);
  fact.created = row.time(7);
  fact.updated = row.time(8);
  fact.last_observed = row.time(9);
  if (!row.is_null(10)) fact.due = row.time(10);
  fact.observations = row.integer(11);
  fact.message = row.integer(12);
  fact.effective_confidence = effective_confidence(fact, as_of);
  return fact;
}

constexpr char kSelect[] =
    "SELECT agent, holder, subject, key, value, confidence, source, created_ms, updated_ms, "
    "last_observed_ms, due_ms, observations, message FROM facts WHERE is_deleted = 0 AND agent = "
    "?1 ";

template <class... Args>
Result<std::vector<Fact>> read_all(Database& db, const std::string& sql, TimeMs as_of,
                                   const Args&... args) {
  CLAWMARK_ASSIGN(Statement * statement, db.cached(sql));
  statement->with(args...);
  std::vector<Fact> facts;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement->step());
    if (!row) break;
    facts.push_back(read_row(*statement, as_of));
  }
  statement->reset();
  return facts;
}

}  // namespace

std::unique_ptr<Projection> make_facts_projection(const FoldOptions& options) {
  return std::make_unique<FactsProjection>(options);
}

Result<std::vector<Fact>> read_facts(Database& db, std::string_view agent,
                                     const std::vector<std::string>& holders, TimeMs as_of) {
  return read_all(db,
                  std::string(kSelect) +
                      "AND holder IN (SELECT value FROM json_each(?2)) "
                      "ORDER BY source = 'user' DESC, key, holder, subject",
                  as_of, agent, text_list(holders));
}

Result<std::optional<Fact>> find_fact(Database& db, std::string_view agent, std::string_view holder,
                                      std::string_view subject, std::string_view key,
                                      TimeMs as_of) {
  CLAWMARK_ASSIGN(
      auto facts,
      read_all(db, std::string(kSelect) + "AND holder = ?2 AND subject = ?3 AND key = ?4", as_of,
               agent, holder, subject, key));
  if (facts.empty()) return std::optional<Fact>{};
  return std::optional<Fact>(std::move(facts.front()));
}

Result<std::vector<Fact>> stale_facts(Database& db, std::string_view agent,
                                      const std::vector<std::string>& holders, int days,
                                      TimeMs as_of) {
  const std::int64_t before = as_of.value - static_cast<std::int64_t>(days) * kDayMs;
  return read_all(db,
                  std::string(kSelect) +
                      "AND source = 'extracted' AND last_observed_ms < ?3 AND "
                      "holder IN (SELECT value FROM json_each(?2)) "
                      "ORDER BY last_observed_ms, key, holder, subject",
                  as_of, agent, text_list(holders), before);
}

namespace {

// What a message says of a key, and what is known of that key now.
struct Testimony {
  std::int64_t message = 0, said_ms = 0, updated_ms = 0;
  std::string agent, holder, value, live;
};

Result<bool> is_given_up(Database& db, const Testimony& said) {
  CLAWMARK_ASSIGN(Statement * query,
                  db.cached("SELECT replaces FROM fact_replacements WHERE agent = ?1 AND holder = "
                            "?2 AND said_ms > ?3"));
  query->with(said.agent, said.holder, said.said_ms);
  bool found = false;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    found = found || same_fact_value(query->text(0), said.value);
  }
  query->reset();
  return found;
}

}  // namespace

Result<std::vector<Seq>> outdated_evidence(Database& db, const std::vector<Seq>& messages) {
  json::array list;
  for (const Seq message : messages) list.emplace_back(message.value);
  CLAWMARK_ASSIGN(
      Statement * query,
      db.cached("SELECT o.message, o.said_ms, o.agent, o.holder, o.value, coalesce(f.value, ''), "
                "coalesce(f.updated_ms, 0) FROM fact_observations o LEFT JOIN facts f ON f.agent = "
                "o.agent AND f.holder = o.holder AND f.subject = o.subject AND f.key = o.key AND "
                "f.is_deleted = 0 WHERE o.message IN (SELECT value FROM json_each(?1)) AND "
                "o.kind = 'extracted' AND o.state = 'active' AND o.reason = '' ORDER BY 1"));
  query->with(to_text(json::value(std::move(list))));
  std::vector<Testimony> said;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    said.push_back({query->integer(0), query->integer(1), query->integer(6), query->string(2),
                    query->string(3), query->string(4), query->string(5)});
  }
  query->reset();
  std::vector<Seq> out;
  for (std::size_t i = 0; i < said.size();) {
    const std::int64_t message = said[i].message;
    bool outdated = true;
    for (; i < said.size() && said[i].message == message; ++i) {
      const Testimony& one = said[i];
      if (!outdated) continue;
      const bool changed = !one.live.empty() && one.updated_ms > one.said_ms &&
                           !same_fact_value(one.live, one.value);
      if (changed) continue;
      if (!one.live.empty()) {
        outdated = false;
        continue;
      }
      CLAWMARK_ASSIGN(outdated, is_given_up(db, one));
    }
    if (outdated) out.push_back({message});
  }
  return out;
}

}  // namespace clawmark
