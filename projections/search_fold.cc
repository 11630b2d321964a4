// The fold that keeps the search index: which messages are in it, which are hidden, and the words'
// frequencies.

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "projections/digest.h"
#include "projections/projection.h"
#include "projections/search.h"
#include "projections/search_check.h"
#include "projections/search_cues.h"
#include "projections/search_index.h"
#include "projections/search_tables.h"
#include "projections/standing.h"
#include "projections/tables.h"

namespace clawmark {
namespace {

constexpr std::string_view kPrefix = "search";

constexpr std::array<std::string_view, 8> kTypes = {
    event_type::kMessageObserved,  event_type::kMessageSighted, event_type::kSessionBranch,
    event_type::kSessionDeleted,   event_type::kEventRedacted,  event_type::kMessageForgotten,
    event_type::kSessionForgotten, event_type::kPersonForgotten};

using Texts = std::unordered_map<std::int64_t, std::string>;

class SearchFold {
 public:
  SearchFold(Database& db, int generation, const Texts& texts)
      : tables_(db, kPrefix, generation), ledger_(tables_), texts_(texts) {}

  // Messages whose texts the events will need.
  Result<std::vector<Seq>> wanted(std::span<const Event> events) {
    std::vector<Seq> out;
    for (const Event& event : events) {
      if (event.redacted) continue;
      if (event.type == event_type::kMessageObserved && is_search_candidate(event)) {
        out.push_back(event.seq);
      } else if (event.type == event_type::kMessageSighted) {
        const Seq message{get_int(event.payload, "message")};
        CLAWMARK_ASSIGN(const auto state, state_of(message));
        if (state == "removed" || state == "gone") out.push_back(message);
      } else if (event.type == event_type::kSessionDeleted) {
        CLAWMARK_ASSIGN(
            const auto messages,
            ledger_.session_messages(event.scope.agent, get_string(event.payload, "session_id")));
        out.insert(out.end(), messages.begin(), messages.end());
      } else if (event.type == event_type::kEventRedacted) {
        const Seq message{get_int(event.payload, "seq")};
        CLAWMARK_ASSIGN(const auto state, state_of(message));
        if (!state.empty()) out.push_back(message);
      }
    }
    return out;
  }

  Status fold(const Event& event) {
    if (event.redacted) return Ok{};
    if (event.type == event_type::kMessageObserved) return observed(event);
    if (event.type == event_type::kMessageSighted) return sighted(event);
    if (event.type == event_type::kSessionBranch) {
      CLAWMARK_ASSIGN(const auto changed, ledger_.branch(event));
      return restand(changed);
    }
    if (event.type == event_type::kSessionDeleted) {
      CLAWMARK_ASSIGN(
          const auto changed,
          ledger_.remove_session(event.scope.agent, get_string(event.payload, "session_id")));
      return restand(changed);
    }
    if (event.type == event_type::kEventRedacted) return redacted(event);
    if (event.type == event_type::kMessageForgotten ||
        event.type == event_type::kSessionForgotten || event.type == event_type::kPersonForgotten) {
      CLAWMARK_ASSIGN(const auto changed, ledger_.forget(event));
      return restand(changed);
    }
    return Ok{};
  }

  // Word frequencies are gathered over the batch.
  Status flush() {
    for (const auto& [term, delta] : frequencies_) {
      if (delta == 0) continue;
      CLAWMARK_TRY(tables_.run(
          "INSERT INTO search_terms__g#(term, rows) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET "
          "rows = rows + excluded.rows",
          term, delta));
    }
    for (const auto& [talk, sums] : talks_) {
      CLAWMARK_TRY(tables_.run(
          "UPDATE search_talks__g# SET user_texts = user_texts + ?2, user_tokens = user_tokens + "
          "?3, agent_texts = agent_texts + ?4, agent_tokens = agent_tokens + ?5 WHERE talk = ?1",
          talk, sums[0], sums[1], sums[2], sums[3]));
    }
    if (rows_ == 0 && tokens_ == 0) return Ok{};
    return tables_.run(
        "INSERT INTO search_stats__g#(id, rows, tokens) VALUES(1, ?1, ?2) ON CONFLICT DO UPDATE "
        "SET rows = rows + excluded.rows, tokens = tokens + excluded.tokens",
        rows_, tokens_);
  }

 private:
  Result<std::string> state_of(Seq message) {
    std::string state;
    CLAWMARK_TRY(tables_.each(
        "SELECT state FROM search_docs__g# WHERE message = ?1",
        [&](Statement& row) { state = row.string(0); }, message.value));
    return state;
  }

  Status set_state(Seq message, const char* state) {
    return tables_.run("UPDATE search_docs__g# SET state = ?2 WHERE message = ?1", message.value,
                       state);
  }
  Status hide(Seq message) {
    return tables_.run("INSERT OR IGNORE INTO search_hidden__g#(message) VALUES(?1)",
                       message.value);
  }
  Status show(Seq message) {
    return tables_.run("DELETE FROM search_hidden__g# WHERE message = ?1", message.value);
  }

  Status observed(const Event& event) {
    CLAWMARK_TRY(ledger_.observe(event));
    if (!is_search_candidate(event)) return Ok{};
    const std::string session_id = get_string(event.payload, "session_id");
    CLAWMARK_TRY(ledger_.sight(event.seq, event.scope.agent, session_id,
                               get_string(event.payload, "session_key")));
    CLAWMARK_ASSIGN(const std::int64_t place, next_place(event.scope.agent, session_id));
    const unsigned cues = get_string(event.payload, "role") == "assistant" ? kCueAssistant : 0U;
    CLAWMARK_TRY(
        tables_.run("INSERT INTO search_docs__g#(message, state, text_hash, place, day, speaker, "
                    "cues, tokens) VALUES(?1, 'removed', x'', ?2, ?3, ?4, ?5, 0)",
                    event.seq.value, place, event.occurred.value / kDayMs,
                    cues == 0 ? speaker_tokens(get_string(event.payload, "speaker")) : "",
                    static_cast<std::int64_t>(cues)));
    return restand({event.seq});
  }

  Result<std::int64_t> next_place(std::string_view agent, std::string_view session_id) {
    std::int64_t talk = 0, turn = 0;
    CLAWMARK_TRY(tables_.each(
        "INSERT INTO search_talks__g#(agent, session_id, turns) VALUES(?1, ?2, 1) ON CONFLICT DO "
        "UPDATE SET turns = turns + 1 RETURNING talk, turns",
        [&](Statement& row) {
          talk = row.integer(0);
          turn = row.integer(1);
        },
        agent, session_id));
    return search_place(talk, turn);
  }

  Status sighted(const Event& event) {
    const Seq message{get_int(event.payload, "message")};
    CLAWMARK_ASSIGN(const auto state, state_of(message));
    if (state.empty()) return Ok{};
    CLAWMARK_TRY(ledger_.sight(message, event.scope.agent, get_string(event.payload, "session_id"),
                               get_string(event.payload, "session_key")));
    return restand({message});
  }

  Status restand(const std::vector<Seq>& messages) {
    for (const Seq message : messages) {
      CLAWMARK_ASSIGN(const auto state, state_of(message));
      if (state.empty()) continue;
      CLAWMARK_ASSIGN(const Standing standing, ledger_.standing(message));
      if (standing == Standing::kDeleted) {
        CLAWMARK_TRY(take_out(message, state));
      } else {
        CLAWMARK_TRY(put_in(message, state, standing == Standing::kActive));
      }
    }
    return Ok{};
  }

  Status put_in(Seq message, const std::string& state, bool visible) {
    if (state == "removed" || state == "gone") {
      const auto text = texts_.find(message.value);
      if (text == texts_.end()) return set_state(message, "gone");
      CLAWMARK_TRY(index(message, text->second, 1));
      CLAWMARK_TRY(tables_.run("UPDATE search_docs__g# SET text_hash = ?2 WHERE message = ?1",
                               message.value, sha256(text->second)));
    }
    CLAWMARK_TRY(visible ? show(message) : hide(message));
    return set_state(message, visible ? "indexed" : "masked");
  }

  // Hidden at once. Its words leave the index too when the very text that was put in is at hand.
  Status take_out(Seq message, const std::string& state) {
    if (state == "removed" || state == "pending") return Ok{};
    if (state == "gone") return set_state(message, "removed");
    CLAWMARK_TRY(hide(message));
    const auto text = texts_.find(message.value);
    CLAWMARK_ASSIGN(const bool same, is_indexed_text(message, text));
    if (!same) return set_state(message, "pending");
    CLAWMARK_TRY(index(message, text->second, -1));
    CLAWMARK_TRY(show(message));
    CLAWMARK_TRY(tables_.run("UPDATE search_docs__g# SET text_hash = x'' WHERE message = ?1",
                             message.value));
    return set_state(message, "removed");
  }

  Result<bool> is_indexed_text(Seq message, Texts::const_iterator text) {
    if (text == texts_.end()) return false;
    const Hash256 hash = sha256(text->second);
    CLAWMARK_ASSIGN(const auto same,
                    tables_.query_int("SELECT 1 FROM search_docs__g# WHERE message = ?1 AND "
                                      "text_hash = ?2",
                                      message.value, hash));
    return same.has_value();
  }

  Status redacted(const Event& event) {
    const Seq message{get_int(event.payload, "seq")};
    CLAWMARK_ASSIGN(const auto state, state_of(message));
    if (state.empty()) return Ok{};
    CLAWMARK_TRY(take_out(message, state));
    CLAWMARK_ASSIGN(const auto after, state_of(message));
    if (after == "pending") return Ok{};
    return tables_.run("DELETE FROM search_docs__g# WHERE message = ?1", message.value);
  }

  struct Doc {
    std::int64_t place = 0, day = 0;
    std::string speaker;
    unsigned cues = 0;
  };
  Result<Doc> doc_of(Seq message) {
    Doc doc;
    CLAWMARK_TRY(tables_.each(
        "SELECT place, day, speaker, cues FROM search_docs__g# WHERE message = ?1",
        [&](Statement& row) {
          doc = {row.integer(0), row.integer(1), row.string(2),
                 static_cast<unsigned>(row.integer(3))};
        },
        message.value));
    return doc;
  }

  // sign 1 puts the chunks of a text in, -1 takes them out (contentless FTS5 needs the text for
  // that).
  Status index(Seq message, std::string_view text, int sign) {
    CLAWMARK_ASSIGN(Doc doc, doc_of(message));
    std::vector<std::string> beside = day_terms(doc.day);
    const std::string_view prefix = speaker_prefix(text);
    // A name that the text itself does not say is found as if it did.
    if (sign > 0 && !prefix.empty()) doc.speaker = speaker_tokens(prefix);
    if (prefix.empty() && !doc.speaker.empty()) {
      for (std::size_t at = 0; at < doc.speaker.size();) {
        const std::size_t end = std::min(doc.speaker.find(' ', at), doc.speaker.size());
        beside.push_back(doc.speaker.substr(at, end - at));
        at = end + 1;
      }
    }
    std::int64_t tokens_in_all = 0;
    const auto chunks = search_chunks(text);
    for (std::size_t ordinal = 0; ordinal < chunks.size(); ++ordinal) {
      CLAWMARK_ASSIGN(const std::int64_t tokens,
                      index_chunk(doc.place, ordinal, chunks[ordinal], beside, sign));
      tokens_in_all += tokens;
    }
    tokens_ += sign * tokens_in_all;
    auto& sums = talks_[talk_of_place(doc.place)];
    const std::size_t side = (doc.cues & kCueAssistant) != 0 ? 2 : 0;
    sums[side] += sign;
    sums[side + 1] += sign * tokens_in_all;
    return tables_.run(
        "UPDATE search_docs__g# SET speaker = ?2, cues = ?3, tokens = ?4 WHERE message = ?1",
        message.value, doc.speaker,
        static_cast<std::int64_t>((doc.cues & kCueAssistant) | text_cues(text)), tokens_in_all);
  }

  // Returns how many tokens the chunk has.
  Result<std::int64_t> index_chunk(std::int64_t place, std::size_t ordinal, std::string_view chunk,
                                   std::span<const std::string> beside, int sign) {
    const ChunkTokens tokens = chunk_tokens(chunk, beside);
    if (tokens.own == 0) return std::int64_t{0};
    const std::int64_t rowid = search_rowid(place, ordinal, tokens.own);
    const ChunkTokensScope scope(chunk, tokens);
    if (sign > 0) {
      CLAWMARK_TRY(
          tables_.run("INSERT INTO search_fts__g#(rowid, body) VALUES(?1, ?2)", rowid, chunk));
    } else {
      CLAWMARK_TRY(
          tables_.run("INSERT INTO search_fts__g#(search_fts__g#, rowid, body) "
                      "VALUES('delete', ?1, ?2)",
                      rowid, chunk));
    }
    const std::unordered_set<std::string_view> distinct(tokens.texts.begin(), tokens.texts.end());
    for (const auto term : distinct) frequencies_[std::string(term)] += sign;
    rows_ += sign;
    return static_cast<std::int64_t>(tokens.own);
  }

  Tables tables_;
  StandingLedger ledger_;
  const Texts& texts_;
  std::unordered_map<std::string, std::int64_t> frequencies_;
  std::unordered_map<std::int64_t, std::array<std::int64_t, 4>> talks_;
  std::int64_t rows_ = 0, tokens_ = 0;
};

class SearchProjection final : public Projection {
 public:
  SearchProjection(BodyStore& bodies, Presentable presentable)
      : bodies_(bodies), presentable_(std::move(presentable)) {}

  std::string_view name() const override { return "search"; }
  int fold_version() const override { return 3; }
  std::string ddl(int generation) const override {
    return generation_sql(kSearchDdl, kPrefix, generation) +
           generation_sql(StandingLedger::ddl(), kPrefix, generation);
  }
  std::string views(int) const override { return {}; }
  std::string drop(int generation) const override {
    return generation_sql(kSearchDropFts, kPrefix, generation) + drop_plain(generation);
  }
  std::span<const std::string_view> types() const override { return kTypes; }
  bool replayable() const override { return false; }

  Status prepare(Database& db, int generation, std::span<const Event> events) override {
    texts_.clear();
    SearchFold fold(db, generation, texts_);
    CLAWMARK_ASSIGN(const auto wanted, fold.wanted(events));
    if (wanted.empty()) return Ok{};
    CLAWMARK_ASSIGN(auto bodies, bodies_.get(db, wanted));
    for (std::size_t i = 0; i < wanted.size() && i < bodies.size(); ++i) {
      if (bodies[i].state == BodyState::kGone) continue;
      texts_[wanted[i].value] = presentable_(bodies[i].text);
    }
    return Ok{};
  }

  Status apply(Transaction& txn, int generation, std::span<const Event> events) override {
    SearchFold fold(txn.db(), generation, texts_);
    for (const Event& event : events) CLAWMARK_TRY(fold.fold(event));
    CLAWMARK_TRY(fold.flush());
    texts_.clear();
    return Ok{};
  }

  // Of what is in the index, not of how FTS5 keeps it.
  Result<Hash256> digest(Database& db, int generation) const override {
    Sha256 hash;
    CLAWMARK_TRY(hash_rows(db,
                           generation_sql("SELECT message, state, hex(text_hash) FROM "
                                          "search_docs__g# ORDER BY message",
                                          kPrefix, generation),
                           3, hash));
    return hash.finish();
  }

  // FTS5 cannot drop a table that it cannot open: then its entry and its shadow tables are taken
  // out one by one.
  Status drop_tables(Database& db, int generation) const override {
    CLAWMARK_TRY(db.exec(drop_plain(generation)));
    const auto dropped = db.exec(generation_sql(kSearchDropFts, kPrefix, generation));
    if (dropped.ok()) return Ok{};
    if (dropped.error().kind == ErrorKind::kRetriable) return dropped.error();
    return drop_damaged(db, generation);
  }

  Result<std::vector<std::string>> check(Database& db, int generation) const override {
    const auto sound = db.exec(
        generation_sql("INSERT INTO search_fts__g#(search_fts__g#) VALUES('integrity-check')",
                       kPrefix, generation));
    // On a connection that may not write the words are read all the same.
    if (!sound.ok() && sound.error().reason != "readonly") {
      if (sound.error().kind == ErrorKind::kRetriable) return sound.error();
      return std::vector<std::string>{"the full-text index is damaged: " + describe(sound.error())};
    }
    return check_search(db, generation);
  }

 private:
  static std::string drop_plain(int generation) {
    return generation_sql(kSearchDrop, kPrefix, generation) +
           generation_sql(StandingLedger::drop(), kPrefix, generation);
  }

  static Status drop_damaged(Database& db, int generation) {
    CLAWMARK_TRY(db.exec("PRAGMA writable_schema = ON"));
    auto removed = db.exec(
        generation_sql("DELETE FROM sqlite_schema WHERE type = 'table' AND name = 'search_fts__g#'",
                       kPrefix, generation));
    CLAWMARK_TRY(db.exec("PRAGMA writable_schema = RESET"));
    if (!removed.ok()) return removed;
    return db.exec(generation_sql(
        "DROP TABLE IF EXISTS search_fts__g#_data; DROP TABLE IF EXISTS search_fts__g#_idx;"
        "DROP TABLE IF EXISTS search_fts__g#_config; DROP TABLE IF EXISTS search_fts__g#_docsize;"
        "DROP TABLE IF EXISTS search_fts__g#_content;",
        kPrefix, generation));
  }

  BodyStore& bodies_;
  Presentable presentable_;
  Texts texts_;
};

}  // namespace

std::unique_ptr<Projection> make_search_projection(BodyStore& bodies, Presentable presentable) {
  return std::make_unique<SearchProjection>(bodies, std::move(presentable));
}

}  // namespace clawmark
