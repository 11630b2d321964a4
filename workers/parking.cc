#include "workers/parking.h"

#include "base/secrets.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kDetailBytes = 300;

Result<Scope> scope_of(Database& db, Seq message) {
  CLAWMARK_ASSIGN(const auto event, EventLog::get(db, message));
  Scope scope;
  if (event) scope = event->scope;
  if (scope.agent.empty()) scope.agent = "main";
  return scope;
}

}  // namespace

ParkNote no_text_note(Seq message, bool away) {
  return away ? ParkNote{message, "source_away",
                         "what holds the text cannot be read; tried again once it can", 1}
              : ParkNote{message, "body_gone", "no carrier can give the text any more", 1};
}

Status park_message(Transaction& txn, EventLog& log, const WorkerId& worker, const ParkNote& note,
                    TimeMs now) {
  const std::string item = std::to_string(note.message.value);
  const std::string prefix = "park:" + worker.name + ":" + std::to_string(worker.generation) + ":" +
                             item + "-" + item + ":";
  std::string end = prefix;
  end.back() = ';';
  CLAWMARK_ASSIGN(const auto earlier,
                  txn.db().query_int("SELECT count(*) FROM events WHERE dedupe_key >= ?"
                                     " AND dedupe_key < ?",
                                     prefix, end));
  const std::string detail(prefix_bytes(to_valid_utf8(redact_secrets(note.detail)), kDetailBytes));
  NewEvent event;
  event.type = event_type::kBatchParked;
  CLAWMARK_ASSIGN(event.scope, scope_of(txn.db(), note.message));
  event.dedupe_key = prefix + std::to_string(earlier.value_or(0));
  event.occurred = now;
  event.payload = {{"worker", worker.name},
                   {"generation", worker.generation},
                   {"first", note.message.value},
                   {"last", note.message.value},
                   {"messages", json::array{note.message.value}},
                   {"reason", note.reason},
                   {"detail", detail},
                   {"attempts", note.attempts}};
  CLAWMARK_ASSIGN(const Appended appended, log.append(txn, event));
  CLAWMARK_TRY(unpark_message(txn, worker, note.message));
  return txn.db().run(
      "INSERT INTO parked(event, worker, generation, message, reason, detail, attempts, parked_ms,"
      " retry) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
      appended.head.value, worker.name, worker.generation, note.message.value, note.reason, detail,
      note.attempts, now);
}

Status unpark_message(Transaction& txn, const WorkerId& worker, Seq message) {
  return txn.db().run("DELETE FROM parked WHERE worker = ? AND generation = ? AND message = ?",
                      worker.name, worker.generation, message.value);
}

Result<bool> is_parked(Database& db, const WorkerId& worker, Seq message) {
  CLAWMARK_ASSIGN(const auto row, db.query_int("SELECT 1 FROM parked WHERE worker = ?"
                                               " AND generation = ? AND message = ? LIMIT 1",
                                               worker.name, worker.generation, message.value));
  return row.has_value();
}

Result<std::vector<Seq>> retry_wanted(Database& db, const WorkerId& worker, std::size_t limit) {
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT message FROM parked WHERE worker = ?"
                                         " AND generation = ? AND retry = 1"
                                         " ORDER BY message LIMIT ?"));
  query->with(worker.name, worker.generation, limit);
  std::vector<Seq> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    out.push_back({query->integer(0)});
  }
  query->reset();
  return out;
}

namespace {

using ParkedRow = std::pair<std::int64_t, Seq>;  // event, message

Result<std::vector<ParkedRow>> rows_of(Statement& query) {
  std::vector<ParkedRow> rows;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query.step());
    if (!row) break;
    rows.emplace_back(query.integer(0), Seq{query.integer(1)});
  }
  query.reset();
  return rows;
}

Status mark_retried(Transaction& txn, EventLog& log, std::span<const ParkedRow> rows, TimeMs now) {
  for (const auto& [parked, message] : rows) {
    NewEvent retried;
    retried.type = event_type::kBatchRetried;
    CLAWMARK_ASSIGN(retried.scope, scope_of(txn.db(), message));
    retried.dedupe_key = "retry:" + std::to_string(parked) + ":" + std::to_string(now.value);
    retried.occurred = now;
    retried.payload = {{"parked", parked}};
    CLAWMARK_TRY(log.append(txn, retried));
    CLAWMARK_TRY(txn.db().run("UPDATE parked SET retry = 1 WHERE event = ?", parked));
  }
  return Ok{};
}

}  // namespace

Result<std::size_t> retry_parked(Store& store, std::string_view worker, Seq event, TimeMs now) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  CLAWMARK_ASSIGN(auto* query, txn.db().cached("SELECT event, message FROM parked WHERE retry = 0"
                                               " AND (? = '' OR worker = ?)"
                                               " AND (? = 0 OR event = ?) ORDER BY event"));
  query->with(worker, worker, event.value, event.value);
  CLAWMARK_ASSIGN(const auto rows, rows_of(*query));
  if (rows.empty() && event.value != 0) {
    CLAWMARK_ASSIGN(const auto known, txn.db().query_int("SELECT 1 FROM parked WHERE event = ?1"
                                                         " AND (?2 = '' OR worker = ?2)",
                                                         event.value, worker));
    if (!known) {
      return make_error(ErrorKind::kNotFound, "parked", "not_parked",
                        "nothing is parked under number " + std::to_string(event.value) +
                            "; see: clawmark parked list");
    }
  }
  CLAWMARK_TRY(mark_retried(txn, store.log(), rows, now));
  CLAWMARK_TRY(txn.commit());
  return rows.size();
}

Result<std::size_t> retry_away(Store& store, std::string_view carrier, std::string_view agent,
                               TimeMs now) {
  CLAWMARK_ASSIGN(
      auto* query,
      store.db().cached("SELECT p.event, p.message FROM parked p JOIN events e ON e.seq = p.message"
                        " WHERE p.retry = 0 AND p.reason = 'source_away' AND (?2 = '' OR e.agent ="
                        " ?2) AND EXISTS(SELECT 1 FROM locators l WHERE l.message = p.message AND"
                        " l.carrier = ?1) ORDER BY p.event"));
  query->with(carrier, agent);
  CLAWMARK_ASSIGN(const auto rows, rows_of(*query));
  if (rows.empty()) return std::size_t{0};
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  CLAWMARK_TRY(mark_retried(txn, store.log(), rows, now));
  CLAWMARK_TRY(txn.commit());
  return rows.size();
}

Result<std::int64_t> count_parked(Database& db, std::string_view worker) {
  CLAWMARK_ASSIGN(
      const auto count,
      db.query_int("SELECT count(*) FROM parked WHERE ? = '' OR worker = ?", worker, worker));
  return count.value_or(0);
}

}  // namespace clawmark
