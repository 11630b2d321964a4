#include "projections/vectors.h"

#include <algorithm>

namespace clawmark {
namespace {

// CROSS JOIN: in this order, along the keys. Left to itself the planner sorts all vectors for each
// batch.
constexpr char kRead[] =
    "SELECT c.message, m.agent, m.audience, v.scale, v.vector FROM chunks c"
    " CROSS JOIN messages m ON m.seq = c.message"
    " CROSS JOIN vectors v ON v.model = ?1 AND v.hash = c.hash"
    " WHERE c.message > ?2 AND m.recallable = 1 ORDER BY c.message, c.ordinal";
constexpr char kReadOne[] =
    "SELECT c.message, m.agent, m.audience, v.scale, v.vector FROM chunks c"
    " CROSS JOIN messages m ON m.seq = c.message"
    " CROSS JOIN vectors v ON v.model = ?1 AND v.hash = c.hash"
    " WHERE c.message = ?2 AND m.recallable = 1 ORDER BY c.ordinal";
constexpr char kMessages[] =
    "SELECT DISTINCT c.message FROM chunks c"
    " CROSS JOIN messages m ON m.seq = c.message"
    " CROSS JOIN vectors v ON v.model = ?1 AND v.hash = c.hash WHERE m.recallable = 1 ORDER BY "
    "c.message";

StoredVector row_of(const Statement& query) {
  StoredVector out;
  out.message = {query.integer(0)};
  out.agent = query.string(1);
  out.audience = query.string(2);
  out.scale = static_cast<float>(query.real(3));
  const auto bytes = query.blob(4);
  const auto* codes = reinterpret_cast<const std::int8_t*>(bytes.data());
  out.codes.assign(codes, codes + bytes.size());
  return out;
}

}  // namespace

Result<std::optional<EmbeddingModelRow>> find_embedding_model(Database& db, std::string_view name) {
  CLAWMARK_ASSIGN(Statement * query,
                  db.cached("SELECT id, dims FROM embedding_models WHERE name = ?"));
  CLAWMARK_ASSIGN(const bool row, query->with(name).step());
  std::optional<EmbeddingModelRow> out;
  if (row) {
    out = EmbeddingModelRow{query->integer(0), std::string(name),
                            static_cast<int>(query->integer(1))};
  }
  query->reset();
  return out;
}

Result<std::vector<StoredVector>> read_vectors(Database& db, std::int64_t model, Seq after,
                                               std::size_t limit) {
  CLAWMARK_ASSIGN(Statement * query, db.cached(kRead));
  query->with(model, after.value);
  std::vector<StoredVector> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    if (out.size() >= limit && out.back().message.value != query->integer(0)) break;
    out.push_back(row_of(*query));
  }
  query->reset();
  return out;
}

Result<std::vector<StoredVector>> read_vectors_of(Database& db, std::int64_t model,
                                                  std::span<const Seq> messages) {
  CLAWMARK_ASSIGN(Statement * query, db.cached(kReadOne));
  std::vector<StoredVector> out;
  for (const Seq message : messages) {
    query->with(model, message.value);
    for (;;) {
      CLAWMARK_ASSIGN(const bool row, query->step());
      if (!row) break;
      out.push_back(row_of(*query));
    }
  }
  query->reset();
  return out;
}

Result<std::vector<Seq>> vector_messages(Database& db, std::int64_t model) {
  CLAWMARK_ASSIGN(Statement * query, db.cached(kMessages));
  query->with(model);
  std::vector<Seq> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back({query->integer(0)});
  }
  query->reset();
  return out;
}

Result<Seq> newest_removal(Database& db) {
  Seq newest;
  for (const auto* type : {event_type::kSessionBranch, event_type::kSessionDeleted,
                           event_type::kEventRedacted, event_type::kMessageForgotten,
                           event_type::kSessionForgotten, event_type::kPersonForgotten}) {
    CLAWMARK_ASSIGN(const auto seq,
                    db.query_int("SELECT max(seq) FROM events WHERE type = ?", type));
    newest.value = std::max(newest.value, seq.value_or(0));
  }
  return newest;
}

}  // namespace clawmark
