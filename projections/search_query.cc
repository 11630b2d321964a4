// Answering from the index. Cost is bounded by choosing words: a row of the index costs about a
// microsecond, so rare words choose the candidates, common ones only add to the score of those, and
// a question of common words alone is answered from the rows that hold all of them and from the
// newest rows.

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "projections/message_row.h"
#include "projections/rebuild.h"
#include "projections/search.h"
#include "projections/search_docs.h"
#include "projections/search_index.h"
#include "projections/search_score.h"
#include "projections/search_terms.h"
#include "projections/tables.h"

namespace clawmark {
namespace {

constexpr std::int64_t kRowsMax = 3000;      // of the index, that one question may rank
constexpr std::int64_t kRankRowsMax = 6000;  // of common words that only add to the score
constexpr std::size_t kWordsMax = 16;        // the rarest; a long prompt's further words say little
constexpr std::size_t kClockEvery = 64;      // rows between looks at the clock

// What may be shown at place ?1 of agent ?2, before it is looked at whose it is.
constexpr char kShownAt[] =
    " FROM search_docs__g# d JOIN messages m ON m.seq = d.message WHERE d.place = ?1 AND d.state = "
    "'indexed' AND m.recallable = 1 AND m.agent = ?2";

struct IndexStats {
  std::int64_t rows = 0, tokens = 0, newest = 0;
};

// The words that choose, and those that only rank.
struct Plan {
  std::vector<SearchTerm> must, choose, rank, never;
  std::int64_t rowid_min = 0;
};

class Deadline {
 public:
  Deadline(const LexicalQuery& query)
      : clock_(query.clock == nullptr ? system_ : *query.clock),
        end_(clock_.steady_ms() + query.deadline_ms) {}
  bool passed() const { return clock_.steady_ms() >= end_; }

 private:
  SystemClock system_;
  const Clock& clock_;
  std::int64_t end_;
};

class Search {
 public:
  Search(Database& db, int generation, const LexicalQuery& query)
      : db_(db), tables_(db, "search", generation), query_(query), deadline_(query) {}

  Result<LexicalAnswer> run() {
    auto terms = parse_search(query_);
    CLAWMARK_TRY(weigh(terms));
    std::vector<SearchTerm> live;
    for (auto& term : terms) {
      // A word that no row holds finds nothing; one that is required makes that the answer.
      if (term.rows > 0) {
        live.push_back(std::move(term));
      } else if (term.role == SearchTerm::Role::kMust) {
        return LexicalAnswer{};
      }
    }
    db_.set_progress([this] { return deadline_.passed(); });
    Status done = passes(live);
    db_.set_progress(nullptr);
    if (!done.ok() && done.error().reason == "interrupt") {
      cut_ = true;
    } else if (!done.ok()) {
      return done.error();
    }
    return answer();
  }

 private:
  Status weigh(std::vector<SearchTerm>& terms) {
    CLAWMARK_TRY(tables_.each(
        "SELECT rows, tokens, coalesce((SELECT max(place) FROM search_docs__g#), 0) FROM "
        "search_stats__g# WHERE id = 1",
        [&](Statement& row) { stats_ = {row.integer(0), row.integer(1), row.integer(2)}; }));
    for (auto& term : terms) {
      term.rows = stats_.rows;
      if (!term.prefix) {
        for (const auto& token : term.tokens) {
          CLAWMARK_ASSIGN(
              const auto rows,
              tables_.query_int("SELECT rows FROM search_terms__g# WHERE term = ?1", token));
          term.rows = std::min(term.rows, std::max<std::int64_t>(0, rows.value_or(0)));
          term.weight += idf(rows.value_or(0));
        }
      } else {
        term.rows = std::max<std::int64_t>(1, stats_.rows / 50);
        term.weight = idf(term.rows);
      }
    }
    return Ok{};
  }

  double idf(std::int64_t rows) const {
    const auto all = static_cast<double>(stats_.rows);
    const auto with = static_cast<double>(std::max<std::int64_t>(rows, 0));
    return std::log(1.0 + std::max(0.0, all - with + 0.5) / (with + 0.5));
  }

  Status passes(std::vector<SearchTerm>& terms) {
    Plan plan;
    for (auto& term : terms) {
      auto& group = term.role == SearchTerm::Role::kMust  ? plan.must
                    : term.role == SearchTerm::Role::kNot ? plan.never
                                                          : plan.choose;
      group.push_back(std::move(term));
    }
    required_ = !plan.must.empty() || !plan.never.empty();
    if (!plan.must.empty()) {
      plan.rank = std::exchange(plan.choose, {});
      limit_rows(plan, rarest(plan.must));
      return pass(plan);
    }
    if (plan.choose.empty()) return Ok{};
    std::sort(plan.choose.begin(), plan.choose.end(),
              [](const SearchTerm& a, const SearchTerm& b) { return a.rows < b.rows; });
    std::int64_t rows = 0;
    std::size_t chosen = 0;
    while (chosen < std::min(kWordsMax, plan.choose.size()) &&
           rows + plan.choose[chosen].rows <= kRowsMax) {
      rows += plan.choose[chosen++].rows;
    }
    if (chosen == 0) return common_only(plan);
    for (std::size_t i = chosen; i < plan.choose.size(); ++i) {
      rows += plan.choose[i].rows;
      if (i >= kWordsMax || rows > kRankRowsMax) break;
      plan.rank.push_back(std::move(plan.choose[i]));
    }
    plan.choose.resize(chosen);
    return pass(plan);
  }

  Status common_only(Plan& plan) {
    const std::int64_t least = plan.choose.front().rows;
    if (plan.choose.size() > 1) {
      Plan all = plan;
      all.must = std::exchange(all.choose, {});
      if (all.must.size() > 3) {
        all.rank.assign(all.must.begin() + 3, all.must.end());
        all.must.resize(3);
      }
      limit_rows(all, least / 4);
      CLAWMARK_TRY(pass(all));
    }
    std::int64_t rows = 0;
    for (const auto& term : plan.choose) rows += term.rows;
    limit_rows(plan, rows);
    return pass(plan);
  }

  static std::int64_t rarest(const std::vector<SearchTerm>& terms) {
    std::int64_t rows = terms.front().rows;
    for (const auto& term : terms) rows = std::min(rows, term.rows);
    return rows;
  }

  // Only the newest part of the index, when a pass would rank too many rows: talks are numbered as
  // they began.
  void limit_rows(Plan& plan, std::int64_t rows) const {
    if (rows <= kRowsMax) return;
    const double share = static_cast<double>(kRowsMax) / static_cast<double>(rows);
    const auto newest = static_cast<double>(stats_.newest);
    plan.rowid_min = search_rowid(static_cast<std::int64_t>(newest * (1 - share)), 0, 1);
  }

  static void join(std::string& out, const std::vector<SearchTerm>& terms, const char* by) {
    out += '(';
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i > 0) out += by;
      out += quote_term(terms[i]);
    }
    out += ')';
  }

  // `terms` gets the term of each phrase, in the order in which the expression names them.
  std::string expression(const Plan& plan, std::vector<int>& terms) {
    const auto name_all = [&](const std::vector<SearchTerm>& all, bool counts) {
      for (const auto& term : all) terms.push_back(counts ? index_of(term) : -1);
    };
    std::string out;
    const auto& chosen = plan.must.empty() ? plan.choose : plan.must;
    join(out, chosen, plan.must.empty() ? " OR " : " AND ");
    name_all(chosen, true);
    if (!plan.rank.empty()) {
      // True for every candidate; the further words only add to the score.
      std::vector<SearchTerm> any = plan.rank;
      any.insert(any.end(), chosen.begin(), chosen.end());
      out.insert(0, 1, '(');
      out += " AND ";
      join(out, any, " OR ");
      out += ')';
      name_all(plan.rank, true);
      name_all(chosen, false);
    }
    if (!plan.never.empty()) {
      out.insert(0, 1, '(');
      out += " NOT ";
      join(out, plan.never, " OR ");
      out += ')';
      name_all(plan.never, false);
    }
    return out;
  }

  // Of the terms that score, -1 when there are too many.
  int index_of(const SearchTerm& term) {
    for (std::size_t i = 0; i < scored_.size(); ++i) {
      if (scored_[i] == term.tokens) return static_cast<int>(i);
    }
    if (scored_.size() >= kScoredTermsMax) return -1;
    scored_.push_back(term.tokens);
    weights_.push_back(term.weight);
    return static_cast<int>(scored_.size()) - 1;
  }

  Status pass(const Plan& plan) {
    HitsCollector collector;
    const std::string match = expression(plan, collector.terms);
    CLAWMARK_ASSIGN(Statement * statement,
                    tables_.get("SELECT clawmark_hits(search_fts__g#) FROM search_fts__g# WHERE "
                                "search_fts__g# MATCH ?1 AND rowid >= ?2 ORDER BY rowid DESC"));
    statement->with(match, plan.rowid_min);
    const HitsCollectorScope scope(collector);
    auto stepped = collect(*statement);
    statement->reset();
    rows_.insert(rows_.end(), collector.rows.begin(), collector.rows.end());
    return stepped;
  }

  Status collect(Statement& statement) {
    for (std::size_t n = 1;; ++n) {
      CLAWMARK_ASSIGN(const bool row, statement.step());
      if (!row) return Ok{};
      if (n % kClockEvery == 0 && deadline_.passed()) {
        cut_ = true;
        return Ok{};
      }
    }
  }

  // Rows of two passes: each once.
  void merge_rows() {
    std::sort(rows_.begin(), rows_.end(),
              [](const TermHits& a, const TermHits& b) { return a.rowid < b.rowid; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (kept > 0 && rows_[kept - 1].rowid == rows_[i].rowid) {
        for (std::size_t t = 0; t < kScoredTermsMax; ++t) {
          rows_[kept - 1].hits[t] = std::max(rows_[kept - 1].hits[t], rows_[i].hits[t]);
        }
      } else {
        rows_[kept++] = rows_[i];
      }
    }
    rows_.resize(kept);
  }

  // Best first; walls and hidden messages are looked at until there are enough that pass, so that
  // what may not be shown takes nobody's place. What a message may gain from its neighbours it
  // gains only from those that may be shown.
  Result<LexicalAnswer> answer() {
    LexicalAnswer out;
    out.cut = cut_;
    merge_rows();
    const double average = static_cast<double>(stats_.tokens) /
                           static_cast<double>(std::max<std::int64_t>(stats_.rows, 1));
    ContextScorer scorer(weights_, average, query_.context && !required_, std::move(rows_));
    std::vector<PlaceScore> places = scorer.all();
    const auto worse = [](const PlaceScore& a, const PlaceScore& b) {
      return a.score != b.score ? a.score < b.score : a.place < b.place;
    };
    std::make_heap(places.begin(), places.end(), worse);
    while (!places.empty() && out.hits.size() < query_.limit) {
      std::pop_heap(places.begin(), places.end(), worse);
      const std::int64_t place = places.back().place;
      places.pop_back();
      CLAWMARK_ASSIGN(const Seq message, query_.with_rows ? whole_at(place) : shown_at(place));
      if (message.value == 0) continue;
      Status failed = Ok{};
      const double score = scorer.score(place, [&](std::int64_t near) {
        auto shown = shown_at(near);
        if (!shown.ok()) failed = shown.error();
        return shown.ok() && shown->value != 0;
      });
      CLAWMARK_TRY(failed);
      if (score > 0) out.hits.push_back({message, score});
    }
    std::stable_sort(out.hits.begin(), out.hits.end(), [](const auto& a, const auto& b) {
      return a.score != b.score ? a.score > b.score : a.message > b.message;
    });
    if (!query_.with_rows) return out;
    CueReader cues(tables_);
    for (const LexicalHit& hit : out.hits) {
      auto& [row, doc] = whole_.at(hit.message.value);
      CLAWMARK_ASSIGN(MessageCues known, cues.of(std::move(doc)));
      out.found.push_back({std::move(row), std::move(known)});
    }
    return out;
  }

  // The message at a place, when it may be shown to this caller; else 0.
  Result<Seq> shown_at(std::int64_t place) {
    const auto [entry, fresh] = shown_.try_emplace(place);
    if (!fresh) return entry->second;
    static const std::string kSelect =
        std::string("SELECT d.message, m.audience, m.occurred_ms") + kShownAt;
    Seq message;
    CLAWMARK_TRY(tables_.each(
        kSelect.c_str(),
        [&](Statement& row) {
          if (is_open(row.text(1), row.time(2))) message = {row.integer(0)};
        },
        place, query_.agent));
    CLAWMARK_TRY(check_sessions(message));
    return entry->second = message;
  }

  // The same, and what is known of it is kept.
  Result<Seq> whole_at(std::int64_t place) {
    static const std::string kSelect =
        std::string("SELECT ") + kMessageColumns + kDocColumns + kShownAt;
    if (const auto known = shown_.find(place); known != shown_.end() && known->second.value == 0) {
      return Seq{};
    }
    Seq message;
    CLAWMARK_TRY(tables_.each(
        kSelect.c_str(),
        [&](Statement& at) {
          MessageRow row = read_message_row(at);
          if (!is_open(row.audience, row.occurred)) return;
          message = row.seq;
          whole_.insert_or_assign(message.value, std::pair(std::move(row), read_search_doc(at)));
        },
        place, query_.agent));
    CLAWMARK_TRY(check_sessions(message));
    return shown_[place] = message;
  }

  bool is_open(std::string_view audience, TimeMs occurred) const {
    return std::find(query_.audiences.begin(), query_.audiences.end(), audience) !=
               query_.audiences.end() &&
           occurred >= query_.since && (query_.before.value == 0 || occurred < query_.before);
  }

  // Makes it 0 when it was seen in none of those asked for.
  Status check_sessions(Seq& message) {
    if (message.value == 0 || !query_.sessions) return Ok{};
    CLAWMARK_ASSIGN(const bool seen, seen_in_sessions(message));
    if (!seen) message = {};
    return Ok{};
  }

  Result<bool> seen_in_sessions(Seq message) {
    bool seen = false;
    CLAWMARK_TRY(tables_.each(
        "SELECT session_id FROM message_sessions WHERE message = ?1",
        [&](Statement& row) {
          seen = seen || std::find(query_.sessions->begin(), query_.sessions->end(), row.text(0)) !=
                             query_.sessions->end();
        },
        message.value));
    return seen;
  }

  Database& db_;
  Tables tables_;
  const LexicalQuery& query_;
  Deadline deadline_;
  IndexStats stats_;
  std::vector<std::vector<std::string>> scored_;  // tokens of each term that scores
  std::vector<double> weights_;                   // of each
  std::vector<TermHits> rows_;
  std::unordered_map<std::int64_t, Seq> shown_;                               // by place
  std::unordered_map<std::int64_t, std::pair<MessageRow, SearchDoc>> whole_;  // by message
  bool cut_ = false, required_ = false;
};

Result<LexicalAnswer> search_now(Database& db, const LexicalQuery& query) {
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "search"));
  return Search(db, generation, query).run();
}

}  // namespace

Result<LexicalAnswer> lexical_search(Database& db, const LexicalQuery& query) {
  if (query.limit == 0 || query.audiences.empty()) return LexicalAnswer{};
  auto found = search_now(db, query);
  if (found.ok()) return found;
  LexicalAnswer out;
  out.degraded = "word search cannot answer (" + found.error().stage + "/" + found.error().reason +
                 "): run clawmark rebuild search";
  return out;
}

Result<SearchCounts> search_counts(Database& db) {
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "search"));
  Tables tables(db, "search", generation);
  SearchCounts out;
  CLAWMARK_TRY(tables.each("SELECT state, count(*) FROM search_docs__g# GROUP BY state",
                           [&](Statement& row) {
                             const auto state = row.text(0);
                             if (state == "indexed") out.indexed = row.integer(1);
                             if (state == "masked") out.masked = row.integer(1);
                             if (state == "pending") out.pending = row.integer(1);
                             if (state == "gone") out.gone = row.integer(1);
                           }));
  return out;
}

Result<std::int64_t> count_unread(Database& db) {
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "search"));
  Tables tables(db, "search", generation);
  // The second condition is that of the index of what is not indexed: SQLite does not conclude it.
  CLAWMARK_ASSIGN(
      const auto count,
      tables.query_int(
          "SELECT count(*) FROM search_docs__g# d WHERE state = 'gone' "
          "AND state <> 'indexed' AND EXISTS (SELECT 1 FROM locators l WHERE l.message = "
          "d.message)"));
  return count.value_or(0);
}

}  // namespace clawmark
