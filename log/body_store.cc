#include "log/body_store.h"

#include <utility>

#include "base/limits.h"
#include "base/read_snapshot.h"
#include "base/zstd.h"
#include "log/event_log.h"

namespace clawmark {
namespace {

Result<std::optional<std::string>> from_vault(Database& db, const Hash256& hash) {
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT bytes, frame FROM bodies WHERE hash = ?"));
  CLAWMARK_ASSIGN(const bool found, query->with(hash).step());
  std::optional<std::string> out;
  if (found) {
    auto text = zstd_decompress(query->blob(1), static_cast<std::size_t>(query->integer(0)));
    // A damaged frame is as good as none: the source may still have the text.
    if (text.ok() && sha256(*text) == hash) out = std::move(text).value();
  }
  query->reset();
  return out;
}

Result<std::vector<Locator>> locators_of(Database& db, Seq message) {
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT carrier, stream, place FROM locators"
                                         " WHERE message = ? ORDER BY carrier, stream"));
  query->with(message.value);
  std::vector<Locator> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back({query->string(0), query->string(1), query->string(2)});
  }
  query->reset();
  return out;
}

// What the log says of a message; nullopt when it is no message.observed, redacted or forgotten: a
// text that was forgotten is not asked for, though its carrier still holds it.
Result<std::optional<BodyRequest>> request_for(Database& db, Seq message) {
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT agent, payload ->> '$.entry_id',"
                                         " payload ->> '$.sha256' FROM events AS m"
                                         " WHERE seq = ? AND type = ? AND redacted = 0"
                                         " AND NOT EXISTS (SELECT 1 FROM events AS t WHERE"
                                         " t.dedupe_key IN ('forgotten:' || m.dedupe_key,"
                                         " 'forgotten-source:' || m.dedupe_key))"));
  CLAWMARK_ASSIGN(const bool found,
                  query->with(message.value, event_type::kMessageObserved).step());
  std::optional<BodyRequest> out;
  if (found) {
    if (const auto hash = hash_from_hex(query->text(2))) {
      out = BodyRequest{message, query->string(0), query->string(1), *hash, {}};
    }
  }
  query->reset();
  return out;
}

// Messages of a stream whose place is in doubt and who have no other; with the hash of their text.
Result<std::vector<std::pair<Seq, Hash256>>> only_in_doubt(Database& db, std::string_view carrier,
                                                           std::string_view stream) {
  CLAWMARK_ASSIGN(auto* query,
                  db.cached("SELECT l.message, e.payload ->> '$.sha256' FROM locators l"
                            " JOIN events e ON e.seq = l.message WHERE l.carrier = ?1"
                            " AND l.stream = ?2 AND l.place = '' AND NOT EXISTS (SELECT 1 FROM"
                            " locators o WHERE o.message = l.message AND o.place <> '')"));
  query->with(carrier, stream);
  std::vector<std::pair<Seq, Hash256>> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    if (const auto hash = hash_from_hex(query->text(1))) {
      out.emplace_back(Seq{query->integer(0)}, *hash);
    }
  }
  query->reset();
  return out;
}

}  // namespace

BodyStore::BodyStore(Retention retention, BodyResolver* resolver)
    : retention_(retention), resolver_(resolver) {}

bool is_rewritten_by_host(std::string_view carrier) {
  return carrier == "transcripts";
}

bool BodyStore::keeps(std::string_view carrier) const {
  return retention_ == Retention::kVerbatim ||
         (retention_ == Retention::kRewritten && is_rewritten_by_host(carrier));
}

Status BodyStore::put(Transaction& txn, const Hash256& hash, std::string_view text) {
  if (retention_ == Retention::kReference) return Ok{};
  CLAWMARK_ASSIGN(const auto there,
                  txn.db().query_int("SELECT 1 FROM bodies WHERE hash = ?", hash));
  if (there) return Ok{};
  const std::string frame = zstd_compress(text);
  return txn.db().run("INSERT INTO bodies(hash, bytes, frame) VALUES (?, ?, ?)", hash, text.size(),
                      std::span(reinterpret_cast<const std::uint8_t*>(frame.data()), frame.size()));
}

Status BodyStore::put_locator(Transaction& txn, Seq message, const Locator& locator) {
  CLAWMARK_TRY(txn.db().run("DELETE FROM texts_gone WHERE message = ?", message.value));
  return txn.db().run(
      "INSERT INTO locators(message, carrier, stream, place) VALUES (?, ?, ?, ?)"
      " ON CONFLICT(message, carrier, stream) DO UPDATE SET place = excluded.place",
      message.value, locator.carrier, locator.stream, locator.place);
}

Status BodyStore::doubt_locators(Transaction& txn, std::string_view agent, std::string_view carrier,
                                 std::string_view stream) {
  return txn.db().run(
      "UPDATE locators SET place = '' WHERE carrier = ? AND stream = ?"
      " AND (SELECT agent FROM events WHERE seq = message) = ?",
      carrier, stream, agent);
}

Status BodyStore::sweep_locators(Transaction& txn, std::string_view carrier,
                                 std::string_view stream, TimeMs now) {
  CLAWMARK_ASSIGN(const auto lost, only_in_doubt(txn.db(), carrier, stream));
  for (const auto& [message, hash] : lost) {
    CLAWMARK_ASSIGN(const auto kept,
                    txn.db().query_int("SELECT 1 FROM bodies WHERE hash = ?", hash));
    if (kept) continue;
    CLAWMARK_TRY(txn.db().run("INSERT OR IGNORE INTO texts_gone(message, since_ms) VALUES (?, ?)",
                              message.value, now));
  }
  return txn.db().run("DELETE FROM locators WHERE carrier = ? AND stream = ? AND place = ''",
                      carrier, stream);
}

Result<std::vector<Body>> BodyStore::get(Database& db, std::span<const Seq> messages) {
  CLAWMARK_ASSIGN(StoredBodies out, stored(db, messages));
  if (out.missing.empty()) return std::move(out.bodies);
  if (db.in_transaction()) {
    return make_error(ErrorKind::kFatal, "bodies", "in_transaction",
                      "a source must not be asked while a transaction is open");
  }
  auto texts = ask(out.missing);
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (texts[k]) {
      out.bodies[out.places[k]] = {BodyState::kSource, *std::move(texts[k]), false};
      continue;
    }
    const Absence absence = resolver_->absence(out.missing[k]);
    if (absence == Absence::kMoment) {
      return make_error(ErrorKind::kRetriable, "bodies", "away",
                        "what holds the texts cannot be read just now; it is tried again");
    }
    out.bodies[out.places[k]].away = absence == Absence::kLasting;
  }
  return std::move(out.bodies);
}

Result<StoredBodies> BodyStore::stored(Database& db, std::span<const Seq> messages) const {
  const ReadSnapshot snapshot(db);
  StoredBodies out;
  out.bodies.resize(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CLAWMARK_ASSIGN(auto request, request_for(db, messages[i]));
    if (!request) continue;
    CLAWMARK_ASSIGN(auto text, from_vault(db, request->hash));
    if (text) {
      out.bodies[i] = {BodyState::kVault, *std::move(text), false};
    } else if (resolver_ != nullptr) {
      CLAWMARK_ASSIGN(request->locators, locators_of(db, messages[i]));
      out.places.push_back(i);
      out.missing.push_back(*std::move(request));
    }
  }
  return out;
}

std::vector<std::optional<std::string>> BodyStore::ask(std::span<const BodyRequest> missing) {
  auto texts = resolver_->resolve(missing);
  texts.resize(missing.size());
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (texts[k] && sha256(*texts[k]) != missing[k].hash) texts[k].reset();
  }
  return texts;
}

Result<Body> BodyStore::get_one(Database& db, Seq message) {
  CLAWMARK_ASSIGN(auto bodies, get(db, std::span(&message, 1)));
  return std::move(bodies.front());
}

Status BodyStore::drop(Transaction& txn, const Hash256& hash) {
  return txn.db().run("DELETE FROM bodies WHERE hash = ?", hash);
}

}  // namespace clawmark
