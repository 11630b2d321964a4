#include "projections/messages.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "projections/digest.h"
#include "projections/message_row.h"
#include "projections/messages_fold.h"
#include "projections/refold.h"

namespace clawmark {
namespace {

constexpr std::string_view kPrefix = "message";

constexpr std::array<std::string_view, 9> kTypes = {
    event_type::kMessageObserved,  event_type::kMessageSighted,   event_type::kSessionBranch,
    event_type::kSessionDeleted,   event_type::kSessionMarked,    event_type::kEventRedacted,
    event_type::kMessageForgotten, event_type::kSessionForgotten, event_type::kPersonForgotten};

class MessagesProjection final : public Projection {
 public:
  std::string_view name() const override { return "messages"; }
  int fold_version() const override { return 3; }
  std::string ddl(int generation) const override {
    return generation_sql(MessagesFold::ddl(), kPrefix, generation) +
           generation_sql(StandingLedger::ddl(), kPrefix, generation);
  }
  std::string views(int generation) const override {
    return generation_sql(MessagesFold::views(), kPrefix, generation);
  }
  std::string drop(int generation) const override {
    return generation_sql(MessagesFold::drop(), kPrefix, generation) +
           generation_sql(StandingLedger::drop(), kPrefix, generation);
  }
  std::span<const std::string_view> types() const override { return kTypes; }

  Status apply(Transaction& txn, int generation, std::span<const Event> events) override {
    MessagesFold fold(txn.db(), generation);
    return apply_or_refold(*this, txn, generation, events, fold);
  }

  Result<Hash256> digest(Database& db, int generation) const override {
    Sha256 hash;
    const auto feed = [&](std::string_view sql, int columns) {
      return hash_rows(db, generation_sql(sql, kPrefix, generation), columns, hash);
    };
    // Entry ids and no log positions: the same history in another log gives the same digest.
    CLAWMARK_TRY(feed(
        "SELECT agent, entry_id, session_id, session_key, (SELECT p.entry_id FROM messages__g# p "
        "WHERE p.seq = m.parent), role, class, noise, lane, sender, speaker, audience, "
        "occurred_ms, "
        "bytes, chars, hex(sha256), carrier, position, state, recallable FROM messages__g# m "
        "ORDER BY agent, entry_id, occurred_ms, sha256, session_id, role",
        20));
    CLAWMARK_TRY(
        feed("SELECT s.agent, m.entry_id, m.occurred_ms, s.session_id, s.session_key FROM "
             "@_sightings__g# "
             "s JOIN messages__g# m ON m.seq = s.message ORDER BY 1, 2, 3, 4, 5",
             5));
    CLAWMARK_TRY(feed(
        "SELECT a.agent, a.entry_id, m.entry_id FROM message_aliases__g# a JOIN messages__g# m ON "
        "m.seq = a.message ORDER BY 1, 2, 3",
        3));
    CLAWMARK_TRY(
        feed("SELECT agent, session_id, session_key, lane, messages, first_ms, last_ms, deleted, "
             "last_reset_ms FROM sessions__g# ORDER BY agent, session_id",
             9));
    CLAWMARK_TRY(feed(
        "SELECT agent, person, is_owner, name, channel FROM people__g# ORDER BY agent, person", 5));
    return hash.finish();
  }
};

std::string select_messages(const std::string& where) {
  return std::string("SELECT ") + kMessageColumns + " FROM messages m " + where;
}

template <class... Args>
Result<std::vector<MessageRow>> read_rows(Database& db, const std::string& where,
                                          const Args&... args) {
  CLAWMARK_ASSIGN(Statement * statement, db.cached(select_messages(where)));
  statement->with(args...);
  std::vector<MessageRow> rows;
  for (;;) {
    CLAWMARK_ASSIGN(const bool more, statement->step());
    if (!more) break;
    rows.push_back(read_message_row(*statement));
  }
  statement->reset();
  return rows;
}

}  // namespace

MessageRow read_message_row(const Statement& row) {
  MessageRow m;
  m.seq = {row.integer(0)};
  m.agent = row.string(1);
  m.entry_id = row.string(2);
  m.session_id = row.string(3);
  m.session_key = row.string(4);
  if (!row.is_null(5)) m.parent = Seq{row.integer(5)};
  m.role = row.string(6);
  m.entry_class = row.string(7);
  m.noise = row.string(8);
  m.lane = row.string(9);
  m.sender = row.string(10);
  m.speaker = row.string(11);
  m.audience = row.string(12);
  m.occurred = row.time(13);
  m.bytes = row.integer(14);
  m.hash = row.hash(15);
  m.carrier = row.string(16);
  m.state = row.string(17);
  m.recallable = row.integer(18) != 0;
  return m;
}

std::string_view MessagesFold::ddl() {
  return R"sql(
CREATE TABLE IF NOT EXISTS messages__g#(
  seq INTEGER PRIMARY KEY, agent TEXT NOT NULL, entry_id TEXT NOT NULL, session_id TEXT NOT NULL,
  session_key TEXT NOT NULL, parent INTEGER, role TEXT NOT NULL, class TEXT NOT NULL,
  noise TEXT NOT NULL, lane TEXT NOT NULL, sender TEXT NOT NULL, speaker TEXT NOT NULL,
  audience TEXT NOT NULL, occurred_ms INTEGER NOT NULL, bytes INTEGER NOT NULL,
  chars INTEGER NOT NULL, sha256 BLOB NOT NULL, carrier TEXT NOT NULL, position INTEGER NOT NULL,
  state TEXT NOT NULL, recallable INTEGER NOT NULL, person INTEGER NOT NULL,
  rootless INTEGER NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS messages__g#_session ON messages__g#(agent, session_id, occurred_ms, seq);
CREATE INDEX IF NOT EXISTS messages__g#_parent ON messages__g#(parent) WHERE parent IS NOT NULL;
CREATE INDEX IF NOT EXISTS messages__g#_entry ON messages__g#(agent, entry_id);
CREATE TABLE IF NOT EXISTS message_aliases__g#(
  agent TEXT NOT NULL, entry_id TEXT NOT NULL, message INTEGER NOT NULL,
  PRIMARY KEY(agent, entry_id, message)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sessions__g#(
  agent TEXT NOT NULL, session_id TEXT NOT NULL, session_key TEXT NOT NULL, lane TEXT NOT NULL,
  messages INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
  deleted INTEGER NOT NULL, last_reset_ms INTEGER NOT NULL,
  PRIMARY KEY(agent, session_id)) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people__g#(
  agent TEXT NOT NULL, person TEXT NOT NULL, is_owner INTEGER NOT NULL, name TEXT NOT NULL,
  channel TEXT NOT NULL, seen_ms INTEGER NOT NULL, seen_seq INTEGER NOT NULL,
  PRIMARY KEY(agent, person)) STRICT, WITHOUT ROWID;
)sql";
}

std::string_view MessagesFold::views() {
  return R"sql(
DROP VIEW IF EXISTS messages;
CREATE VIEW messages AS SELECT seq, agent, entry_id, session_id, session_key, parent, role, class,
  noise, lane, sender, speaker, audience, occurred_ms, bytes, chars, sha256, carrier, state,
  recallable, position FROM messages__g#;
DROP VIEW IF EXISTS message_sessions;
CREATE VIEW message_sessions AS SELECT s.message, s.session_id, s.session_key,
  NOT EXISTS(SELECT 1 FROM @_deleted__g# d WHERE d.agent = s.agent AND d.session_id = s.session_id)
  AND NOT coalesce((SELECT EXISTS(SELECT 1 FROM @_inactive__g# i WHERE i.agent = b.agent AND
    i.session_id = b.session_id AND i.carrier = b.carrier AND i.message = s.message)
    FROM @_branches__g# b WHERE b.agent = s.agent AND b.session_id = s.session_id
    ORDER BY b.rank, b.carrier LIMIT 1), 0) AS active, s.agent
  FROM @_sightings__g# s;
DROP VIEW IF EXISTS message_aliases;
CREATE VIEW message_aliases AS SELECT agent, entry_id, message FROM message_aliases__g#;
DROP VIEW IF EXISTS people;
CREATE VIEW people AS SELECT agent, person, is_owner, name, channel FROM people__g#;
DROP VIEW IF EXISTS sessions;
CREATE VIEW sessions AS SELECT agent, session_id, session_key, lane, messages, first_ms, last_ms,
  deleted, last_reset_ms FROM sessions__g#;
)sql";
}

std::string_view MessagesFold::drop() {
  return "DROP TABLE IF EXISTS messages__g#; DROP TABLE IF EXISTS message_aliases__g#;"
         "DROP TABLE IF EXISTS sessions__g#; DROP TABLE IF EXISTS people__g#;";
}

std::unique_ptr<Projection> make_messages_projection() {
  return std::make_unique<MessagesProjection>();
}

Result<std::optional<MessageRow>> find_message(Database& db, Seq seq) {
  CLAWMARK_ASSIGN(auto rows, read_rows(db, "WHERE seq = ?1", seq.value));
  if (rows.empty()) return std::optional<MessageRow>{};
  return std::optional<MessageRow>(std::move(rows.front()));
}

Result<std::vector<MessageRow>> read_messages(Database& db, std::span<const Seq> seqs) {
  CLAWMARK_ASSIGN(Statement * statement, db.cached(select_messages("WHERE seq = ?1")));
  std::vector<MessageRow> out;
  out.reserve(seqs.size());
  for (const Seq seq : seqs) {
    CLAWMARK_ASSIGN(const bool found, statement->with(seq.value).step());
    if (found) out.push_back(read_message_row(*statement));
    statement->reset();
  }
  return out;
}

Result<std::vector<MessageRow>> session_messages(Database& db, std::string_view agent,
                                                 std::string_view session_id, Seq after,
                                                 std::size_t limit) {
  return read_rows(db,
                   "WHERE agent = ?1 AND session_id = ?2 AND seq > ?3 ORDER BY occurred_ms, seq "
                   "LIMIT ?4",
                   agent, session_id, after.value, limit);
}

Result<std::vector<Seq>> window_messages(Database& db, std::string_view agent,
                                         std::string_view session_id, TimeMs since) {
  CLAWMARK_ASSIGN(Statement * statement,
                  db.cached("SELECT m.seq FROM message_sessions s JOIN messages m ON m.seq = "
                            "s.message WHERE s.agent = ?1 AND s.session_id = ?2 AND "
                            "m.occurred_ms >= ?3 ORDER BY m.occurred_ms, m.seq"));
  statement->with(agent, session_id, since);
  std::vector<Seq> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement->step());
    if (!row) break;
    out.push_back({statement->integer(0)});
  }
  statement->reset();
  return out;
}

Result<Neighbours> neighbours(Database& db, Seq seq) {
  Neighbours out;
  CLAWMARK_ASSIGN(const auto row, find_message(db, seq));
  if (!row) return out;
  CLAWMARK_ASSIGN(const auto previous,
                  db.query_int("SELECT seq FROM messages WHERE agent = ?1 AND session_id = ?2 AND "
                               "(occurred_ms, seq) < (?3, ?4) AND recallable = 1 "
                               "ORDER BY occurred_ms DESC, seq DESC LIMIT 1",
                               row->agent, row->session_id, row->occurred, seq.value));
  CLAWMARK_ASSIGN(const auto next,
                  db.query_int("SELECT seq FROM messages WHERE agent = ?1 AND session_id = ?2 AND "
                               "(occurred_ms, seq) > (?3, ?4) AND recallable = 1 "
                               "ORDER BY occurred_ms, seq LIMIT 1",
                               row->agent, row->session_id, row->occurred, seq.value));
  if (previous) out.previous = Seq{*previous};
  if (next) out.next = Seq{*next};
  return out;
}

bool is_owner(Database& db, std::string_view agent, std::string_view person) {
  if (person == "owner") return true;
  const auto found =
      db.query_int("SELECT is_owner FROM people WHERE agent = ?1 AND person = ?2", agent, person);
  return found.ok() && found.value().value_or(0) != 0;
}

}  // namespace clawmark
