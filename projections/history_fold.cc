// The fold that keeps a signature of each text in history.

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "log/event_log.h"
#include "projections/digest.h"
#include "projections/history.h"
#include "projections/history_grams.h"
#include "projections/rebuild.h"
#include "projections/tables.h"

namespace clawmark {
namespace {

constexpr std::string_view kPrefix = "history";
constexpr std::size_t kReadAtOnce = 2000;  // of the log, when it is checked

constexpr std::string_view kDdl = R"sql(
CREATE TABLE IF NOT EXISTS history_grams__g#(
  message INTEGER PRIMARY KEY, occurred_ms INTEGER NOT NULL, grams BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS history_grams__g#_time ON history_grams__g#(occurred_ms, message);
)sql";

constexpr std::array<std::string_view, 3> kTypes = {
    event_type::kMessageObserved, event_type::kMessageForgotten, event_type::kEventRedacted};

// What may ever be shown; where it stands is asked when it is.
bool is_history(const Event& event) {
  const std::string entry_class = get_string(event.payload, "class");
  const std::string noise = get_string(event.payload, "noise");
  return !event.redacted && (entry_class == "chat" || entry_class == "toolResult") &&
         (noise.empty() || noise == "command");
}

// Messages that ought to have a row once so much of the log is folded, ascending.
Result<std::vector<std::int64_t>> history_up_to(Database& db, Seq end) {
  std::vector<std::int64_t> seen, forgotten, out;
  for (Seq after{0}; after < end;) {
    CLAWMARK_ASSIGN(const auto events, EventLog::read(db, after, kReadAtOnce, kTypes));
    for (const Event& event : events) {
      if (event.seq > end) break;
      if (event.type == event_type::kMessageForgotten) {
        forgotten.push_back(get_int(event.payload, "message"));
      } else if (event.type == event_type::kMessageObserved && is_history(event)) {
        seen.push_back(event.seq.value);
      }
    }
    if (events.size() < kReadAtOnce) break;
    after = events.back().seq;
  }
  std::sort(forgotten.begin(), forgotten.end());
  std::set_difference(seen.begin(), seen.end(), forgotten.begin(), forgotten.end(),
                      std::back_inserter(out));
  return out;
}

class HistoryProjection final : public Projection {
 public:
  HistoryProjection(BodyStore& bodies, Presentable presentable)
      : bodies_(bodies), presentable_(std::move(presentable)) {}

  std::string_view name() const override { return "history"; }
  int fold_version() const override { return 1; }
  std::string ddl(int generation) const override {
    return generation_sql(kDdl, kPrefix, generation);
  }
  std::string views(int) const override { return {}; }
  std::string drop(int generation) const override {
    return generation_sql("DROP TABLE IF EXISTS history_grams__g#;", kPrefix, generation);
  }
  std::span<const std::string_view> types() const override { return kTypes; }
  bool replayable() const override { return false; }

  Status prepare(Database& db, int, std::span<const Event> events) override {
    signatures_.clear();
    std::vector<Seq> wanted;
    for (const Event& event : events) {
      if (event.type == event_type::kMessageObserved && is_history(event)) {
        wanted.push_back(event.seq);
      }
    }
    if (wanted.empty()) return Ok{};
    CLAWMARK_ASSIGN(const auto bodies, bodies_.get(db, wanted));
    for (std::size_t i = 0; i < wanted.size() && i < bodies.size(); ++i) {
      if (bodies[i].state == BodyState::kGone) continue;
      signatures_[wanted[i].value] = gram_signature(presentable_(bodies[i].text));
    }
    return Ok{};
  }

  Status apply(Transaction& txn, int generation, std::span<const Event> events) override {
    Tables tables(txn.db(), kPrefix, generation);
    for (const Event& event : events) {
      if (event.type == event_type::kMessageObserved) {
        if (is_history(event)) CLAWMARK_TRY(put(tables, event));
      } else {
        const bool redacted = event.type == event_type::kEventRedacted;
        CLAWMARK_TRY(tables.run("DELETE FROM history_grams__g# WHERE message = ?1",
                                get_int(event.payload, redacted ? "seq" : "message")));
      }
    }
    signatures_.clear();
    return Ok{};
  }

  Result<std::vector<std::string>> check(Database& db, int generation) const override {
    CLAWMARK_ASSIGN(const Seq end, folded_through(db, name()));
    CLAWMARK_ASSIGN(const auto wanted, history_up_to(db, end));
    std::vector<std::int64_t> kept;
    Tables tables(db, kPrefix, generation);
    CLAWMARK_TRY(tables.each("SELECT message FROM history_grams__g# ORDER BY message",
                             [&](Statement& row) { kept.push_back(row.integer(0)); }));
    std::vector<std::int64_t> missing;
    std::set_difference(wanted.begin(), wanted.end(), kept.begin(), kept.end(),
                        std::back_inserter(missing));
    if (missing.empty()) return std::vector<std::string>{};
    return std::vector<std::string>{std::to_string(missing.size()) +
                                    " messages of history have no signature"};
  }

  // Not of the signatures: a text that is gone has none.
  Result<Hash256> digest(Database& db, int generation) const override {
    Sha256 hash;
    CLAWMARK_TRY(hash_rows(db,
                           generation_sql("SELECT message, occurred_ms FROM history_grams__g# "
                                          "ORDER BY message",
                                          kPrefix, generation),
                           2, hash));
    return hash.finish();
  }

 private:
  Status put(Tables& tables, const Event& event) {
    const auto found = signatures_.find(event.seq.value);
    const GramSignature none;
    const GramSignature& grams = found == signatures_.end() ? none : found->second;
    return tables.run(
        "INSERT OR IGNORE INTO history_grams__g#(message, occurred_ms, grams) VALUES(?1, ?2, ?3)",
        event.seq.value, event.occurred, std::span<const std::uint8_t>(grams));
  }

  BodyStore& bodies_;
  Presentable presentable_;
  std::unordered_map<std::int64_t, GramSignature> signatures_;
};

}  // namespace

std::unique_ptr<Projection> make_history_projection(BodyStore& bodies, Presentable presentable) {
  return std::make_unique<HistoryProjection>(bodies, std::move(presentable));
}

}  // namespace clawmark
