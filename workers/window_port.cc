#include "workers/window_port.h"

#include <algorithm>

#include "base/limits.h"
#include "base/utf8.h"
#include "projections/rebuild.h"
#include "sources/text_cleaner.h"
#include "workers/embed.h"
#include "workers/parking.h"

namespace clawmark {
namespace {

constexpr std::size_t kScanEvents = 2000;    // in one slice
constexpr std::size_t kMessageChars = 4000;  // of one message in a window

}  // namespace

WindowPort::WindowPort(Store& store, BodyStore& bodies, WindowOptions options)
    : PaidPort(store, options.limits), bodies_(bodies), options_(std::move(options)) {
  scanned_types_ = {event_type::kMessageObserved, event_type::kMessageSighted,
                    options_.completed_type,      event_type::kBatchParked,
                    event_type::kSessionMarked,   event_type::kSessionDeleted};
}

Result<bool> WindowPort::scan(TimeMs now) {
  if (scanned_ < 0) {
    CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
    scanned_ = cursor.position.value;
  }
  // Messages are extracted once the message index knows where they stand.
  CLAWMARK_ASSIGN(const Seq end, folded_through(store_.db(), "messages"));
  if (scanned_ >= end.value) return false;
  CLAWMARK_ASSIGN(const auto events,
                  EventLog::read(store_.db(), {scanned_}, kScanEvents, scanned_types_));
  for (const Event& event : events) {
    if (event.seq > end) break;
    CLAWMARK_TRY(see(event, now));
  }
  const bool whole = events.size() < kScanEvents || events.back().seq >= end;
  scanned_ = whole ? end.value : events.back().seq.value;
  return !whole;
}

Status WindowPort::see(const Event& event, TimeMs now) {
  if (event.redacted) return Ok{};
  const SessionName name{event.scope.agent, get_string(event.payload, "session_id")};
  if (event.type == event_type::kMessageObserved || event.type == event_type::kMessageSighted) {
    CLAWMARK_ASSIGN(const auto message, talk_in(store_.db(), event));
    if (!message) return Ok{};
    Session& session = sessions_[name];
    std::int64_t said = event.occurred.value;
    if (said > now.value) said = std::min(event.recorded.value, now.value);
    // Of a message whose conversation became known later the number is an old one.
    auto& waiting = session.waiting;
    const auto at = session.at_or_after(message->value);
    if (at == waiting.end() || at->seq != message->value) {
      const std::int64_t chars =
          std::min<std::int64_t>(get_int(event.payload, "chars"), kMessageChars);
      waiting.insert(at, {message->value, said, chars});
      session.chars += chars;
    }
    session.newest = std::max(session.newest, said);
    return Ok{};
  }
  if (event.type == event_type::kSessionMarked || event.type == event_type::kSessionDeleted) {
    const auto found = sessions_.find(name);
    const bool ends =
        event.type == event_type::kSessionDeleted || get_string(event.payload, "kind") == "reset";
    if (found != sessions_.end() && ends) found->second.flush = true;
    return Ok{};
  }
  const auto* messages = find_array(event.payload, "messages");
  if (messages == nullptr) return Ok{};
  const bool parked = event.type == event_type::kBatchParked;
  if (parked && get_string(event.payload, "worker") != options_.worker) return Ok{};
  for (const auto& message : *messages) {
    if (!message.is_int64()) continue;
    if (!parked) {
      forget(name, message.get_int64());
    } else {
      for (auto& [other, session] : sessions_) {
        if (other.first != name.first) continue;
        std::erase_if(session.waiting, [&, &held = session](const Waiting& w) {
          if (w.seq != message.get_int64()) return false;
          held.chars -= w.chars;
          return true;
        });
      }
    }
  }
  return Ok{};
}

void WindowPort::forget(const SessionName& name, std::int64_t seq) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) return;
  auto& waiting = found->second.waiting;
  const auto at = found->second.at_or_after(seq);
  if (at != waiting.end() && at->seq == seq) {
    found->second.chars -= at->chars;
    waiting.erase(at);
  }
  if (waiting.empty()) sessions_.erase(found);
}

bool WindowPort::is_ready(const Session& session, TimeMs now) const {
  if (options_.local || drain_ || session.flush) return true;
  if (session.waiting.size() >= options_.window_messages) return true;
  if (options_.full_chars > 0 && session.chars >= options_.full_chars) return true;
  const auto idle_ms = static_cast<std::int64_t>(options_.idle_hours * kHourMs);
  return session.newest + idle_ms <= now.value;
}

// The session in which something was said last among those that are ready, and its oldest messages.
Result<std::vector<Seq>> WindowPort::pick(std::size_t limit, TimeMs now, Batch& batch) {
  const Session* best = nullptr;
  std::int64_t total = 0;
  std::int64_t soonest = 0;
  const auto idle_ms = static_cast<std::int64_t>(options_.idle_hours * kHourMs);
  for (const auto& [name, session] : sessions_) {
    total += static_cast<std::int64_t>(session.waiting.size());
    if (session.waiting.empty()) continue;
    if (!is_ready(session, now)) {
      const std::int64_t ready = session.newest + idle_ms;
      if (soonest == 0 || ready < soonest) soonest = ready;
      continue;
    }
    if (best == nullptr || session.newest > best->newest) {
      best = &session;
      job_.session = name;
    }
  }
  std::vector<Seq> wanted;
  if (best != nullptr) {
    for (const Waiting& w : best->waiting) {
      if (wanted.size() >= limit) break;
      wanted.push_back({w.seq});
    }
  }
  batch.pending = total - static_cast<std::int64_t>(wanted.size());
  if (soonest > 0) batch.ready_at = TimeMs{soonest};
  return wanted;
}

Result<std::vector<Seq>> WindowPort::pick_retries(std::size_t limit) {
  CLAWMARK_ASSIGN(const auto wanted, retry_wanted(store_.db(), id(), limit));
  if (wanted.empty()) return wanted;
  CLAWMARK_ASSIGN(const auto rows, read_messages(store_.db(), wanted));
  std::vector<Seq> out;
  for (const auto& row : rows) {
    if (!out.empty() && SessionName{row.agent, row.session_id} != job_.session) continue;
    job_.session = {row.agent, row.session_id};
    out.push_back(row.seq);
  }
  job_.retried = out;
  return out;
}

Result<std::shared_ptr<const Batch>> WindowPort::load(const Load& load, TimeMs now) {
  job_ = {};
  auto batch = std::make_shared<Batch>();
  CLAWMARK_ASSIGN(const bool more, scan(now));
  if (more) {
    batch->passed = 1;
    job_.batch = batch;
    return std::shared_ptr<const Batch>(std::move(batch));
  }
  if (flush_at_start_) {
    for (auto& [name, session] : sessions_) session.flush = true;
    flush_at_start_ = false;
  }
  CLAWMARK_ASSIGN(auto wanted, pick_retries(load.items_max));
  if (wanted.empty()) {
    CLAWMARK_ASSIGN(wanted, pick(load.items_max, now, *batch));
  }
  if (!wanted.empty()) {
    CLAWMARK_TRY(fill(wanted, *batch, now));
    batch->passed = wanted.size();
  } else {
    CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
    if (sessions_.empty() && cursor.position.value < scanned_) batch->passed = 1;
  }
  if (!batch->items.empty() && !options_.local) {
    CLAWMARK_ASSIGN(batch->budget_until, spent_until(now));
  }
  job_.batch = batch;
  return std::shared_ptr<const Batch>(std::move(batch));
}

Status WindowPort::fill(std::span<const Seq> wanted, Batch& batch, TimeMs now) {
  CLAWMARK_ASSIGN(const auto rows, read_messages(store_.db(), wanted));
  for (const auto& row : rows) {
    if (row.state != "deleted") job_.rows.emplace(row.seq.value, row);
  }
  std::vector<Seq> asked;
  for (const Seq seq : wanted) {
    if (job_.rows.contains(seq.value)) {
      asked.push_back(seq);
    } else {
      job_.passed.push_back(seq.value);
    }
  }
  CLAWMARK_ASSIGN(const auto bodies, bodies_.get(store_.db(), asked));
  CLAWMARK_TRY(patience_.check(bodies, now));
  std::size_t chars = 0;
  bool person = false;
  std::vector<std::int64_t> taken;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const MessageRow& row = job_.rows.at(asked[i].value);
    if (bodies[i].state == BodyState::kGone) {
      if (row.role == "user") job_.gone.emplace_back(asked[i], bodies[i].away);
      job_.passed.push_back(asked[i].value);
      continue;
    }
    WorkItem item;
    item.message = asked[i].value;
    const std::string text = presentable_text(bodies[i].text);
    item.window.text = prefix_code_points(text, kMessageChars);
    chars += item.window.text.size();
    if (chars > options_.window_chars && !batch.items.empty())
      break;  // the rest waits for the next window
    item.window.message = item.message;
    item.window.role = row.role;
    item.window.sender = row.sender;
    item.window.speaker = row.speaker;
    item.window.at = row.occurred;
    person = person || row.role == "user";
    taken.push_back(item.message);
    batch.items.push_back(std::move(item));
  }
  if (!person) {  // nobody's word is in it: nothing to ask
    job_.passed.insert(job_.passed.end(), taken.begin(), taken.end());
    batch.items.clear();
  }
  std::stable_sort(batch.items.begin(), batch.items.end(),
                   [](const WorkItem& a, const WorkItem& b) { return a.window.at < b.window.at; });
  return Ok{};
}

const MessageRow* WindowPort::row_of(std::int64_t message) const {
  const auto row = job_.rows.find(message);
  return row == job_.rows.end() ? nullptr : &row->second;
}

const MessageRow* WindowPort::vouching(std::span<const Evidence> evidence) const {
  const MessageRow* newest = nullptr;
  for (const auto& item : evidence) {
    const MessageRow* row = row_of(item.message);
    if (row == nullptr || row->role != "user") continue;
    if (newest == nullptr || row->occurred > newest->occurred) newest = row;
  }
  return newest;
}

NewEvent WindowPort::window_event(const std::vector<const WorkItem*>& items,
                                  std::string_view prefix, std::string_view prompt_version) const {
  std::vector<std::int64_t> seqs;
  TimeMs newest;
  for (const WorkItem* item : items) {
    seqs.push_back(item->message);
    newest = std::max(newest, item->window.at);
  }
  std::sort(seqs.begin(), seqs.end());
  const MessageRow& row = job_.rows.at(seqs.back());
  NewEvent event;
  event.type = options_.completed_type;
  event.scope = {row.agent, row.session_key, lane_from(row.lane), ""};
  event.dedupe_key = std::string(prefix) + ":" + options_.model + ":" +
                     std::string(prompt_version) + ":" + std::to_string(seqs.front()) + "-" +
                     std::to_string(seqs.back());
  event.occurred = newest;
  event.payload = {
      {"session_id", row.session_id}, {"first", seqs.front()},
      {"last", seqs.back()},          {"messages", json::array(seqs.begin(), seqs.end())},
      {"model", options_.model},      {"prompt_version", prompt_version}};
  return event;
}

// To just before the oldest message that still waits.
Status WindowPort::move_cursor(Transaction& txn, const std::set<std::int64_t>& done, TimeMs now) {
  std::int64_t oldest = scanned_ + 1;
  for (const auto& [name, session] : sessions_) {
    for (const Waiting& w : session.waiting) {
      if (name == job_.session && done.contains(w.seq)) continue;
      oldest = std::min(oldest, w.seq);
      break;  // by seq
    }
  }
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(txn.db(), id()));
  if (oldest - 1 <= cursor.position.value) return Ok{};
  return advance_cursor(txn, id(), cursor.position, {oldest - 1}, now);
}

// Of these messages the ones that were forgotten or deleted after they were loaded.
Result<std::set<std::int64_t>> WindowPort::deleted_since(const std::set<std::int64_t>& messages) {
  std::vector<Seq> asked;
  for (const std::int64_t seq : messages) asked.push_back({seq});
  CLAWMARK_ASSIGN(const auto rows, read_messages(store_.db(), asked));
  std::set<std::int64_t> out;
  for (const auto& row : rows) {
    if (row.state == "deleted" && job_.rows.contains(row.seq.value)) out.insert(row.seq.value);
  }
  return out;
}

Status WindowPort::commit(const Commit& commit, TimeMs now) {
  std::set<std::int64_t> done;
  std::vector<const WorkItem*> items;
  for (const std::size_t i : commit.items) {
    items.push_back(&job_.batch->items[i]);
    done.insert(job_.batch->items[i].message);
  }
  if (commit.last) done.insert(job_.passed.begin(), job_.passed.end());
  CLAWMARK_ASSIGN(const auto lost, deleted_since(done));
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  if (is_answer(commit.answer)) {
    // An answer that may speak of what was forgotten while it was awaited counts for nothing; the
    // other messages wait for the next window.
    if (!lost.empty()) {
      done = lost;
    } else if (again(items, commit.answer)) {
      done.clear();
    } else if (const auto event = completed(items, commit.answer)) {
      CLAWMARK_TRY(store_.log().append(txn, *event));
    }
  }
  for (const Seq message : job_.retried) {
    if (done.contains(message.value)) CLAWMARK_TRY(unpark_message(txn, id(), message));
  }
  if (commit.last) {
    for (const auto& [message, away] : job_.gone) {
      CLAWMARK_TRY(park_message(txn, store_.log(), id(), no_text_note(message, away), now));
    }
    CLAWMARK_TRY(move_cursor(txn, done, now));
  }
  CLAWMARK_TRY(txn.commit());
  for (const std::int64_t seq : done) forget(job_.session, seq);
  return Ok{};
}

Status WindowPort::park(const Park& park, TimeMs now) {
  const std::int64_t message = job_.batch->items[park.item].message;
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  CLAWMARK_TRY(park_message(txn, store_.log(), id(),
                            {{message}, park.reason, park.detail, park.attempts}, now));
  CLAWMARK_TRY(txn.commit());
  forget(job_.session, message);
  return Ok{};
}

Result<std::int64_t> WindowPort::pending(TimeMs) {
  std::int64_t total = 0;
  for (const auto& [name, session] : sessions_) {
    total += static_cast<std::int64_t>(session.waiting.size());
  }
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
  const std::int64_t from = scanned_ < 0 ? cursor.position.value : scanned_;
  CLAWMARK_ASSIGN(const auto unseen, store_.db().query_int("SELECT count(*) FROM events WHERE"
                                                           " type = ? AND seq > ?",
                                                           event_type::kMessageObserved, from));
  return total + unseen.value_or(0);
}

}  // namespace clawmark
