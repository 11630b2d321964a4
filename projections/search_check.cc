// Whether the tables of the search index fit the log and each other.

#include "projections/search_check.h"

#include <algorithm>

#include "log/event_log.h"
#include "projections/rebuild.h"
#include "projections/search_index.h"
#include "projections/tables.h"

namespace clawmark {
namespace {

constexpr std::size_t kReadAtOnce = 2000;

// While a table for this connection alone is made and dropped again: also one that may only read
// has such tables, and the file stays as it is.
class OwnTables {
 public:
  explicit OwnTables(Database& db) : db_(db) {
    const auto set = db_.query_int("PRAGMA query_only");
    was_ = set.ok() && set->value_or(0) == 1;
    if (was_) (void)db_.exec("PRAGMA query_only = OFF");
  }
  ~OwnTables() {
    if (was_) (void)db_.exec("PRAGMA query_only = ON");
  }
  OwnTables(const OwnTables&) = delete;
  OwnTables& operator=(const OwnTables&) = delete;

 private:
  Database& db_;
  bool was_ = false;
};

Result<std::int64_t> number(Database& db, int generation, std::string_view sql) {
  CLAWMARK_ASSIGN(const auto value, db.query_int(generation_sql(sql, "search", generation)));
  return value.value_or(0);
}

struct Sum {
  std::string_view what, sql;  // how much is wrong; 0: well
};
constexpr Sum kSums[] = {
    {"rows of messages that are not in the log",
     "SELECT count(*) FROM search_docs__g# WHERE message NOT IN (SELECT seq FROM events)"},
    {"tokens more or less than its messages have",
     "SELECT coalesce((SELECT sum(tokens) FROM search_docs__g# WHERE state IN ('indexed', 'masked',"
     " 'pending')), 0) - coalesce((SELECT tokens FROM search_stats__g#), 0)"},
    {"tokens more or less than its conversations have",
     "SELECT coalesce((SELECT sum(user_tokens + agent_tokens) FROM search_talks__g#), 0) -"
     " coalesce((SELECT tokens FROM search_stats__g#), 0)"},
    {"hidden messages that it shows",
     "SELECT count(*) FROM search_docs__g# WHERE state IN ('masked', 'pending') AND message NOT IN"
     " (SELECT message FROM search_hidden__g#)"},
    {"messages hidden that are to be found",
     "SELECT count(*) FROM search_hidden__g# WHERE message IN (SELECT message FROM search_docs__g#"
     " WHERE state = 'indexed')"},
};

// Every word with the number of its rows, as the full-text index has it, against what is counted
// beside it. Reads all of that index.
constexpr char kWordsAmiss[] =
    "SELECT (SELECT count(*) FROM temp.search_words__g# w LEFT JOIN search_terms__g# t ON t.term ="
    " w.term WHERE coalesce(t.rows, 0) <> w.doc) + (SELECT count(*) FROM search_terms__g# t WHERE"
    " t.rows <> 0 AND t.term NOT IN (SELECT term FROM temp.search_words__g#))";

Result<std::int64_t> words_amiss(Database& db, int generation) {
  const OwnTables own(db);
  const auto sql = [&](std::string_view text) {
    return generation_sql(text, "search", generation);
  };
  CLAWMARK_TRY(db.exec(sql("DROP TABLE IF EXISTS temp.search_words__g#")));
  CLAWMARK_TRY(
      db.exec(sql("CREATE VIRTUAL TABLE temp.search_words__g# USING"
                  " fts5vocab('main', 'search_fts__g#', 'row')")));
  Result<std::int64_t> amiss = std::int64_t{0};
  {
    // Not kept by the connection: the table goes.
    auto statement = db.prepare(sql(kWordsAmiss));
    if (!statement.ok()) {
      amiss = statement.error();
    } else if (const auto row = statement->step(); !row.ok()) {
      amiss = row.error();
    } else {
      amiss = statement->integer(0);
    }
  }
  CLAWMARK_TRY(db.exec(sql("DROP TABLE temp.search_words__g#")));
  return amiss;
}

// Messages of the log up to the cursor that ought to have a row and have none.
Result<std::int64_t> missing_rows(Database& db, int generation) {
  constexpr std::string_view kTypes[] = {event_type::kMessageObserved};
  CLAWMARK_ASSIGN(const Seq end, folded_through(db, "search"));
  Tables tables(db, "search", generation);
  std::int64_t missing = 0;
  for (Seq after{0}; after < end;) {
    CLAWMARK_ASSIGN(const auto events, EventLog::read(db, after, kReadAtOnce, kTypes));
    for (const Event& event : events) {
      if (event.seq > end || event.redacted || !is_search_candidate(event)) continue;
      CLAWMARK_ASSIGN(
          const auto row,
          tables.query_int("SELECT 1 FROM search_docs__g# WHERE message = ?1", event.seq.value));
      missing += row ? 0 : 1;
    }
    if (events.size() < kReadAtOnce) break;
    after = events.back().seq;
  }
  return missing;
}

}  // namespace

bool is_search_candidate(const Event& observed) {
  const std::string role = get_string(observed.payload, "role");
  return (role == "user" || role == "assistant") &&
         get_string(observed.payload, "class") == "chat" &&
         get_string(observed.payload, "noise").empty() &&
         (observed.scope.lane == Lane::kDirect || observed.scope.lane == Lane::kGroup ||
          observed.scope.lane == Lane::kUnknown);
}

Result<std::vector<std::string>> check_search(Database& db, int generation) {
  std::vector<std::string> out;
  CLAWMARK_ASSIGN(const std::int64_t missing, missing_rows(db, generation));
  if (missing > 0) out.push_back(std::to_string(missing) + " messages have no row in the index");
  for (const Sum& sum : kSums) {
    CLAWMARK_ASSIGN(const std::int64_t wrong, number(db, generation, sum.sql));
    if (wrong != 0) out.push_back(std::to_string(wrong) + " " + std::string(sum.what));
  }
  const auto amiss = words_amiss(db, generation);
  if (!amiss.ok()) {
    if (amiss.error().kind == ErrorKind::kRetriable) return amiss.error();
    out.push_back("the full-text index is damaged: " + describe(amiss.error()));
  } else if (*amiss > 0) {
    out.push_back(std::to_string(*amiss) +
                  " words stand in the full-text index as often as nobody counted");
  }
  return out;
}

}  // namespace clawmark
