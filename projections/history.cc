#include "projections/history.h"

#include <algorithm>

#include "base/limits_history.h"
#include "projections/rebuild.h"
#include "projections/tables.h"
#include "projections/text_list.h"

namespace clawmark {
namespace {

constexpr std::size_t kLookEvery = 4096;  // rows between two looks at the clock

// Parameters: 1 agent, 2 audiences (JSON). Lanes that run without a person are closed here as
// everywhere.
constexpr char kInHistory[] =
    " m.agent = ?1 AND m.state = 'active' AND m.lane IN ('direct', 'group', 'unknown')"
    " AND m.class IN ('chat', 'toolResult') AND m.noise IN ('', 'command')"
    " AND m.audience IN (SELECT value FROM json_each(?2)) ";
constexpr char kEntryColumns[] = "SELECT m.seq, m.occurred_ms, m.role, m.chars FROM ";
// Parameter 3: sessions (JSON). Off the path in one session of a conversation is off the path of
// all of it. A CROSS JOIN keeps the order: the conversation's messages are looked up one by one,
// not all messages looked through.
constexpr char kOfSessions[] =
    "(SELECT s.message FROM message_sessions s WHERE s.agent = ?1 AND s.session_id IN (SELECT value"
    " FROM json_each(?3)) GROUP BY s.message HAVING min(s.active)) t CROSS JOIN messages m ON"
    " m.seq = t.message AND";
constexpr char kInOrder[] = " ORDER BY m.occurred_ms, m.seq";

Result<std::vector<HistoryEntry>> read_entries(Statement& statement) {
  std::vector<HistoryEntry> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) break;
    out.push_back(
        {{statement.integer(0)}, statement.time(1), statement.integer(3), statement.string(2)});
  }
  statement.reset();
  return out;
}

// One pass over a table of candidates: (message, occurred_ms[, signature]).
Status collect(Statement& statement, const GramQuery& query, bool has_grams, GramScan& out) {
  for (std::size_t n = 1;; ++n) {
    CLAWMARK_ASSIGN(const bool row, statement.step());
    if (!row) break;
    if (n % kLookEvery == 0 && query.stop && query.stop()) {
      out.left = 1;  // how many is for the caller to count
      break;
    }
    ++out.looked_at;
    out.reached = {{statement.integer(0)}, statement.time(1)};
    if (has_grams && query.test && !query.test(statement.blob(2))) continue;
    out.candidates.push_back(out.reached);
  }
  statement.reset();
  return Ok{};
}

}  // namespace

Result<std::vector<HistoryEntry>> history_entries(Database& db, const HistoryScope& scope) {
  if (scope.audiences.empty()) return std::vector<HistoryEntry>{};
  if (!scope.sessions) {
    CLAWMARK_ASSIGN(Statement * all, db.cached(std::string(kEntryColumns) + "messages m WHERE" +
                                               kInHistory + kInOrder));
    return read_entries(all->with(scope.agent, text_list(scope.audiences)));
  }
  CLAWMARK_ASSIGN(Statement * some,
                  db.cached(std::string(kEntryColumns) + kOfSessions + kInHistory + kInOrder));
  return read_entries(
      some->with(scope.agent, text_list(scope.audiences), text_list(*scope.sessions)));
}

Result<std::int64_t> history_count(Database& db, const HistoryScope& scope) {
  if (scope.audiences.empty() || !scope.sessions) return std::int64_t{0};
  const auto count = [&](const std::string& sql) -> Result<std::int64_t> {
    CLAWMARK_ASSIGN(Statement * statement, db.cached(sql));
    statement->with(scope.agent, text_list(scope.audiences), text_list(*scope.sessions));
    CLAWMARK_TRY(statement->step());
    const std::int64_t out = statement->integer(0);
    statement->reset();
    return out;
  };
  CLAWMARK_ASSIGN(const std::int64_t told,
                  count("SELECT coalesce(sum(messages), 0) FROM sessions WHERE agent = ?1 AND ?2 "
                        "IS NOT NULL AND session_id IN (SELECT value FROM json_each(?3))"));
  if (told <= kHistoryCountMax) {
    return count(std::string("SELECT count(*) FROM ") + kOfSessions + kInHistory);
  }
  CLAWMARK_ASSIGN(
      const std::int64_t any,
      count(std::string("SELECT EXISTS(SELECT 1 FROM message_sessions s CROSS JOIN messages m ON "
                        "m.seq = s.message WHERE s.agent = ?1 AND s.session_id IN (SELECT value "
                        "FROM json_each(?3)) AND") +
            kInHistory + ")"));
  return any == 0 ? 0 : told;
}

Result<std::int64_t> session_held(Database& db, std::string_view agent,
                                  std::string_view session_id) {
  CLAWMARK_ASSIGN(Statement * statement,
                  db.cached("SELECT count(*) FROM (SELECT 1 FROM message_sessions s CROSS JOIN "
                            "messages m ON m.seq = s.message WHERE s.agent = ?1 AND s.session_id = "
                            "?2 AND s.active AND m.class IN ('chat', 'toolResult') LIMIT ?3)"));
  statement->with(agent, session_id, kHistoryCountMax);
  CLAWMARK_TRY(statement->step());
  const std::int64_t out = statement->integer(0);
  statement->reset();
  if (out < kHistoryCountMax) return out;
  CLAWMARK_ASSIGN(const auto told,
                  db.query_int("SELECT messages FROM sessions WHERE agent = ?1 AND session_id = ?2",
                               agent, session_id));
  return std::max(out, told.value_or(0));
}

Result<std::vector<std::string>> sessions_named(Database& db, std::string_view agent,
                                                std::string_view key_or_id) {
  CLAWMARK_ASSIGN(Statement * statement,
                  db.cached("SELECT DISTINCT session_id FROM sessions WHERE agent = ?1 AND "
                            "(session_key = ?2 OR session_id = ?2) ORDER BY first_ms, session_id"));
  statement->with(agent, key_or_id);
  std::vector<std::string> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, statement->step());
    if (!row) break;
    out.push_back(statement->string(0));
  }
  statement->reset();
  return out;
}

Result<std::optional<HistoryRow>> history_row(Database& db, const HistoryScope& scope,
                                              Seq message) {
  CLAWMARK_ASSIGN(Statement * statement,
                  db.cached(std::string("SELECT m.seq, m.occurred_ms, m.role, m.speaker, "
                                        "m.session_id, m.session_key FROM messages m WHERE "
                                        "m.seq = ?3 AND") +
                            kInHistory));
  CLAWMARK_ASSIGN(const bool found,
                  statement->with(scope.agent, text_list(scope.audiences), message.value).step());
  std::optional<HistoryRow> out;
  if (found) {
    out = HistoryRow{{statement->integer(0)}, statement->time(1),   statement->string(2),
                     statement->string(3),    statement->string(4), statement->string(5)};
  }
  statement->reset();
  return out;
}

Result<GramScan> scan_grams(Database& db, const GramQuery& query) {
  GramScan out;
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "history"));
  Tables tables(db, "history", generation);
  const std::int64_t since = query.since.value;
  const std::int64_t before = query.before.value == 0 ? INT64_MAX : query.before.value;
  out.by_number = query.test != nullptr && query.since.value == 0 && query.before.value == 0;
  if (query.below.value != 0 && !out.by_number) {
    return make_error(ErrorKind::kInvalid, "history", "bad_cursor",
                      "this cursor belongs to another search");
  }
  const std::int64_t below = query.below.value == 0 ? INT64_MAX : query.below.value;
  CLAWMARK_ASSIGN(const auto folded,
                  tables.query_int("SELECT max(message) FROM history_grams__g#"));
  CLAWMARK_ASSIGN(Statement * fresh,
                  db.cached("SELECT seq, occurred_ms FROM messages WHERE seq > ?1 AND occurred_ms "
                            ">= ?2 AND occurred_ms < ?3 AND seq < ?4 ORDER BY seq DESC"));
  GramQuery all_fresh = query;  // by time they lie among the others: they are not to be cut
  if (!out.by_number) all_fresh.stop = nullptr;
  CLAWMARK_TRY(
      collect(fresh->with(folded.value_or(0), since, before, below), all_fresh, false, out));
  if (out.left == 0) {
    // Without a test newest first, by the index, so that the first page needs a few rows only.
    const char* sql =
        query.test == nullptr
            ? "SELECT message, occurred_ms FROM history_grams__g# WHERE occurred_ms >= ?1 AND "
              "occurred_ms < ?2 AND message < ?3 ORDER BY occurred_ms DESC, message DESC LIMIT "
              "20000"
        : out.by_number
            ? "SELECT message, occurred_ms, grams FROM history_grams__g# WHERE occurred_ms >= ?1 "
              "AND occurred_ms < ?2 AND message < ?3 ORDER BY message DESC"
            : "SELECT message, occurred_ms, grams FROM history_grams__g# WHERE occurred_ms >= ?1 "
              "AND occurred_ms < ?2 AND message < ?3 ORDER BY occurred_ms DESC, message DESC";
    CLAWMARK_ASSIGN(Statement * statement, tables.get(sql));
    CLAWMARK_TRY(collect(statement->with(since, before, below), query, query.test != nullptr, out));
  }
  if (out.left != 0 || query.test == nullptr) {
    CLAWMARK_ASSIGN(const auto all,
                    tables.query_int("SELECT count(*) FROM history_grams__g# WHERE occurred_ms >= "
                                     "?1 AND occurred_ms < ?2 AND message < ?3",
                                     since, before, below));
    out.left = std::max<std::int64_t>(out.left, all.value_or(0) - out.looked_at);
  }
  if (out.by_number && (out.left > 0 || query.below.value != 0)) return out;
  std::sort(out.candidates.begin(), out.candidates.end(),
            [](const GramCandidate& a, const GramCandidate& b) {
              return a.at != b.at ? a.at > b.at : a.message > b.message;
            });
  return out;
}

Result<std::vector<HistoryEntry>> filter_by_grams(Database& db, std::vector<HistoryEntry> entries,
                                                  const GramTest& test) {
  if (!test) return entries;
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "history"));
  Tables tables(db, "history", generation);
  std::vector<HistoryEntry> out;
  for (HistoryEntry& entry : entries) {
    bool may = true;  // not folded yet: may be anything
    CLAWMARK_TRY(tables.each(
        "SELECT grams FROM history_grams__g# WHERE message = ?1",
        [&](Statement& row) { may = test(row.blob(0)); }, entry.message.value));
    if (may) out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace clawmark
