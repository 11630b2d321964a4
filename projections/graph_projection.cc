#include <array>

#include "log/event_log.h"
#include "projections/digest.h"
#include "projections/graph_fold.h"
#include "projections/graph_projection.h"
#include "projections/graph_tables.h"
#include "projections/projection.h"
#include "projections/refold.h"

namespace clawmark {
namespace {

constexpr std::array<std::string_view, 16> kTypes = {
    event_type::kMessageObserved,  event_type::kMessageSighted,      event_type::kSessionBranch,
    event_type::kSessionDeleted,   event_type::kExtractionCompleted, event_type::kFactForgotten,
    event_type::kGraphCompleted,   event_type::kGraphMerged,         event_type::kGraphUnmerged,
    event_type::kSummaryCompleted, event_type::kSummaryDissolved,    event_type::kEventRedacted,
    event_type::kMessageForgotten, event_type::kSessionForgotten,    event_type::kPersonForgotten,
    event_type::kFileExplored};

class GraphProjection final : public Projection {
 public:
  std::string_view name() const override { return "graph"; }
  int fold_version() const override { return 5; }
  std::string ddl(int generation) const override {
    return generation_sql(kGraphDdl, kGraphPrefix, generation) +
           generation_sql(StandingLedger::ddl(), kGraphPrefix, generation);
  }
  std::string views(int generation) const override {
    return generation_sql(kGraphViews, kGraphPrefix, generation);
  }
  std::string drop(int generation) const override {
    return generation_sql(kGraphDrop, kGraphPrefix, generation) +
           generation_sql(StandingLedger::drop(), kGraphPrefix, generation);
  }
  std::span<const std::string_view> types() const override { return kTypes; }

  Status apply(Transaction& txn, int generation, std::span<const Event> events) override {
    GraphFold fold(txn.db(), generation);
    CLAWMARK_TRY(apply_or_refold(*this, txn, generation, events, fold));
    return fold.finish();
  }

  // Messages by entry id and no log positions: the same history in another log gives the same
  // digest.
  Result<Hash256> digest(Database& db, int generation) const override {
    Sha256 hash;
    const auto feed = [&](std::string_view sql, int columns) {
      return hash_rows(db, generation_sql(sql, kGraphPrefix, generation), columns, hash);
    };
    CLAWMARK_TRY(feed(
        "SELECT agent, holder, type, key, visible, name, description, status, status_ms, "
        "reason, slot, choice, replaces, aliases, confidence, source, due_ms, first_ms, "
        "last_ms, valid_from_ms, valid_to_ms, superseded_by, mentions, quote, (SELECT entry_id "
        "FROM graph_messages__g# m WHERE m.message = n.message), (SELECT entry_id FROM "
        "graph_messages__g# m WHERE m.message = n.description_message), (SELECT entry_id FROM "
        "graph_messages__g# m WHERE m.message = n.reason_message) FROM graph_nodes__g# n ORDER "
        "BY agent, holder, type, key",
        27));
    CLAWMARK_TRY(
        feed("SELECT agent, holder, from_type, from_key, type, slot, to_type, to_key, from_ms, "
             "until_ms, confidence, last_ms, quote, (SELECT entry_id FROM graph_messages__g# m "
             "WHERE m.message = e.message) FROM graph_edges__g# e ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, "
             "9, 10",
             14));
    CLAWMARK_TRY(
        feed("SELECT agent, holder, type, key, title, description, salience, occurred_ms, nodes, "
             "quote, (SELECT entry_id FROM graph_messages__g# m WHERE m.message = e.message) FROM "
             "graph_episodes__g# e ORDER BY 1, 2, 3, 4, 8",
             11));
    CLAWMARK_TRY(
        feed("SELECT agent, holder, kind, type, iif(kind IN ('prose', 'state'), '', key), to_type, "
             "to_key, slot, body, said_ms, state, quote FROM graph_claims__g# ORDER BY 1, 2, 3, 4, "
             "5, 6, 7, 8, 9, 10, 11, 12",
             12));
    CLAWMARK_TRY(feed(
        "SELECT agent, alias, holder, type, key FROM graph_aliases__g# ORDER BY 1, 2, 3, 4, 5", 5));
    CLAWMARK_TRY(feed(
        "SELECT agent, id, text_hash, entry_id, name, mime, kind, bytes, tokens, start, whole, "
        "said_ms, summary FROM graph_files__g# ORDER BY 1, 2, 3, 4, 10, 12",
        13));
    CLAWMARK_TRY(feed("SELECT name, value FROM graph_counters__g# ORDER BY name", 2));
    return hash.finish();
  }
};

}  // namespace

std::unique_ptr<Projection> make_graph_projection() {
  return std::make_unique<GraphProjection>();
}

}  // namespace clawmark
