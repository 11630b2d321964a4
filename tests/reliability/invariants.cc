#include "tests/reliability/invariants.h"

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "base/zstd.h"
#include "log/cursor.h"
#include "log/event_log.h"
#include "log/graph_events.h"
#include "projections/digest.h"
#include "projections/rebuild.h"

namespace clawmark::reliability {
namespace {

Violations failed(std::string_view what, const Error& error) {
  return {std::string(what) + " cannot be checked: " + describe(error)};
}

// The number that a query gives; a violation `what` when it is not `wanted`.
void expect_number(Database& db, Violations& out, std::string_view what, std::string_view sql,
                   std::int64_t wanted = 0) {
  const auto value = db.query_int(sql);
  if (!value.ok()) {
    add(out, failed(what, value.error()));
  } else if (value->value_or(0) != wanted) {
    out.push_back(std::string(what) + ": " + std::to_string(value->value_or(0)) + " instead of " +
                  std::to_string(wanted));
  }
}

// Folds the events up to `through` into an empty database.
Result<Hash256> digest_of_fold(Database& db, Projection& projection, Seq through) {
  CLAWMARK_ASSIGN(auto scratch, Database::open_memory());
  CLAWMARK_TRY(scratch.exec(projection.ddl(1)));
  Seq after{0};
  while (after < through) {
    CLAWMARK_ASSIGN(auto events, EventLog::read(db, after, 500));
    while (!events.empty() && events.back().seq > through) events.pop_back();
    if (events.empty()) break;
    after = events.back().seq;
    std::erase_if(events, [&](const Event& event) {
      // A redacted payload is blank already: that is the state which a redaction leads to.
      if (event.type == event_type::kEventRedacted) return true;
      const auto types = projection.types();
      return !types.empty() && std::find(types.begin(), types.end(), event.type) == types.end();
    });
    if (events.empty()) continue;
    CLAWMARK_TRY(projection.prepare(scratch, 1, events));
    CLAWMARK_ASSIGN(auto txn, Transaction::begin(scratch));
    CLAWMARK_TRY(projection.apply(txn, 1, events));
    CLAWMARK_TRY(txn.commit());
  }
  return projection.digest(scratch, 1);
}

// Kept by the events folded, as a harness looks at many endings of one moment.
Result<Hash256> known_digest_of_fold(Database& db, Projection& projection, Seq through) {
  static std::map<std::pair<std::string, Hash256>, Hash256> known;
  Sha256 events;
  CLAWMARK_TRY(hash_rows(db,
                         "SELECT seq, type, agent, session_key, lane, sender, dedupe_key,"
                         " occurred_ms, recorded_ms, payload, redacted FROM events"
                         " WHERE seq <= " +
                             std::to_string(through.value) + " ORDER BY seq",
                         11, events));
  const std::pair key(std::string(projection.name()), events.finish());
  if (const auto found = known.find(key); found != known.end()) return found->second;
  CLAWMARK_ASSIGN(const auto digest, digest_of_fold(db, projection, through));
  if (known.size() > 10'000) known.clear();
  known[key] = digest;
  return digest;
}

Result<std::string> fold_difference(Database& db, Projection& projection) {
  CLAWMARK_ASSIGN(const auto live, live_digest(db, projection));
  CLAWMARK_ASSIGN(const auto fresh, known_digest_of_fold(db, projection, live.position));
  if (fresh == live.digest) return std::string();
  return "projection " + std::string(projection.name()) + " is not the fold of the events up to " +
         std::to_string(live.position.value);
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

void check_guard(std::string_view block, std::string_view name, Violations& out) {
  constexpr std::string_view kOpen = "[Memory from Clawmark:", kClose = "[End of memory ";
  if (block.empty()) return;
  if (!block.starts_with(kOpen) || count_of(block, kOpen) != 1) {
    out.push_back(std::string(name) + " block is not opened once, at its start");
  }
  const auto close = block.rfind(kClose);
  if (count_of(block, kClose) != 1 || block.find(']', close) == std::string_view::npos) {
    out.push_back(std::string(name) + " block is not closed once");
  } else if (block.substr(block.find(']', close) + 1).find_first_not_of("\n ") !=
             std::string_view::npos) {
    out.push_back("text behind the guard of the " + std::string(name) + " block");
  }
  if (!is_valid_utf8(block)) out.push_back(std::string(name) + " block is not UTF-8");
}

void check_vault(Database& db, Violations& out) {
  auto rows = db.prepare("SELECT hash, bytes, frame FROM bodies");
  if (!rows.ok()) return add(out, failed("the vault", rows.error()));
  for (;;) {
    const auto row = rows->step();
    if (!row.ok()) return add(out, failed("the vault", row.error()));
    if (!*row) return;
    const auto text = zstd_decompress(rows->blob(2), static_cast<std::size_t>(rows->integer(1)));
    if (!text.ok() || sha256(*text) != rows->hash(0)) {
      out.push_back("the vault holds a text that is not what its name says");
    }
  }
}

}  // namespace

void add(Violations& to, Violations more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

std::string joined(const Violations& violations) {
  std::string out;
  for (const auto& violation : violations) out.append(out.empty() ? "" : "; ").append(violation);
  return out;
}

Violations check_log(Database& db) {
  Violations out;
  if (const auto dense = EventLog::check_dense(db); !dense.ok()) {
    out.push_back(describe(dense.error()));
  }
  const auto check = EventLog::verify(db);
  if (!check.ok()) return failed("the log", check.error());
  if (!check->dense) out.push_back("the log has a hole");
  if (!check->chain_valid) out.push_back("the chain is broken");
  const auto whole = db.query_text("PRAGMA quick_check");
  if (!whole.ok()) return failed("the file", whole.error());
  if (whole->value_or("") != "ok") out.push_back("the file is damaged: " + whole->value_or(""));
  return out;
}

Violations check_cursors(Database& db, CursorMemory& before) {
  Violations out;
  const auto head = EventLog::head(db);
  const auto cursors = list_cursors(db);
  if (!head.ok()) return failed("the head", head.error());
  if (!cursors.ok()) return failed("cursors", cursors.error());
  CursorMemory now;
  for (const auto& cursor : *cursors) {
    const std::string name = "cursor " + cursor.worker.name;
    const auto key = std::pair(cursor.worker.name, cursor.worker.generation);
    if (cursor.position > *head) out.push_back(name + " is beyond the log");
    const auto known = before.find(key);
    if (known != before.end() && cursor.position.value < known->second) {
      out.push_back(name + " went back from " + std::to_string(known->second) + " to " +
                    std::to_string(cursor.position.value));
    }
    now[key] = cursor.position.value;
  }
  before = std::move(now);
  return out;
}

Violations check_folds(Database& db, std::span<Projection* const> projections) {
  Violations out;
  for (Projection* projection : projections) {
    const auto generation = live_generation(db, projection->name());
    if (!generation.ok()) {
      if (generation.error().kind != ErrorKind::kNotFound) {
        add(out, failed(projection->name(), generation.error()));
      }
      continue;  // not made yet
    }
    const auto wrong = projection->check(db, *generation);
    if (!wrong.ok()) {
      add(out, failed(projection->name(), wrong.error()));
    } else {
      add(out, *wrong);
    }
    if (!projection->replayable()) continue;
    const auto difference = fold_difference(db, *projection);
    if (!difference.ok()) {
      add(out, failed(projection->name(), difference.error()));
    } else if (!difference->empty()) {
      out.push_back(*difference);
    }
  }
  return out;
}

Violations check_observed_once(Database& db, const EntryNames& entries) {
  Violations out;
  std::map<std::pair<std::string, std::string>, int> seen;
  auto rows = db.prepare(
      "SELECT agent, payload ->> '$.entry_id' FROM events WHERE type = 'message.observed'");
  if (!rows.ok()) return failed("messages", rows.error());
  for (;;) {
    const auto row = rows->step();
    if (!row.ok()) return failed("messages", row.error());
    if (!*row) break;
    ++seen[{rows->string(0), rows->string(1)}];
  }
  const std::set<std::pair<std::string, std::string>> wanted(entries.begin(), entries.end());
  std::size_t missing = 0, twice = 0, strange = 0;
  for (const auto& name : wanted) missing += !seen.contains(name);
  for (const auto& [name, times] : seen) {
    twice += times > 1;
    strange += !wanted.contains(name);
  }
  if (missing > 0) out.push_back(std::to_string(missing) + " entries are not in the log");
  if (twice > 0) out.push_back(std::to_string(twice) + " entries are in the log twice");
  if (strange > 0) out.push_back(std::to_string(strange) + " messages that no source holds");
  return out;
}

Violations check_asked_once(Database& db) {
  Violations out;
  for (const std::string_view type :
       {event_type::kExtractionCompleted, event_type::kGraphCompleted}) {
    // What a purge left of an answer holds some of its messages again, under a key that ends so.
    expect_number(
        db, out, "messages in two windows of " + std::string(type),
        "SELECT count(*) FROM (SELECT 1 FROM events e, json_each(e.payload, '$.messages')"
        " m WHERE e.type = '" +
            std::string(type) +
            "' AND e.redacted = 0 AND e.dedupe_key NOT LIKE '%:kept' GROUP BY e.payload"
            " ->> '$.model', e.payload ->> '$.prompt_version', m.value HAVING count(*) > 1)");
  }
  expect_number(db, out, "summaries below two others",
                "SELECT count(*) FROM (SELECT 1 FROM events e, json_each(e.payload, '$.sources') s"
                " WHERE e.type = 'summary.completed' AND e.redacted = 0 AND e.seq NOT IN (SELECT"
                " payload ->> '$.summary' FROM events WHERE type = 'summary.dissolved' AND redacted"
                " = 0) GROUP BY s.value HAVING count(*) > 1)");
  expect_number(db, out, "summaries of what is not in the log before them",
                "SELECT count(*) FROM events e, json_each(e.payload, '$.sources') s WHERE e.type ="
                " 'summary.completed' AND (s.value >= e.seq OR s.value NOT IN (SELECT seq FROM"
                " events WHERE type IN ('graph.completed', 'summary.completed')))");
  return out;
}

Violations check_acknowledged(Database& db, std::span<const std::string> dedupe_keys) {
  Violations out;
  for (const auto& key : dedupe_keys) {
    const auto found = EventLog::find(db, key);
    if (!found.ok()) return failed("acknowledged commands", found.error());
    if (!*found) out.push_back("an acknowledged command is lost: " + key);
  }
  return out;
}

Violations check_rebuild(Database& db, std::span<Projection* const> projections, TimeMs now) {
  Violations out;
  for (Projection* projection : projections) {
    if (!projection->replayable()) continue;
    const auto live = live_digest(db, *projection);
    const auto again = rebuild(db, *projection, now, {});
    if (!live.ok()) return failed("a live digest", live.error());
    if (!again.ok()) return failed("a rebuild", again.error());
    if (live->digest != again->digest) {
      out.push_back("a rebuild of " + std::string(projection->name()) + " gives another digest");
    }
  }
  return out;
}

Violations check_sources(const std::string& before, const std::string& after) {
  if (before == after) return {};
  return {"a source was changed"};
}

Violations check_blocks(std::string_view facts_block, std::string_view recall_block,
                        std::size_t budget) {
  Violations out;
  const std::size_t chars = count_code_points(facts_block) + count_code_points(recall_block);
  if (chars > budget) {
    out.push_back("blocks of " + std::to_string(chars) + " characters in a budget of " +
                  std::to_string(budget));
  }
  check_guard(facts_block, "facts", out);
  check_guard(recall_block, "recall", out);
  return out;
}

Violations check_only_parked(Database& db, std::string_view worker,
                             std::span<const std::int64_t> messages) {
  auto rows = db.prepare("SELECT message FROM parked WHERE worker = ? ORDER BY message");
  if (!rows.ok()) return failed("parked messages", rows.error());
  rows->with(worker);
  std::set<std::int64_t> parked;
  for (;;) {
    const auto row = rows->step();
    if (!row.ok()) return failed("parked messages", row.error());
    if (!*row) break;
    parked.insert(rows->integer(0));
  }
  if (parked == std::set<std::int64_t>(messages.begin(), messages.end())) return {};
  std::string list;
  for (const auto message : parked) list += " " + std::to_string(message);
  return {std::string(worker) + " has parked others than the poisonous ones:" + list};
}

Violations check_nobody_idle(const DrainReport& report) {
  Violations out;
  for (const auto& row : report.workers) {
    if (row.remaining > 0) {
      out.push_back(row.worker + " is idle with " + std::to_string(row.remaining) +
                    " left: " + row.why);
    } else if (row.why.starts_with("stopped")) {
      out.push_back(row.worker + " " + row.why);
    }
  }
  return out;
}

Violations check_caches(Database& db) {
  Violations out;
  check_vault(db, out);
  expect_number(db, out, "vectors of another length than their model",
                "SELECT count(*) FROM vectors v JOIN embedding_models m ON m.id = v.model"
                " WHERE length(v.vector) <> m.dims");
  expect_number(db, out, "chunks of messages that are not in the log",
                "SELECT count(*) FROM chunks WHERE message NOT IN (SELECT seq FROM events)");
  expect_number(db, out, "parked messages that are not in the log",
                "SELECT count(*) FROM parked WHERE message NOT IN (SELECT seq FROM events)");
  expect_number(db, out, "places of messages that are not in the log",
                "SELECT count(*) FROM locators WHERE message NOT IN (SELECT seq FROM events)");
  return out;
}

Violations check_anytime(Database& db, std::span<Projection* const> projections,
                         CursorMemory& before, std::span<const std::string> acknowledged) {
  Violations out = check_log(db);
  add(out, check_cursors(db, before));
  add(out, check_folds(db, projections));
  add(out, check_acknowledged(db, acknowledged));
  add(out, check_asked_once(db));
  add(out, check_caches(db));
  return out;
}

}  // namespace clawmark::reliability
