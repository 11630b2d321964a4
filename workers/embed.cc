#include "workers/embed.h"

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "sources/text_cleaner.h"
#include "workers/parking.h"

namespace clawmark {
namespace {

constexpr std::size_t kFreshMessages = 64;         // looked at from the end of the log
constexpr std::int64_t kFreshMs = 10 * kMinuteMs;  // said so shortly before it was read: live
constexpr std::string_view kScanned[] = {event_type::kMessageObserved, event_type::kMessageSighted};

}  // namespace

// --- What the machine asks -----------------------------------------------------------------------

std::size_t EmbedWork::items_per_load() const {
  return kEmbedBatchMessages;
}
std::size_t EmbedWork::items_per_request() const {
  return std::max<std::size_t>(1, embedder_->batch_max());
}
std::size_t EmbedWork::text_bytes_max() const {
  const std::size_t limit = embedder_->text_bytes_max();
  return limit == 0 ? kChunkBytes : std::min(limit, kChunkBytes);
}

static std::vector<std::string> texts_of(std::span<const WorkItem> items) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const auto& item : items) texts.push_back(item.text);
  return texts;
}

HttpRequest EmbedWork::plan(std::span<const WorkItem> items) const {
  return embedder_->plan(texts_of(items));
}

Result<SpanAnswer> EmbedWork::interpret(const Result<HttpResponse>& response,
                                        std::span<const WorkItem> items) {
  CLAWMARK_ASSIGN(auto answer, embedder_->interpret(response, items.size()));
  SpanAnswer out;
  out.vectors = std::move(answer.vectors);
  return out;
}

Result<SpanAnswer> EmbedWork::run_local(std::span<const WorkItem> items) {
  CLAWMARK_ASSIGN(auto vectors, embedder_->embed_local(texts_of(items)));
  SpanAnswer out;
  for (auto& vector : vectors) out.vectors.emplace_back(std::move(vector));
  return out;
}

std::vector<WorkItem> EmbedWork::canary() const {
  WorkItem item;
  item.text = "hello";
  return {item};
}

bool is_talk(const Event& observed) {
  if (observed.redacted) return false;
  if (observed.scope.lane != Lane::kDirect && observed.scope.lane != Lane::kGroup) return false;
  if (get_string(observed.payload, "class") != "chat") return false;
  if (!get_string(observed.payload, "noise").empty()) return false;
  const std::string role = get_string(observed.payload, "role");
  return role == "user" || role == "assistant";
}

Result<std::optional<Seq>> talk_in(Database& db, const Event& event) {
  std::optional<Seq> out;
  if (event.type == event_type::kMessageObserved) {
    if (is_talk(event)) out = event.seq;
    return out;
  }
  if (event.type != event_type::kMessageSighted || !get_bool(event.payload, "keyed")) return out;
  CLAWMARK_ASSIGN(auto observed, EventLog::get(db, {get_int(event.payload, "message")}));
  if (!observed) return out;
  observed->scope.lane = event.scope.lane;
  if (is_talk(*observed)) out = observed->seq;
  return out;
}

// --- On the store --------------------------------------------------------------------------------

EmbedPort::EmbedPort(Store& store, BodyStore& bodies, std::shared_ptr<Embedder> embedder,
                     BudgetLimits limits)
    : PaidPort(store, limits), bodies_(bodies), embedder_(std::move(embedder)) {}

// The model's row gives the generation of the cursor. A model that changes its length under the
// same name is another model: the old row steps aside under a name of its own.
Status EmbedPort::choose_model(TimeMs now) {
  const ModelId model = embedder_->model();
  if (generation_ != 0 && model == model_) return Ok{};
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  Database& db = txn.db();
  const auto id_of = [&](const std::string& name) {
    return db.query_int("SELECT id FROM embedding_models WHERE name = ?", name);
  };
  CLAWMARK_ASSIGN(auto id, id_of(model.name));
  if (id) {
    CLAWMARK_ASSIGN(const auto dims,
                    db.query_int("SELECT dims FROM embedding_models WHERE id = ?", *id));
    if (dims.value_or(0) != model.dims) {
      const auto aside = [&](std::int64_t length) {
        return model.name + "#" + std::to_string(length);
      };
      CLAWMARK_TRY(db.run("UPDATE embedding_models SET name = ? WHERE id = ?",
                          aside(dims.value_or(0)), *id));
      CLAWMARK_ASSIGN(id, id_of(aside(model.dims)));
      if (id) {
        CLAWMARK_TRY(db.run("UPDATE embedding_models SET name = ? WHERE id = ?", model.name, *id));
      }
    }
  }
  if (!id) {
    CLAWMARK_TRY(db.run("INSERT INTO embedding_models(name, dims, first_ms) VALUES (?, ?, ?)",
                        model.name, model.dims, now));
    id = db.last_insert_rowid();
  }
  CLAWMARK_TRY(
      db.run("INSERT INTO meta(key, value) VALUES ('embedding_model', ?)"
             " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
             std::to_string(*id)));
  CLAWMARK_TRY(txn.commit());
  model_ = model;
  generation_ = static_cast<int>(*id);
  return Ok{};
}

Result<std::shared_ptr<const Batch>> EmbedPort::load(const Load& load, TimeMs now) {
  job_ = {};
  parked_here_.clear();
  CLAWMARK_TRY(choose_model(now));
  auto batch = std::make_shared<Batch>();
  std::vector<Seq> wanted;
  CLAWMARK_ASSIGN(const bool retries, pick_retries(job_, wanted));
  if (!retries) {
    CLAWMARK_ASSIGN(const bool fresh, pick_fresh(job_, wanted));
    if (!fresh) {
      CLAWMARK_ASSIGN(batch->passed, pick_next(job_, load.items_max, wanted));
    }
  }
  CLAWMARK_TRY(cut_texts(*batch, wanted, load.text_bytes_max, now));
  if (!wanted.empty()) batch->passed = std::max<std::size_t>(batch->passed, 1);
  if (!batch->items.empty() && !embedder_->is_local()) {
    CLAWMARK_ASSIGN(batch->budget_until, spent_until(now));
  }
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(store_.db()));
  batch->pending = head.value - std::max(cursor.position, job_.through.value_or(Seq{})).value;
  job_.batch = batch;
  return std::shared_ptr<const Batch>(std::move(batch));
}

Result<bool> EmbedPort::pick_retries(Job& job, std::vector<Seq>& wanted) {
  CLAWMARK_ASSIGN(job.retried, retry_wanted(store_.db(), id(), kFreshMessages));
  wanted = job.retried;
  return !wanted.empty();
}

// Behind a long backlog: what was said just now goes first. The cursor does not move with it; when
// it comes there it finds the work done.
Result<bool> EmbedPort::pick_fresh(Job&, std::vector<Seq>& wanted) {
  Database& db = store_.db();
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(db, id()));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  if (head.value - cursor.position.value <= static_cast<std::int64_t>(2 * kEmbedBatchMessages)) {
    return false;
  }
  CLAWMARK_ASSIGN(auto* query, db.cached("SELECT seq FROM events WHERE type = ? AND seq > ?"
                                         " AND occurred_ms >= recorded_ms - ?"
                                         " AND seq > ? ORDER BY seq DESC LIMIT ?"));
  query->with(event_type::kMessageObserved, cursor.position.value, kFreshMs,
              head.value - static_cast<std::int64_t>(4 * kFreshMessages), kFreshMessages);
  std::vector<Seq> found;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    found.push_back({query->integer(0)});
  }
  query->reset();
  for (const Seq seq : found) {
    CLAWMARK_ASSIGN(const auto event, EventLog::get(db, seq));
    if (!event || !is_talk(*event)) continue;
    CLAWMARK_ASSIGN(const bool done, is_done(seq));
    if (done) continue;
    wanted.push_back(seq);
  }
  return !wanted.empty();
}

Result<std::size_t> EmbedPort::pick_next(Job& job, std::size_t limit, std::vector<Seq>& wanted) {
  Database& db = store_.db();
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(db, id()));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(db));
  CLAWMARK_ASSIGN(const auto events, EventLog::read(db, cursor.position, limit, kScanned));
  const Seq through = events.size() < limit ? head : events.back().seq;
  if (through == cursor.position) return std::size_t{0};
  for (const Event& event : events) {
    CLAWMARK_ASSIGN(const auto message, talk_in(db, event));
    if (!message) continue;
    CLAWMARK_ASSIGN(const bool done, is_done(*message));
    if (!done) wanted.push_back(*message);
  }
  job.from = cursor.position;
  job.through = through;
  return static_cast<std::size_t>(through.value - cursor.position.value);
}

// Parked, or every chunk has a vector of this model, and of its length.
Result<bool> EmbedPort::is_done(Seq message) {
  Database& db = store_.db();
  CLAWMARK_ASSIGN(const auto open,
                  db.query_int("SELECT count(*) - count(v.hash) FROM chunks c LEFT JOIN vectors v"
                               " ON v.model = ? AND v.hash = c.hash AND length(v.vector) = ?"
                               " WHERE c.message = ? HAVING count(*) > 0",
                               generation_, model_.dims, message.value));
  if (open && *open == 0) return true;
  return is_parked(db, id(), message);
}

Result<bool> EmbedPort::has_vector(const Hash256& hash) {
  CLAWMARK_ASSIGN(const auto row, store_.db().query_int("SELECT 1 FROM vectors WHERE model = ?"
                                                        " AND hash = ? AND length(vector) = ?",
                                                        generation_, hash, model_.dims));
  return row.has_value();
}

Status EmbedPort::cut_texts(Batch& batch, std::span<const Seq> wanted, std::size_t bytes_max,
                            TimeMs now) {
  if (wanted.empty()) return Ok{};
  CLAWMARK_ASSIGN(const auto bodies, bodies_.get(store_.db(), wanted));
  CLAWMARK_TRY(patience_.check(bodies, now));
  std::set<Hash256> asked;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (bodies[i].state == BodyState::kGone) {
      job_.gone.emplace_back(wanted[i], bodies[i].away);
      continue;
    }
    const std::string text = presentable_text(bodies[i].text);
    std::size_t start = 0;
    int ordinal = 0;
    for (const std::string_view piece : split_text(text, bytes_max)) {
      Chunk chunk{wanted[i], ordinal++, sha256(piece), start, piece.size()};
      start += piece.size();
      job_.chunks.push_back(chunk);
      if (!asked.insert(chunk.hash).second) continue;
      CLAWMARK_ASSIGN(const bool known, has_vector(chunk.hash));
      if (known) continue;
      WorkItem item;
      item.message = wanted[i].value;
      item.text = piece;
      item.hash = chunk.hash;
      batch.items.push_back(std::move(item));
    }
  }
  return Ok{};
}

// int8 with one scale per vector: |error| ≤ scale / 2 per component.
Status EmbedPort::put_vector(Transaction& txn, const Hash256& hash, const Vector& vector) {
  float most = 0;
  for (const float x : vector) most = std::max(most, std::abs(x));
  if (!std::isfinite(most) || static_cast<int>(vector.size()) != model_.dims) {
    return make_error(ErrorKind::kFatal, "embed", "bad_vector", "a vector of another length");
  }
  const float scale = most > 0 ? most / 127.0F : 1.0F;
  std::vector<std::uint8_t> codes;
  codes.reserve(vector.size());
  for (const float x : vector) {
    const long code = std::clamp(std::lround(x / scale), -127L, 127L);
    codes.push_back(static_cast<std::uint8_t>(static_cast<std::int8_t>(code)));
  }
  return txn.db().run(
      "INSERT INTO vectors(model, hash, scale, vector) VALUES (?, ?, ?, ?) ON CONFLICT(model, hash)"
      " DO UPDATE SET scale = excluded.scale, vector = excluded.vector",
      generation_, hash, static_cast<double>(scale), std::span<const std::uint8_t>(codes));
}

Status EmbedPort::put_chunks(Transaction& txn) {
  Database& db = txn.db();
  Seq last;
  for (const Chunk& chunk : job_.chunks) {
    if (chunk.message != last) {
      CLAWMARK_TRY(db.run("DELETE FROM chunks WHERE message = ?", chunk.message.value));
      last = chunk.message;
    }
    CLAWMARK_TRY(
        db.run("INSERT INTO chunks(message, ordinal, hash, start, length)"
               " VALUES (?, ?, ?, ?, ?)",
               chunk.message.value, chunk.ordinal, chunk.hash, chunk.start, chunk.length));
  }
  return Ok{};
}

Status EmbedPort::commit(const Commit& commit, TimeMs now) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  for (std::size_t i = 0; i < commit.items.size(); ++i) {
    if (!commit.answer.vectors[i]) continue;
    CLAWMARK_TRY(
        put_vector(txn, job_.batch->items[commit.items[i]].hash, *commit.answer.vectors[i]));
  }
  if (commit.last) {
    CLAWMARK_TRY(put_chunks(txn));
    for (const Seq message : job_.retried) {
      if (parked_here_.contains(message.value)) continue;
      CLAWMARK_TRY(unpark_message(txn, id(), message));
    }
    for (const auto& [message, away] : job_.gone) {
      CLAWMARK_TRY(park_message(txn, store_.log(), id(), no_text_note(message, away), now));
    }
    if (job_.through && *job_.through > *job_.from) {
      CLAWMARK_TRY(advance_cursor(txn, id(), *job_.from, *job_.through, now));
    }
  }
  return txn.commit();
}

Status EmbedPort::park(const Park& park, TimeMs now) {
  const Seq message{job_.batch->items[park.item].message};
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  CLAWMARK_TRY(park_message(txn, store_.log(), id(),
                            {message, park.reason, park.detail, park.attempts}, now));
  CLAWMARK_TRY(txn.commit());
  parked_here_.insert(message.value);
  return Ok{};
}

std::string EmbedPort::paid_model() const {
  return embedder_->model().name;
}

Result<std::int64_t> EmbedPort::pending(TimeMs) {
  Database& db = store_.db();
  Seq position;
  if (generation_ != 0) {
    CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(db, id()));
    position = cursor.position;
  } else {  // no model has answered yet: as far as the last one came
    CLAWMARK_ASSIGN(const auto last, db.query_int("SELECT pos FROM cursors WHERE worker = ? ORDER "
                                                  "BY generation DESC LIMIT 1",
                                                  id().name));
    position = Seq{last.value_or(0)};
  }
  CLAWMARK_ASSIGN(const auto count, db.query_int("SELECT count(*) FROM events WHERE type = ?"
                                                 " AND seq > ?",
                                                 event_type::kMessageObserved, position.value));
  return count.value_or(0);
}

}  // namespace clawmark
