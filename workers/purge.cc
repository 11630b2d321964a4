#include "workers/purge.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/limits.h"
#include "base/utf8.h"
#include "log/graph_events.h"
#include "projections/forgetting.h"
#include "projections/rebuild.h"
#include "workers/purge_graph.h"

namespace clawmark {
namespace {

constexpr char kMetaKey[] = "withdrawn_seq";
constexpr std::size_t kScan = 500;  // events read at a time
constexpr std::size_t kUntombedMax = 5000;
constexpr std::size_t kTellingChars = 4;  // a shorter value says nothing within a quote
constexpr std::string_view kScanned[] = {event_type::kExtractionCompleted,
                                         event_type::kGraphCompleted, event_type::kSummaryCompleted,
                                         event_type::kBatchParked, event_type::kFileExplored};
constexpr std::string_view kForgetting[] = {
    event_type::kMessageForgotten, event_type::kSessionForgotten, event_type::kPersonForgotten,
    event_type::kFactForgotten, event_type::kSessionDeleted};

// What the log says is forgotten.
struct Gone {
  std::vector<MessageRow> messages;        // all with a tombstone whose text may still be here
  std::unordered_set<std::int64_t> whole;  // of them, those that no fact may rest on
  std::set<std::pair<std::int64_t, std::int64_t>> facts;  // (event, ordinal) of an extraction
  std::set<std::int64_t> stated;                          // events
  std::vector<std::string> values;                        // of those facts, case folded
};

Status fold_all(Database& db, std::span<Projection* const> projections, TimeMs now) {
  for (Projection* projection : projections) {
    CLAWMARK_ASSIGN(const int generation, live_generation(db, projection->name()));
    for (;;) {
      CLAWMARK_ASSIGN(const auto passed, fold_step(db, *projection, generation, kFoldBatch, now));
      if (passed == 0) break;
    }
  }
  return Ok{};
}

// Gives a tombstone to every message that a rule or a deletion at the source took away.
Status entomb(Store& store, TimeMs before, TimeMs now) {
  for (;;) {
    CLAWMARK_ASSIGN(auto rows, untombed(store.db(), before, kUntombedMax));
    if (rows.empty()) return Ok{};
    CLAWMARK_ASSIGN(const auto events, message_tombstones(store.db(), rows, false, "source", now));
    if (events.empty()) return Ok{};
    CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db()));
    for (std::size_t at = 0; at < events.size(); at += kEventBatchMax) {
      const std::size_t size = std::min(kEventBatchMax, events.size() - at);
      CLAWMARK_TRY(store.log().append(txn, std::span(events).subspan(at, size)));
    }
    CLAWMARK_TRY(txn.commit());
    if (rows.size() < kUntombedMax) return Ok{};
  }
}

Status find_messages(Database& db, Gone& gone) {
  CLAWMARK_ASSIGN(auto query,
                  db.prepare("SELECT e.seq, max(coalesce(t.payload ->> '$.keep_facts', 0) = 0)"
                             " FROM events t JOIN events e ON e.dedupe_key = t.payload ->> '$.key'"
                             " WHERE t.type = 'message.forgotten' AND e.redacted = 0"
                             " GROUP BY e.seq ORDER BY e.seq"));
  std::vector<Seq> seqs;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query.step());
    if (!row) break;
    seqs.push_back({query.integer(0)});
    if (query.integer(1) != 0) gone.whole.insert(query.integer(0));
  }
  CLAWMARK_ASSIGN(gone.messages, read_messages(db, seqs));
  return Ok{};
}

// Observations whose text the facts have let go, with the text as the log still has it.
Status find_facts(Database& db, Gone& gone, std::vector<std::string>* texts) {
  CLAWMARK_ASSIGN(
      auto query,
      db.prepare("SELECT DISTINCT o.seq, o.ordinal, o.kind, CASE o.kind WHEN 'stated' THEN "
                 "e.payload ->> '$.value' ELSE e.payload ->> ('$.facts[' || o.ordinal || "
                 "'].value') END FROM fact_observations o JOIN events e ON e.seq = o.seq "
                 "WHERE o.state IN ('forgotten', 'deleted') AND o.kind IN ('stated', 'extracted') "
                 "AND e.redacted = 0 ORDER BY 1, 2"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query.step());
    if (!row) break;
    if (query.text(2) == "stated") {
      gone.stated.insert(query.integer(0));
    } else {
      gone.facts.insert({query.integer(0), query.integer(1)});
    }
    std::string value = query.string(3);
    if (count_code_points(value) >= kTellingChars) gone.values.push_back(fold_case(value));
    if (texts != nullptr && !value.empty()) texts->push_back(std::move(value));
  }
  return Ok{};
}

bool tells_of(const Gone& gone, const std::string& text) {
  const std::string words = fold_case(text);
  return std::any_of(gone.values.begin(), gone.values.end(),
                     [&](const auto& value) { return words.find(value) != std::string::npos; });
}

// One fact of an extraction without what was forgotten; nullopt when nothing of it may stay.
std::optional<json::object> what_stays(const Event& event, std::int64_t ordinal,
                                       const json::object& fact, const Gone& gone, bool& changed) {
  const auto* evidence = find_array(fact, "evidence");
  json::array kept;
  bool cites_gone = false;
  if (evidence != nullptr) {
    for (const auto& item : *evidence) {
      if (!item.is_object()) continue;
      json::object quote = item.get_object();
      if (gone.whole.contains(get_int(quote, "message"))) {
        cites_gone = true;
        continue;
      }
      const bool tells = tells_of(gone, get_string(quote, "quote"));
      if (tells) quote["quote"] = "";
      changed = changed || tells;
      kept.emplace_back(std::move(quote));
    }
  }
  const bool let_go = gone.facts.contains({event.seq.value, ordinal});
  // Without evidence it cannot be told from which message of the window it came.
  if (let_go || (kept.empty() && cites_gone) || kept.empty()) return std::nullopt;
  changed = changed || cites_gone;
  json::object out = fact;
  if (tells_of(gone, get_string(fact, "replaces"))) {
    out["replaces"] = "";
    changed = true;
  }
  out["evidence"] = std::move(kept);
  return out;
}

bool holds_gone(const json::object& payload, const Gone& gone) {
  const auto* messages = find_array(payload, "messages");
  if (messages == nullptr) return false;
  return std::any_of(messages->begin(), messages->end(), [&](const json::value& message) {
    return message.is_int64() && gone.whole.contains(message.get_int64());
  });
}

// The extraction as it would have been without what was forgotten; nullopt: it holds none of it.
std::optional<NewEvent> amended(const Event& event, const Gone& gone) {
  const auto* facts = find_array(event.payload, "facts");
  if (facts == nullptr) return std::nullopt;
  const auto first = gone.facts.lower_bound({event.seq.value, -1});
  bool changed = first != gone.facts.end() && first->first == event.seq.value;
  const bool concerned = changed || holds_gone(event.payload, gone);
  if (!concerned && gone.values.empty()) return std::nullopt;
  json::array kept;
  std::int64_t ordinal = 0;
  std::int64_t lost = 0;
  for (const auto& item : *facts) {
    auto stays = item.is_object() ? what_stays(event, ordinal, item.get_object(), gone, changed)
                                  : std::nullopt;
    ++ordinal;
    if (stays) {
      kept.emplace_back(std::move(*stays));
    } else {
      ++lost;
    }
  }
  if (!changed && !(concerned && lost > 0)) return std::nullopt;
  NewEvent out{event.type,     event.version, event.scope, event.dedupe_key + ":kept",
               event.occurred, event.payload};
  out.payload["facts"] = std::move(kept);
  out.payload["withdrawn"] = lost + get_int(event.payload, "withdrawn");
  return out;
}

struct Change {
  std::vector<Seq> blank;
  std::vector<NewEvent> instead;
};

Result<Change> find_changes(Database& db, const Gone& gone) {
  Change out;
  GraphGone graph;
  graph.whole = gone.whole;
  graph.values = gone.values;
  for (const MessageRow& row : gone.messages) {
    if (!gone.whole.contains(row.seq.value)) graph.sources.insert(row.seq.value);
  }
  CLAWMARK_TRY(find_forgotten_claims(db, graph));
  for (const std::int64_t seq : gone.stated) out.blank.push_back({seq});
  for (const std::int64_t seq : gone.whole) out.blank.push_back({seq});
  Seq after{0};
  for (;;) {
    CLAWMARK_ASSIGN(const auto events, EventLog::read(db, after, kScan, kScanned));
    for (const Event& event : events) {
      after = event.seq;
      if (event.redacted) continue;
      if (event.type == event_type::kBatchParked) {
        if (holds_gone(event.payload, gone)) out.blank.push_back(event.seq);
        continue;
      }
      if (event.type == event_type::kSummaryCompleted || event.type == event_type::kFileExplored) {
        if (speaks_of_gone(event, graph)) {
          out.blank.push_back(event.seq);
        } else if (auto instead = amended_file(event, graph)) {
          out.blank.push_back(event.seq);
          out.instead.push_back(std::move(*instead));
        }
        continue;
      }
      auto instead = event.type == event_type::kGraphCompleted ? amended_graph(event, graph)
                                                               : amended(event, gone);
      if (instead) {
        out.blank.push_back(event.seq);
        out.instead.push_back(std::move(*instead));
      }
    }
    if (events.size() < kScan) break;
  }
  std::sort(out.blank.begin(), out.blank.end());
  return out;
}

Status apply(Store& store, const Gone& gone, const Change& change, std::span<const Hash256> orphans,
             Seq seen, PurgeReport& report, std::vector<std::string>* texts) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  for (const NewEvent& event : change.instead) CLAWMARK_TRY(store.log().append(txn, event));
  for (const Seq seq : change.blank) {
    CLAWMARK_TRY(store.log().redact(txn, seq, "forgotten"));
    ++report.events;
  }
  std::vector<Seq> messages;
  for (const MessageRow& row : gone.messages) messages.push_back(row.seq);
  CLAWMARK_ASSIGN(const auto dropped, drop_texts(txn, messages, orphans, texts));
  report.texts.bodies += dropped.bodies;
  report.texts.vectors += dropped.vectors;
  report.texts.parked += dropped.parked;
  CLAWMARK_TRY(
      txn.db().run("INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE"
                   " SET value = excluded.value",
                   kMetaKey, std::to_string(seen.value)));
  return txn.commit();
}

}  // namespace

Status withdraw_forgotten(Store& store, std::span<Projection* const> projections, TimeMs now,
                          TimeMs before, PurgeReport& report, std::vector<std::string>* texts) {
  Database& db = store.db();
  CLAWMARK_TRY(fold_all(db, projections, now));
  CLAWMARK_TRY(entomb(store, before, now));
  CLAWMARK_TRY(fold_all(db, projections, now));
  CLAWMARK_ASSIGN(const Seq seen, EventLog::head(db));
  Gone gone;
  CLAWMARK_TRY(find_messages(db, gone));
  CLAWMARK_TRY(find_facts(db, gone, texts));
  CLAWMARK_ASSIGN(const auto orphans, orphaned_texts(db, gone.messages));
  CLAWMARK_ASSIGN(const Change change, find_changes(db, gone));
  CLAWMARK_TRY(apply(store, gone, change, orphans, seen, report, texts));
  return fold_all(db, projections, now);
}

Result<PurgeReport> purge(Store& store, std::span<Projection* const> projections, TimeMs now) {
  PurgeReport report;
  std::vector<std::string> texts;
  CLAWMARK_TRY(drop_half_built(store.db(), projections));  // texts may stand there, too
  CLAWMARK_TRY(withdraw_forgotten(store, projections, now, now, report, &texts));
  for (Projection* projection : projections) {
    if (projection->replayable()) continue;
    CLAWMARK_TRY(rebuild(store.db(), *projection, now, {}));
  }
  CLAWMARK_ASSIGN(report.backups, remove_backups(store.path()));
  // The vectors' snapshot is made again from the rows, which lack what was forgotten.
  ::unlink((store.path() + ".vectors").c_str());
  CLAWMARK_TRY(scrub_files(store.db()));
  report.looked_for = texts.size();
  CLAWMARK_ASSIGN(report.still_in, files_holding(store.path(), std::move(texts)));
  return report;
}

// How many forgettings and deletions have not been followed yet.
Result<std::int64_t> ForgetPort::waiting(TimeMs before) {
  Database& db = store_.db();
  CLAWMARK_ASSIGN(const auto done,
                  db.query_int("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", kMetaKey));
  const Seq after{done.value_or(0)};
  CLAWMARK_ASSIGN(const auto events, EventLog::read(db, after, kScan, kForgetting));
  return std::count_if(events.begin(), events.end(),
                       [&](const Event& event) { return event.recorded <= before; });
}

Result<std::shared_ptr<const Batch>> ForgetPort::load(const Load&, TimeMs now) {
  auto batch = std::make_shared<Batch>();
  CLAWMARK_ASSIGN(const auto count, waiting({now.value - kFollowForgettingMs}));
  batch->passed = static_cast<std::size_t>(count);
  return std::shared_ptr<const Batch>(std::move(batch));
}

Status ForgetPort::commit(const Commit&, TimeMs now) {
  PurgeReport report;
  return withdraw_forgotten(store_, projections_, now, {now.value - kFollowForgettingMs}, report,
                            nullptr);
}

Result<std::int64_t> ForgetPort::pending(TimeMs now) {
  return waiting({now.value - kFollowForgettingMs});
}

}  // namespace clawmark
