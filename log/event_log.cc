#include "log/event_log.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/utf8.h"
#include "log/chain.h"

namespace clawmark {
namespace {

// Where the log ends: what the next append builds upon.
struct Tail {
  std::int64_t seq = 0;
  Hash256 chain;
};

Error invalid(const char* reason, std::string message) {
  return make_error(ErrorKind::kInvalid, "log", reason, std::move(message));
}

Result<Tail> read_tail(Database& db) {
  CLAWMARK_ASSIGN(auto* query,
                  db.cached("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1"));
  CLAWMARK_ASSIGN(const bool row, query->step());
  Tail tail;
  if (row) tail = {query->integer(0), query->hash(1)};
  query->reset();
  return tail;
}

Status check_event(const NewEvent& event, const std::string& payload) {
  if (event.type.empty()) return invalid("empty_type", "an event needs a type");
  if (event.dedupe_key.empty()) return invalid("empty_key", event.type + " needs a dedupe key");
  if (event.scope.agent.empty()) return invalid("empty_agent", event.type + " needs an agent");
  if (payload.size() > kPayloadBytesMax) {
    return invalid("payload_too_big", event.type + " has a payload of " +
                                          std::to_string(payload.size()) + " bytes, at most " +
                                          std::to_string(kPayloadBytesMax) + " are taken");
  }
  return Ok{};
}

constexpr std::string_view kSelectEvent =
    "SELECT seq, origin, origin_seq, type, version, agent, session_key, lane, sender, dedupe_key,"
    " occurred_ms, recorded_ms, payload, redacted FROM events ";

Result<Event> read_event(const Statement& row) {
  Event event;
  event.seq = {row.integer(0)};
  event.origin = row.text(1);
  event.origin_seq = row.integer(2);
  event.type = row.text(3);
  event.version = static_cast<int>(row.integer(4));
  event.scope.agent = row.text(5);
  event.scope.session_key = row.text(6);
  event.scope.lane = lane_from(row.text(7));
  event.scope.sender = row.text(8);
  event.dedupe_key = row.text(9);
  event.occurred = row.time(10);
  event.recorded = row.time(11);
  event.redacted = row.integer(13) != 0;
  auto payload = parse_json(row.text(12));
  if (!payload.ok() || !payload->is_object()) {
    return make_error(ErrorKind::kFatal, "log", "corrupt",
                      "event " + std::to_string(event.seq.value) +
                          " has a payload that is no "
                          "JSON object");
  }
  event.payload = std::move(payload->get_object());
  return event;
}

// Rows of a bound statement, which is reset afterwards.
Result<std::vector<Event>> collect(Statement& query) {
  std::vector<Event> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query.step());
    if (!row) break;
    auto event = read_event(query);
    if (!event.ok()) {
      query.reset();
      return std::move(event).error();
    }
    out.push_back(std::move(event).value());
  }
  query.reset();
  return out;
}

Result<std::vector<Event>> read_type(Database& db, Seq after, std::size_t limit,
                                     std::string_view type) {
  static const std::string sql =
      std::string(kSelectEvent) + "WHERE type = ? AND seq > ? ORDER BY seq LIMIT ?";
  CLAWMARK_ASSIGN(auto* query, db.cached(sql));
  return collect(query->with(type, after.value, limit));
}

// By the index per type, then merged. The head is read first and nothing beyond it is returned, so
// that a commit between two of the reads cannot make a hole.
Result<std::vector<Event>> read_types(Database& db, Seq after, std::size_t limit,
                                      std::span<const std::string_view> types) {
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT seq FROM events WHERE type = ? AND seq > ?"
                                         " AND seq <= ? ORDER BY seq LIMIT ?"));
  std::vector<std::int64_t> seqs;
  for (const auto type : types) {
    query->with(type, after.value, head.value, limit);
    for (;;) {
      CLAWMARK_ASSIGN(const bool row, query->step());
      if (!row) break;
      seqs.push_back(query->integer(0));
    }
  }
  query->reset();
  std::sort(seqs.begin(), seqs.end());
  seqs.erase(std::unique(seqs.begin(), seqs.end()), seqs.end());
  if (seqs.size() > limit) seqs.resize(limit);
  std::vector<Event> out;
  out.reserve(seqs.size());
  for (const auto seq : seqs) {
    CLAWMARK_ASSIGN(auto event, EventLog::get(db, {seq}));
    if (event) out.push_back(*std::move(event));
  }
  return out;
}

}  // namespace

EventLog::EventLog(const Clock& clock, std::string origin)
    : clock_(&clock), origin_(std::move(origin)) {}

Result<Appended> EventLog::append(Transaction& txn, const NewEvent& event) {
  return append(txn, std::span(&event, 1));
}

Result<Appended> EventLog::append(Transaction& txn, std::span<const NewEvent> events) {
  if (events.size() > kEventBatchMax) return invalid("batch_too_big", "too many events in a batch");
  std::vector<std::string> payloads;
  payloads.reserve(events.size());
  for (const auto& event : events) {
    payloads.push_back(to_valid_utf8(to_text(event.payload)));
    CLAWMARK_TRY(check_event(event, payloads.back()));
  }
  Database& db = txn.db();
  CLAWMARK_ASSIGN(Tail tail, read_tail(db));
  CLAWMARK_ASSIGN(auto* known, db.cached("SELECT seq FROM events WHERE dedupe_key = ?"));
  CLAWMARK_ASSIGN(auto* insert,
                  db.cached("INSERT INTO events(seq, origin, origin_seq, type, version, agent,"
                            " session_key, lane, sender, dedupe_key, occurred_ms, recorded_ms,"
                            " payload, payload_hash, chain)"
                            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  Appended out;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const NewEvent& event = events[i];
    CLAWMARK_ASSIGN(const bool there, known->with(event.dedupe_key).step());
    known->reset();
    if (there) {
      ++out.known;
      continue;
    }
    const Hash256 payload_hash = sha256(payloads[i]);
    const std::int64_t seq = tail.seq + 1;
    const TimeMs now = clock_->now();
    const std::string_view lane = to_string(event.scope.lane);
    const Sealed sealed{seq,
                        event.version,
                        seq,
                        event.occurred,
                        now,
                        origin_,
                        event.type,
                        event.scope.agent,
                        event.scope.session_key,
                        lane,
                        event.scope.sender,
                        event.dedupe_key};
    tail.chain = chain_by_rule_2(tail.chain, sealed, payload_hash);
    CLAWMARK_TRY(insert
                     ->with(seq, origin_, seq, event.type, event.version, event.scope.agent,
                            event.scope.session_key, lane, event.scope.sender, event.dedupe_key,
                            event.occurred, now, payloads[i], payload_hash, tail.chain)
                     .run());
    tail.seq = seq;
    ++out.fresh;
  }
  out.head = {tail.seq};
  return out;
}

Result<std::vector<Event>> EventLog::read(Database& db, Seq after, std::size_t limit,
                                          std::span<const std::string_view> types) {
  if (types.size() == 1) return read_type(db, after, limit, types[0]);
  if (types.size() > 1) return read_types(db, after, limit, types);
  static const std::string sql = std::string(kSelectEvent) + "WHERE seq > ? ORDER BY seq LIMIT ?";
  CLAWMARK_ASSIGN(auto* query, db.cached(sql));
  return collect(query->with(after.value, limit));
}

Result<std::optional<Event>> EventLog::get(Database& db, Seq seq) {
  static const std::string sql = std::string(kSelectEvent) + "WHERE seq = ?";
  CLAWMARK_ASSIGN(auto* query, db.cached(sql));
  CLAWMARK_ASSIGN(auto events, collect(query->with(seq.value)));
  if (events.empty()) return std::optional<Event>();
  return std::optional<Event>(std::move(events.front()));
}

Result<std::optional<Seq>> EventLog::find(Database& db, std::string_view dedupe_key) {
  CLAWMARK_ASSIGN(const auto seq,
                  db.query_int("SELECT seq FROM events WHERE dedupe_key = ?", dedupe_key));
  std::optional<Seq> out;
  if (seq) out = Seq{*seq};
  return out;
}

Result<Seq> EventLog::head(Database& db) {
  CLAWMARK_ASSIGN(const auto seq, db.query_int("SELECT max(seq) FROM events"));
  return Seq{seq.value_or(0)};
}

Status EventLog::redact(Transaction& txn, Seq seq, std::string_view reason) {
  CLAWMARK_ASSIGN(const auto event, get(txn.db(), seq));
  if (!event) {
    return make_error(ErrorKind::kNotFound, "log", "no_event",
                      "there is no event " + std::to_string(seq.value));
  }
  if (!event->redacted) {
    CLAWMARK_TRY(txn.db().run("UPDATE events SET payload = ?, redacted = 1 WHERE seq = ?",
                              kRedactedPayload, seq.value));
  }
  NewEvent note;
  note.type = event_type::kEventRedacted;
  note.scope = event->scope;
  note.dedupe_key = "redacted:" + std::to_string(seq.value);
  note.occurred = clock_->now();
  note.payload["seq"] = seq.value;
  note.payload["reason"] = std::string(reason);
  CLAWMARK_TRY(append(txn, note));
  return Ok{};
}

Result<LogCheck> EventLog::verify(Database& db) {
  CLAWMARK_ASSIGN(auto rows,
                  db.prepare("SELECT seq, type, payload, payload_hash, chain, redacted,"
                             " redacted = 0 OR EXISTS (SELECT 1 FROM events AS n WHERE"
                             " n.dedupe_key = 'redacted:' || e.seq AND n.type = 'event.redacted'),"
                             " origin_seq, version, occurred_ms, recorded_ms, origin, agent,"
                             " session_key, lane, sender, dedupe_key"
                             " FROM events AS e ORDER BY seq"));
  CLAWMARK_ASSIGN(const auto rule_2_from,
                  db.query_int("SELECT from_seq FROM chain_rules WHERE rule = 2"));
  LogCheck out;
  Hash256 chain;
  const auto bad = [&](std::int64_t seq) {
    if (!out.first_bad) out.first_bad = Seq{seq};
  };
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, rows.step());
    if (!row) break;
    const std::int64_t seq = rows.integer(0);
    ++out.events;
    if (out.dense && seq != out.events) {
      out.dense = false;
      bad(seq);
    }
    const Hash256 payload_hash = rows.hash(3);
    const Sealed sealed{seq,           rows.integer(8), rows.integer(7), rows.time(9),
                        rows.time(10), rows.text(11),   rows.text(1),    rows.text(12),
                        rows.text(13), rows.text(14),   rows.text(15),   rows.text(16)};
    chain = next_chain(chain, sealed, payload_hash, rule_2_from.value_or(1));
    const bool payload_ok = rows.integer(5) != 0
                                ? rows.text(2) == kRedactedPayload && rows.integer(6) != 0
                                : sha256(rows.text(2)) == payload_hash;
    if (!payload_ok || chain != rows.hash(4)) {
      out.chain_valid = false;
      bad(seq);
    }
    chain = rows.hash(4);  // one bad row does not make all after it bad
  }
  CLAWMARK_ASSIGN(const auto counted, db.query_int("SELECT events FROM log_counter"));
  if (counted != out.events) {
    out.dense = false;
    bad(out.events + 1);
  }
  return out;
}

Status EventLog::check_dense(Database& db) {
  CLAWMARK_ASSIGN(const Seq last, head(db));
  CLAWMARK_ASSIGN(const auto count, db.query_int("SELECT count(*) FROM events"));
  CLAWMARK_ASSIGN(const auto counted, db.query_int("SELECT events FROM log_counter"));
  const std::string numbers = "last number " + std::to_string(last.value) + ", rows " +
                              std::to_string(count.value_or(0)) + ", counted " +
                              std::to_string(counted.value_or(0));
  if (count != last.value) {
    return make_error(ErrorKind::kFatal, "log", "not_dense",
                      "events are missing from the log: " + numbers);
  }
  if (counted != last.value) {
    return make_error(ErrorKind::kFatal, "log", "cut_off",
                      "events are missing at the end of the log: " + numbers);
  }
  return Ok{};
}

}  // namespace clawmark
