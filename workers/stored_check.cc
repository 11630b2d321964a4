#include "workers/stored_check.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "base/zstd.h"
#include "log/cursor.h"
#include "log/event_log.h"
#include "projections/rebuild.h"
#include "sources/text_cleaner.h"
#include "workers/embed.h"

namespace clawmark {
namespace {

constexpr std::size_t kTextsAtOnce = 64;
constexpr std::size_t kEventsAtOnce = 2000;
constexpr std::string_view kTalkTypes[] = {event_type::kMessageObserved,
                                           event_type::kMessageSighted};

// A vector that no search can use.
constexpr std::string_view kRottenVectors =
    "FROM vectors WHERE scale <= 0 OR length(vector) <> coalesce((SELECT dims FROM"
    " embedding_models WHERE id = model), -1)";

Result<std::int64_t> number(Database& db, std::string_view sql) {
  CLAWMARK_ASSIGN(const auto value, db.query_int(sql));
  return value.value_or(0);
}

Status check_bodies(Database& db, StoredState& state) {
  CLAWMARK_ASSIGN(auto rows, db.prepare("SELECT hash, bytes, frame FROM bodies"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) return Ok{};
    ++state.bodies;
    const auto text = zstd_decompress(rows.blob(2), static_cast<std::size_t>(rows.integer(1)));
    if (!text.ok() || sha256(*text) != rows.hash(0)) state.rotten.push_back(rows.hash(0));
  }
}

// Messages that may be shown to somebody, whose text nobody has forgotten or found gone, and that
// the vault has not; those whose copy is rotten, too.
Result<std::vector<Seq>> without_copy(Database& db, const std::vector<Hash256>& rotten) {
  const std::set<Hash256> bad(rotten.begin(), rotten.end());
  CLAWMARK_ASSIGN(
      auto rows,
      db.prepare("SELECT m.seq, m.sha256, EXISTS (SELECT 1 FROM bodies b WHERE b.hash = m.sha256)"
                 " FROM messages m JOIN events e ON e.seq = m.seq WHERE m.state <> 'deleted'"
                 " AND m.bytes <= ?"
                 " AND e.redacted = 0 AND m.seq NOT IN (SELECT message FROM texts_gone) AND NOT"
                 " EXISTS (SELECT 1 FROM events t WHERE t.dedupe_key IN ('forgotten:' ||"
                 " e.dedupe_key, 'forgotten-source:' || e.dedupe_key)) ORDER BY m.seq"));
  rows.with(kEntryTextMax);  // longer ones are never copied
  std::vector<Seq> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) return out;
    if (rows.integer(2) == 0 || bad.contains(rows.hash(1))) out.push_back({rows.integer(0)});
  }
}

struct Places {
  bool any = false, kept = false;  // kept: by a carrier whose texts are copied
};

Result<Places> places_of(Database& db, const BodyStore& bodies, Seq message) {
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT carrier FROM locators WHERE message = ?"));
  query->with(message.value);
  Places out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.any = true;
    out.kept = out.kept || bodies.keeps(query->text(0));
  }
  query->reset();
  return out;
}

// What a carrier answers for each; none while it is only away for a moment.
Result<std::vector<Body>> ask(Database& db, BodyStore& bodies, std::span<const Seq> messages) {
  auto given = bodies.get(db, messages);
  if (given.ok() || given.error().kind != ErrorKind::kRetriable) return given;
  return std::vector<Body>(messages.size(), Body{BodyState::kGone, {}, true});
}

// Where everything is kept, older texts are copied one after the other: up to here they are.
Result<Seq> copied_through(Database& db, const BodyStore& bodies) {
  if (bodies.retention() != Retention::kVerbatim) return Seq{INT64_MAX};
  CLAWMARK_ASSIGN(const std::int64_t at,
                  number(db, "SELECT max(pos) FROM cursors WHERE worker = 'keep'"));
  return Seq{at};
}

Status check_copies(Database& db, BodyStore& bodies, StoredState& state) {
  CLAWMARK_ASSIGN(const auto candidates, without_copy(db, state.rotten));
  CLAWMARK_ASSIGN(const Seq copied, copied_through(db, bodies));
  std::vector<Seq> expected;
  for (const Seq message : candidates) {
    CLAWMARK_ASSIGN(const Places places, places_of(db, bodies, message));
    if (!places.any) {
      state.placeless.push_back(message);
    } else if (places.kept && message <= copied) {
      expected.push_back(message);
    }
  }
  for (std::size_t at = 0; at < expected.size(); at += kTextsAtOnce) {
    const auto some = std::span(expected).subspan(at, std::min(kTextsAtOnce, expected.size() - at));
    CLAWMARK_ASSIGN(const auto given, ask(db, bodies, some));
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (given[i].state == BodyState::kGone) {
        given[i].away ? static_cast<void>(++state.away) : state.lost.push_back(some[i]);
      } else if (!holds_secret(given[i].text)) {  // such a text is never copied
        state.uncopied.push_back(some[i]);
      }
    }
  }
  return Ok{};
}

struct Embedded {
  std::int64_t model = 0;
  Seq through;
};

Result<Embedded> embedded_through(Database& db) {
  Embedded out;
  CLAWMARK_ASSIGN(out.model, number(db,
                                    "SELECT CAST(value AS INTEGER) FROM meta WHERE key ="
                                    " 'embedding_model'"));
  CLAWMARK_ASSIGN(
      const auto at,
      db.query_int("SELECT pos FROM cursors WHERE worker = 'embed' AND generation = ?", out.model));
  out.through = {at.value_or(0)};
  return out;
}

// Of a message: all its chunks have vectors; some has none; it has no chunk.
enum class Vectors { kAll, kSome, kNone };

Result<Vectors> vectors_of(Database& db, std::int64_t model, Seq message) {
  CLAWMARK_ASSIGN(const auto open,
                  db.query_int("SELECT count(*) - count(v.hash) FROM chunks c LEFT JOIN vectors v"
                               " ON v.model = ?1 AND v.hash = c.hash AND v.scale > 0 AND"
                               " length(v.vector) = (SELECT dims FROM embedding_models WHERE id ="
                               " ?1) WHERE c.message = ?2 HAVING count(*) > 0",
                               model, message.value));
  if (!open) return Vectors::kNone;
  return *open == 0 ? Vectors::kAll : Vectors::kSome;
}

// Whether a worker would still take it: not set aside, not deleted.
Result<bool> is_due(Database& db, std::int64_t model, Seq message) {
  CLAWMARK_ASSIGN(const auto due,
                  db.query_int("SELECT 1 FROM messages m WHERE m.seq = ?1 AND m.state <> 'deleted'"
                               " AND NOT EXISTS (SELECT 1 FROM parked p WHERE p.worker = 'embed'"
                               " AND p.generation = ?2 AND p.message = ?1)",
                               message.value, model));
  return due.has_value();
}

// Of messages without chunks those that have words.
Result<std::int64_t> with_words(Database& db, BodyStore& bodies, std::span<const Seq> messages) {
  std::int64_t out = 0;
  for (std::size_t at = 0; at < messages.size(); at += kTextsAtOnce) {
    const auto some = messages.subspan(at, std::min(kTextsAtOnce, messages.size() - at));
    CLAWMARK_ASSIGN(const auto given, ask(db, bodies, some));
    for (const Body& body : given) {
      out += body.state != BodyState::kGone && !presentable_text(body.text).empty() ? 1 : 0;
    }
  }
  return out;
}

Status check_vectors(Database& db, BodyStore& bodies, StoredState& state) {
  CLAWMARK_ASSIGN(state.vectors, number(db, "SELECT count(*) FROM vectors"));
  CLAWMARK_ASSIGN(state.vectors_rotten,
                  number(db, "SELECT count(*) " + std::string(kRottenVectors)));
  CLAWMARK_ASSIGN(const Embedded embedded, embedded_through(db));
  std::set<Seq> bare, partly;
  for (Seq after{0}; after < embedded.through;) {
    CLAWMARK_ASSIGN(const auto events, EventLog::read(db, after, kEventsAtOnce, kTalkTypes));
    for (const Event& event : events) {
      if (event.seq > embedded.through) break;
      CLAWMARK_ASSIGN(const auto message, talk_in(db, event));
      if (!message) continue;
      CLAWMARK_ASSIGN(const Vectors vectors, vectors_of(db, embedded.model, *message));
      if (vectors == Vectors::kAll) continue;
      CLAWMARK_ASSIGN(const bool due, is_due(db, embedded.model, *message));
      if (due) (vectors == Vectors::kNone ? bare : partly).insert(*message);
    }
    if (events.size() < kEventsAtOnce) break;
    after = events.back().seq;
  }
  const std::vector<Seq> asked(bare.begin(), bare.end());
  CLAWMARK_ASSIGN(const std::int64_t words, with_words(db, bodies, asked));
  state.unembedded = words + static_cast<std::int64_t>(partly.size());
  return Ok{};
}

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what);
}

constexpr char kFix[] = "; clawmark doctor --fix ";

}  // namespace

Result<StoredState> check_stored(Database& db, BodyStore& bodies) {
  StoredState state;
  CLAWMARK_TRY(check_bodies(db, state));
  CLAWMARK_TRY(check_copies(db, bodies, state));
  CLAWMARK_ASSIGN(state.astray,
                  number(db,
                         "SELECT (SELECT count(*) FROM chunks WHERE message NOT IN (SELECT seq"
                         " FROM events)) + (SELECT count(*) FROM locators WHERE message NOT IN"
                         " (SELECT seq FROM events))"));
  CLAWMARK_TRY(check_vectors(db, bodies, state));
  return state;
}

std::vector<std::string> vault_problems(const StoredState& state) {
  std::vector<std::string> out;
  if (!state.rotten.empty()) {
    out.push_back(count_of(state.rotten.size(), "of ") + std::to_string(state.bodies) +
                  " texts in the vault are not what their hash says" + kFix + "takes them out");
  }
  if (!state.uncopied.empty()) {
    out.push_back(count_of(state.uncopied.size(), "texts that are kept are not in the vault; the") +
                  " host still has them" + kFix + "copies them again");
  }
  if (!state.lost.empty()) {
    out.push_back(
        count_of(state.lost.size(),
                 "texts are lost: their copy is gone from the vault,"
                 " and the host no longer has them") +
        "; restore a backup that has them; clawmark doctor --fix writes them down as lost");
  }
  if (!state.placeless.empty()) {
    out.push_back(count_of(state.placeless.size(),
                           "messages have no copy, and no place in any"
                           " carrier is known for them") +
                  kFix + "has the carriers read again");
  }
  if (state.away > 0) {
    out.push_back(std::to_string(state.away) +
                  " texts that are kept are not in the vault, and what holds them cannot be read"
                  " now; once it can: clawmark doctor --fix");
  }
  if (state.astray > 0) {
    out.push_back(std::to_string(state.astray) +
                  " chunks or places are of messages that are not in the log" + kFix +
                  "takes them out");
  }
  return out;
}

std::vector<std::string> vector_problems(const StoredState& state) {
  std::vector<std::string> out;
  if (state.vectors_rotten > 0) {
    out.push_back(std::to_string(state.vectors_rotten) + " of " + std::to_string(state.vectors) +
                  " vectors are not of their model's length" + kFix + "takes them out");
  }
  if (state.unembedded > 0) {
    out.push_back(std::to_string(state.unembedded) +
                  " messages have no vectors, though embed has passed them" + kFix +
                  "has them embedded again");
  }
  return out;
}

namespace {

Status copy_again(Store& store, BodyStore& bodies, std::span<const Seq> messages) {
  for (std::size_t at = 0; at < messages.size(); at += kTextsAtOnce) {
    const auto some = messages.subspan(at, std::min(kTextsAtOnce, messages.size() - at));
    CLAWMARK_ASSIGN(const auto given, ask(store.db(), bodies, some));
    CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db()));
    for (const Body& body : given) {
      if (body.state == BodyState::kGone) continue;
      CLAWMARK_TRY(bodies.put(txn, sha256(body.text), body.text));
    }
    CLAWMARK_TRY(txn.commit());
  }
  return Ok{};
}

Status write_down_as_lost(Transaction& txn, std::span<const Seq> messages, TimeMs now) {
  for (const Seq message : messages) {
    CLAWMARK_TRY(txn.db().run("INSERT OR IGNORE INTO texts_gone(message, since_ms) VALUES (?, ?)",
                              message.value, now));
  }
  return Ok{};
}

constexpr char kStopFirst[] = ": stop clawmarkd, then clawmark doctor --fix once more";

// To the start: of what has its vectors nothing is asked again.
Status embed_again(Transaction& txn, const StoredState& state, bool running,
                   std::vector<std::string>& done) {
  CLAWMARK_ASSIGN(const Embedded embedded, embedded_through(txn.db()));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(txn.db()));
  const std::string what = std::to_string(state.unembedded) + " messages ";
  if (running && embedded.through < head) {
    done.push_back(what + "wait to be embedded again, and embed is at work" + kStopFirst);
    return Ok{};
  }
  CLAWMARK_TRY(txn.db().run("UPDATE cursors SET pos = 0 WHERE worker = 'embed' AND generation = ?",
                            embedded.model));
  done.push_back(what + "are embedded again" +
                 (running ? "" : " once clawmarkd runs, or by clawmark reconcile"));
  return Ok{};
}

}  // namespace

Result<std::vector<std::string>> mend_stored(Store& store, BodyStore& bodies,
                                             const StoredState& state, bool running, TimeMs now) {
  std::vector<std::string> done;
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  Database& db = txn.db();
  for (const Hash256& hash : state.rotten) CLAWMARK_TRY(bodies.drop(txn, hash));
  if (!state.rotten.empty()) {
    done.push_back(count_of(state.rotten.size(), "damaged texts were taken out of the vault"));
  }
  CLAWMARK_TRY(write_down_as_lost(txn, state.lost, now));
  if (!state.lost.empty()) {
    done.push_back(count_of(state.lost.size(), "texts are lost, and are counted so (texts_gone)"));
  }
  if (!state.placeless.empty() && running) {
    done.push_back(count_of(state.placeless.size(), "messages have no place") + kStopFirst);
  } else if (!state.placeless.empty()) {
    // Whatever the carriers show again gets its place and is gone no longer.
    CLAWMARK_TRY(write_down_as_lost(txn, state.placeless, now));
    CLAWMARK_TRY(db.run("DELETE FROM source_positions"));
    done.push_back(
        "the host's history is read from its start once clawmarkd runs, or by clawmark "
        "reconcile: for the places of " +
        count_of(state.placeless.size(), "messages"));
  }
  if (state.astray > 0) {
    CLAWMARK_TRY(db.run("DELETE FROM chunks WHERE message NOT IN (SELECT seq FROM events)"));
    CLAWMARK_TRY(db.run("DELETE FROM locators WHERE message NOT IN (SELECT seq FROM events)"));
    done.push_back(std::to_string(state.astray) + " rows of no message were taken out");
  }
  if (state.vectors_rotten > 0) {
    CLAWMARK_TRY(db.run("DELETE " + std::string(kRottenVectors)));
    done.push_back(std::to_string(state.vectors_rotten) + " damaged vectors were taken out");
  }
  if (state.unembedded > 0) CLAWMARK_TRY(embed_again(txn, state, running, done));
  CLAWMARK_TRY(txn.commit());
  CLAWMARK_TRY(copy_again(store, bodies, state.uncopied));
  if (!state.uncopied.empty()) {
    done.push_back(count_of(state.uncopied.size(), "texts were copied into the vault again"));
  }
  return done;
}

Result<std::vector<std::string>> mend_cursors(Store& store, std::vector<std::string>& to_rebuild) {
  constexpr std::string_view kProject = "project.";
  std::vector<std::string> done;
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(txn.db()));
  CLAWMARK_ASSIGN(const auto cursors, list_cursors(txn.db()));
  for (const CursorState& cursor : cursors) {
    if (cursor.position <= head) continue;
    const std::string& name = cursor.worker.name;
    if (!name.starts_with(kProject)) {
      CLAWMARK_TRY(
          txn.db().run("UPDATE cursors SET pos = 0, state = 'running', failure = '' WHERE"
                       " worker = ? AND generation = ?",
                       name, cursor.worker.generation));
      done.push_back("the cursor of " + name +
                     " was put back to the start; what is done is not done again");
      continue;
    }
    const std::string projection = name.substr(kProject.size());
    const auto live = live_generation(txn.db(), projection);
    if (live.ok() && *live == cursor.worker.generation) {
      to_rebuild.push_back(projection);
    } else {
      CLAWMARK_TRY(txn.db().run("DELETE FROM cursors WHERE worker = ? AND generation = ?", name,
                                cursor.worker.generation));
      done.push_back("a cursor of " + name + " that nobody uses was taken away");
    }
  }
  CLAWMARK_TRY(txn.commit());
  return done;
}

}  // namespace clawmark
