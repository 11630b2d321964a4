#include "workers/ingest.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/logging.h"
#include "base/utf8.h"
#include "workers/parking.h"

namespace clawmark {
namespace {

constexpr std::size_t kStreamsPerLoad = 64;    // looked at in one slice when they have nothing new
constexpr std::size_t kStreamsPerCommit = 32;  // short ones, read whole
constexpr std::size_t kBatchesPerCommit = 16;  // what a page of an index costs is shared
constexpr std::size_t kBatchesInTurn = 2;      // beside others
constexpr std::size_t kRewalkBatches = 4000;

std::string agent_of(const OpenSource& open, const StreamInfo& stream) {
  if (!stream.agent.empty()) return stream.agent;
  if (!open.agent.empty()) return open.agent;
  std::string agent = parse_session_key(stream.session_key).agent;
  return agent.empty() ? "main" : agent;
}

// A stream whose conversation becomes known has news, too.
std::string tip_of(const StreamInfo& info) {
  return info.tip + '\x1f' + info.session_key;
}

bool keeps_tree(std::string_view carrier) {
  return carrier != "lcm";
}

}  // namespace

std::string path_suffix(std::string_view path) {
  return "@" + to_hex(sha256(path)).substr(0, 8);
}

IngestPort::IngestPort(Store& store, BodyStore& bodies, IngestOptions options)
    : store_(store),
      options_(std::move(options)),
      writer_(store.log(), bodies),
      batches_per_commit_(kBatchesPerCommit) {}

void IngestPort::share() {
  batches_per_commit_ = kBatchesInTurn;
}

bool IngestPort::is_ignored(std::string_view session_key) const {
  if (parse_session_key(session_key).incognito) return true;
  return std::any_of(options_.ignore_sessions.begin(), options_.ignore_sessions.end(),
                     [&](const std::string& glob) { return glob_match(glob, session_key); });
}

void IngestPort::begin_round(TimeMs now) {
  round_open_ = true;
  round_started_ = now;
  queue_.clear();
  streams_known_ = 0;
  std::vector<std::shared_ptr<Carrier>> before = std::move(carriers_);
  carriers_.clear();
  for (OpenSource& open : options_.discover()) {
    const std::string carrier(open.source->carrier());
    const std::string path = open.source->path();
    const auto known = std::find_if(before.begin(), before.end(), [&](const auto& c) {
      return c && c->carrier == carrier && c->path == path && c->open.agent == open.agent;
    });
    if (known != before.end()) {
      carriers_.push_back(std::move(*known));
    } else {
      auto fresh = std::make_shared<Carrier>();
      fresh->open = std::move(open);
      fresh->carrier = carrier;
      fresh->path = path;
      recall_newest(*fresh);
      carriers_.push_back(std::move(fresh));
    }
  }
  for (const auto& carrier : carriers_) list_streams(carrier, now);
  if (options_.order_as_found) return;
  std::stable_sort(queue_.begin(), queue_.end(), [](const Queued& a, const Queued& b) {
    const bool a_tree = keeps_tree(a.stream.carrier), b_tree = keeps_tree(b.stream.carrier);
    if (a_tree != b_tree) return a_tree;
    if (a.stream.info.newest != b.stream.info.newest) {
      return a.stream.info.newest > b.stream.info.newest;
    }
    return a.stream.position_key < b.stream.position_key;
  });
}

// When something was last said in a carrier, as read by earlier processes. File times prove
// nothing.
void IngestPort::recall_newest(Carrier& carrier) {
  auto query = store_.db().cached(
      "SELECT stream, newest_ms FROM source_positions"
      " WHERE carrier = ?");
  if (!query.ok()) return;
  (*query)->with(carrier.carrier);
  const std::string suffix = path_suffix(carrier.path);
  for (;;) {
    const auto row = (*query)->step();
    if (!row.ok() || !*row) break;
    const std::string_view stream = (*query)->text(0);
    if (!stream.ends_with(suffix)) continue;
    TimeMs& newest = carrier.newest_by_agent[std::string(stream.substr(0, stream.find('/')))];
    newest = std::max(newest, (*query)->time(1));
  }
  (*query)->reset();
}

void IngestPort::list_streams(const std::shared_ptr<Carrier>& carrier, TimeMs now) {
  carrier->in_round = carrier->failed = false;
  carrier->token = carrier->open.source->change_token();
  const bool same = !carrier->token.empty() && carrier->token == carrier->done_token;
  if (same && !any_retry_due(*carrier, now)) return;
  carrier->health = carrier->open.source->validate();
  carrier->seen = true;
  if (carrier->health.state != SourceState::kOk) {
    carrier->failed = true;
    return;
  }
  auto streams = carrier->open.source->streams();
  if (!streams.ok()) {
    source_failed(*carrier, streams.error());
    return;
  }
  carrier->in_round = true;
  carrier->listed.clear();
  streams_known_ += streams->size();
  const std::string suffix = path_suffix(carrier->path);
  std::int64_t ignored = 0;
  for (StreamInfo& info : *streams) {
    StreamRef ref;
    ref.agent = agent_of(carrier->open, info);
    ref.carrier = carrier->carrier;
    ref.position_key = ref.agent + "/" + info.key + suffix;
    carrier->listed.insert(ref.position_key);
    if (is_ignored(info.session_key)) {
      ++ignored;
      continue;
    }
    carrier->newest_by_agent.try_emplace(ref.agent);
    const auto tip = tips_.find(ref.position_key);
    const bool known = !info.tip.empty() && tip != tips_.end() && tip->second == tip_of(info);
    if (known && !retry_due(ref.position_key, now)) continue;
    ref.info = std::move(info);
    queue_.push_back({carrier, std::move(ref), true});
  }
  carrier->counters["sessions_ignored"] = ignored;
}

void IngestPort::source_failed(Carrier& carrier, const Error& error) {
  carrier.failed = true;
  carrier.in_round = false;
  carrier.health.state =
      error.kind == ErrorKind::kRetriable ? SourceState::kBusy : SourceState::kBroken;
  if (error.reason == "permission") carrier.health.state = SourceState::kForbidden;
  carrier.health.reason = error.reason;
  carrier.health.message = error.message;
}

// Where to read on. A stream whose conversation has become known is read again from its start: what
// was seen of it is sighted with its key.
Result<StreamPosition> IngestPort::position_of(const StreamRef& stream) {
  CLAWMARK_ASSIGN(auto* query, store_.db().cached("SELECT epoch, position, anchor, note FROM"
                                                  " source_positions WHERE carrier = ?"
                                                  " AND stream = ?"));
  CLAWMARK_ASSIGN(const bool row, query->with(stream.carrier, stream.position_key).step());
  StreamPosition position;
  if (row) {
    position.epoch = static_cast<int>(query->integer(0));
    const bool again = query->text(3) == kKeylessNote && !stream.info.session_key.empty();
    if (!again) {
      position.position = query->text(1);
      position.anchor = query->text(2);
    }
  }
  query->reset();
  return position;
}

// What was read and is not in the log is read again: now, or after all others, so that one that
// cannot be written does not hold them up.
void IngestPort::put_back(std::vector<ReadBatch> reads, bool last) {
  for (auto read = reads.rbegin(); read != reads.rend(); ++read) {
    writer_.forget(read->from.stream);
    branches_.erase(read->from.stream.position_key);
    deleted_noted_.erase(read->from.stream.position_key);
    if (last) {
      queue_.push_back(std::move(read->from));
    } else {
      queue_.push_front(std::move(read->from));
    }
  }
}

Result<std::shared_ptr<const Batch>> IngestPort::load(const Load& load, TimeMs now) {
  put_back(std::exchange(reads_, {}), true);  // a load failed behind them
  auto batch = std::make_shared<Batch>();
  const bool relist = round_open_ && !queue_.empty() &&
                      (now.value - round_started_.value > kRelistMs || now < round_started_);
  if (!stops_) CLAWMARK_TRY(recall_stops());
  if (!round_open_ || relist) begin_round(now);
  CLAWMARK_ASSIGN(const bool more, read_next(load, now));
  if (more) {
    batch->passed = std::max<std::size_t>(1, items_read());
    batch->pending = static_cast<std::int64_t>(queue_.size());
    return std::shared_ptr<const Batch>(std::move(batch));
  }
  CLAWMARK_TRY(end_round(now));
  return std::shared_ptr<const Batch>(std::move(batch));
}

std::size_t IngestPort::items_read() const {
  std::size_t items = 0;
  for (const auto& read : reads_) items += read.batch.entries.size();
  return items;
}

std::size_t IngestPort::bytes_read() const {
  std::size_t bytes = 0;
  for (const auto& read : reads_) bytes += read.batch.bytes;
  return bytes;
}

// Reads on until there is enough for a commit. Whole short streams share one; what continues a
// stream is committed alone, as its tree may have to be looked up in what is committed. False: the
// round is over.
Result<bool> IngestPort::read_next(const Load& load, TimeMs now) {
  const std::size_t together_max = alone_ > 0 ? 1 : kStreamsPerCommit;
  if (alone_ > 0) --alone_;
  for (std::size_t looked = 0; looked < kStreamsPerLoad; ++looked) {
    if (queue_.empty()) return !reads_.empty();
    if (queue_.front().carrier->failed) {
      queue_.pop_front();
      continue;
    }
    CLAWMARK_ASSIGN(StreamPosition position, position_of(queue_.front().stream));
    const bool continues = !position.position.empty();
    if (continues && !reads_.empty()) return true;
    Queued next = std::move(queue_.front());
    queue_.pop_front();
    CLAWMARK_ASSIGN(const bool news, read_stream(load, std::move(next), std::move(position), now));
    if (!news) continue;
    const bool full = reads_.size() >= together_max ||
                      items_read() >= batches_per_commit_ * load.items_max ||
                      bytes_read() >= kSourceBatchBytes;
    if (continues || full || !reads_.back().batch.at_end) return true;
  }
  return true;
}

// One batch of a stream, kept when it is worth a commit.
Result<bool> IngestPort::read_stream(const Load& load, Queued next, StreamPosition position,
                                     TimeMs now) {
  auto batch = next.carrier->open.source->read(next.stream.info, position, load.items_max);
  if (!batch.ok()) {
    source_failed(*next.carrier, batch.error());
    return false;
  }
  const bool moved = batch->next.position != position.position ||
                     batch->next.epoch != position.epoch || batch->next.anchor != position.anchor;
  const bool stop_news = stop_changed(next.stream, *batch, now);
  const bool news =
      moved || stop_news || batch->epoch || branch_changed(next.stream, *batch) ||
      !batch->entries.empty() ||
      (next.stream.info.deleted && deleted_noted_.insert(next.stream.position_key).second);
  if (batch->at_end && !news) {
    tips_[next.stream.position_key] = tip_of(next.stream.info);
    return false;
  }
  if (!batch->at_end && !moved) {
    // A source that neither moves nor ends would be asked for ever.
    source_failed(*next.carrier,
                  make_error(ErrorKind::kFatal, "source", "stuck",
                             "the reader of " + next.carrier->path + " does not move"));
    return false;
  }
  reads_.push_back({std::move(next), std::move(position), std::move(batch).value()});
  CLAWMARK_TRY(rewalk_if_needed(reads_.back()));
  return true;
}

// A carrier may say at each read which entries lie off the path: only another list is news.
bool IngestPort::branch_changed(const StreamRef& stream, const StreamBatch& batch) {
  if (!batch.inactive) return false;
  std::string list;
  for (const auto& id : *batch.inactive) list += id + '\n';
  const auto known = branches_.find(stream.position_key);
  if (known != branches_.end() && known->second == list) return false;
  branches_[stream.position_key] = std::move(list);
  return true;
}

Status IngestPort::rewalk_if_needed(const ReadBatch& read) {
  CLAWMARK_ASSIGN(const bool needed,
                  writer_.needs_rewalk(store_.db(), read.from.stream, read.position, read.batch));
  if (!needed) return Ok{};
  StreamPosition at;
  at.epoch = read.position.epoch;
  for (std::size_t i = 0; i < kRewalkBatches; ++i) {
    auto batch = read.from.carrier->open.source->read(read.from.stream.info, at, kSourceBatchItems);
    if (!batch.ok()) break;  // parents stay unknown
    CLAWMARK_TRY(writer_.rewalk(store_.db(), read.from.stream, batch->entries));
    if (batch->at_end || batch->next.position == at.position) break;
    at = batch->next;
  }
  writer_.rewalked(read.from.stream);
  return Ok{};
}

Status IngestPort::commit(const Commit&, TimeMs now) {
  if (reads_.empty()) return Ok{};
  std::vector<ReadBatch> reads = std::exchange(reads_, {});
  std::vector<BatchCounts> counts;
  if (Status written = write_all(reads, counts, now); !written.ok()) {
    if (reads.size() == 1) {
      put_back(std::move(reads), true);
      return written;
    }
    // One of them spoils it for the others: each by itself.
    alone_ = reads.size();
    put_back(std::move(reads), false);
    return Ok{};
  }
  for (std::size_t i = 0; i < reads.size(); ++i) committed(std::move(reads[i]), counts[i], now);
  return Ok{};
}

Status IngestPort::write_all(const std::vector<ReadBatch>& reads, std::vector<BatchCounts>& counts,
                             TimeMs now) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  for (const auto& read : reads) {
    CLAWMARK_ASSIGN(const BatchCounts one,
                    writer_.write(txn, read.from.stream, read.position, read.batch, now));
    counts.push_back(one);
  }
  return txn.commit();
}

void IngestPort::committed(ReadBatch read, const BatchCounts& counts, TimeMs now) {
  messages_ingested_ += counts.messages;
  Carrier& carrier = *read.from.carrier;
  carrier.counters["messages"] += counts.messages;
  carrier.counters["sightings"] += counts.sightings;
  carrier.counters["duplicate_rows_ignored"] += counts.duplicates;
  carrier.counters["skipped"] += counts.skipped;
  carrier.counters["times_righted"] += counts.times_righted;
  if (read.batch.gone > 0) carrier.counters["gone_at_source"] += read.batch.gone;
  carrier.counters_changed = true;
  TimeMs& newest = carrier.newest_by_agent[read.from.stream.agent];
  newest = std::max(newest, std::min(counts.newest, now));
  if (counts.skipped > 0) {
    log_info("ingest", "skipped " + std::to_string(counts.skipped) + " lines of stream " +
                           read.from.stream.info.key);
  }
  stop_written(read.from.stream, read.batch, now);
  if (read.batch.at_end) {
    tips_[read.from.stream.position_key] = tip_of(read.from.stream.info);
  } else {
    read.from.first_read = false;
    queue_.push_front(std::move(read.from));
  }
}

std::optional<SourceHealth> IngestPort::silence(const Carrier& carrier, TimeMs now) const {
  TimeMs own, others;
  for (const auto& [agent, newest] : carrier.newest_by_agent) {
    own = std::max(own, std::min(newest, now));
    for (const auto& other : carriers_) {
      if (other.get() == &carrier) continue;
      const auto there = other->newest_by_agent.find(agent);
      if (there != other->newest_by_agent.end()) {
        others = std::max(others, std::min(there->second, now));
      }
    }
  }
  if (own.value == 0 || others.value - own.value <= kStaleAfterMs) return std::nullopt;
  SourceHealth health;
  health.state = SourceState::kStale;
  health.reason = "silent";
  health.message = carrier.path + ": nothing newer than " + format_iso(own) +
                   " while the agent went on until " + format_iso(others) +
                   " elsewhere; what it holds stays read, the other carriers go on";
  return health;
}

Result<std::int64_t> IngestPort::pending(TimeMs) {
  return static_cast<std::int64_t>(queue_.size() + reads_.size());
}

// Of a carrier that is well: what is odd about it, for status.
std::string joined_notes(const std::vector<std::string>& notes) {
  constexpr std::size_t kShown = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(notes.size(), kShown); ++i) {
    out += (i == 0 ? "" : "; ") + notes[i];
  }
  if (notes.size() > kShown) out += "; and " + std::to_string(notes.size() - kShown) + " more";
  return out;
}

// States of the carriers, for status; an event for each that changed for the worse.
Status IngestPort::end_round(TimeMs now) {
  round_open_ = false;
  std::vector<Carrier*> changed;
  for (const auto& carrier : carriers_) {
    if (carrier->in_round && !carrier->failed) {
      carrier->done_token = carrier->token;
      CLAWMARK_TRY(sweep_vanished(*carrier, now));
      CLAWMARK_TRY(forget_gone_stops(*carrier));
      if (!std::exchange(carrier->was_read, true)) {
        CLAWMARK_TRY(retry_away(store_, carrier->carrier, carrier->open.agent, now));
      }
    }
    if (carrier->failed) carrier->was_read = false;
    if (!carrier->seen) continue;
    if (!carrier->failed) {
      carrier->health.state = SourceState::kOk;
      carrier->health.reason.clear();
      std::vector<std::string> notes = stop_notes(*carrier);
      notes.insert(notes.end(), carrier->health.notes.begin(), carrier->health.notes.end());
      carrier->health.message = joined_notes(notes);
      if (auto silent = silence(*carrier, now)) carrier->health = std::move(*silent);
    }
    if (state_changed(*carrier, now) || carrier->counters_changed) changed.push_back(carrier.get());
  }
  CLAWMARK_TRY(note_absent(now));
  if (changed.empty()) return Ok{};
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  for (Carrier* carrier : changed) CLAWMARK_TRY(save_state(txn, *carrier, now));
  return txn.commit();
}

}  // namespace clawmark
