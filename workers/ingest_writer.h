#pragma once
// One batch of a stream into the log, in one transaction: message.observed, message.sighted,
// session.branch, session.deleted, session.marked, source.epoch, with locators, contents, vault and
// position.

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "log/body_store.h"
#include "log/event_log.h"
#include "sources/source.h"
#include "workers/identity.h"

namespace clawmark {

// A stream of a source, as ingest knows it.
struct StreamRef {
  std::string agent, carrier;
  std::string position_key;  // of source_positions: agent/stream, and the path's hash
  StreamInfo info;
};

// source_positions.note while messages of a stream stand without the key of their conversation.
inline constexpr std::string_view kKeylessNote = "conversation not known yet";

inline constexpr std::int64_t kSkippedKept = 20;  // lines told of one stream

struct BatchCounts {
  std::int64_t entries = 0, messages = 0, sightings = 0, duplicates = 0, skipped = 0, marks = 0;
  std::int64_t times_righted = 0;  // new messages whose time the carrier shows wrongly
  std::int64_t keyless = 0;        // messages of which the conversation is not known
  TimeMs newest;
};

// The tree of one stream: entry id → the message that it is, or its nearest ancestor that is one.
struct StreamTree {
  std::unordered_map<std::string, std::int64_t> nearest;  // 0: none
  bool from_start = false;  // built from the first entry on, so that unknown means unknown
  bool own_call = false;    // the last person's message was a prompt of ours
  bool own_call_known = false;
};

class IngestWriter {
 public:
  // Walks the stream again for its tree, without writing; called at most once per stream and
  // process.
  using Rewalk = std::function<Status(StreamTree&)>;

  IngestWriter(EventLog& log, BodyStore& bodies) : log_(log), bodies_(bodies) {}

  // Within the caller's transaction. `from` is the position that was read after.
  Result<BatchCounts> write(Transaction& txn, const StreamRef& stream, const StreamPosition& from,
                            const StreamBatch& batch, TimeMs now);
  // Whether write() would need the tree of what lies before `batch`; then call rewalk() first,
  // outside of any transaction.
  Result<bool> needs_rewalk(Database& db, const StreamRef& stream, const StreamPosition& from,
                            const StreamBatch& batch);
  Status rewalk(Database& db, const StreamRef& stream, std::span<const Entry> entries);
  void rewalked(const StreamRef& stream);
  // After a write that was rolled back: what was learnt of the stream's tree is not so.
  void forget(const StreamRef& stream);

 private:
  StreamTree& tree_of(const std::string& key);
  static Result<TimeMs> time_before(Database& db, const StreamRef& stream,
                                    const StreamPosition& from, const StreamBatch& batch,
                                    TimeMs now);
  Met meet(const StreamRef& stream, const Entry& entry) const;
  Status write_entry(Transaction& txn, const StreamRef& stream, const Entry& entry,
                     StreamTree& tree, TimeMs now, BatchCounts& counts);
  Status write_message(Transaction& txn, const StreamRef& stream, const Entry& entry,
                       StreamTree& tree, BatchCounts& counts);
  Result<Seq> observe(Transaction& txn, const Met& met, const Entry& entry, std::int64_t parent,
                      const std::string& noise);
  Status keep_text(Transaction& txn, const Met& met, Seq message, bool known);
  Result<bool> was_changed(Transaction& txn, const Met& met, Seq message);
  Status sight(Transaction& txn, const Met& met, Seq message, BatchCounts& counts);
  Status write_alias(Transaction& txn, const StreamRef& stream, const Entry& entry,
                     BatchCounts& counts);
  Status write_mark(Transaction& txn, const StreamRef& stream, const Entry& entry,
                    BatchCounts& counts);
  Status write_branch(Transaction& txn, const StreamRef& stream,
                      const std::vector<std::string>& inactive, const StreamTree& tree, TimeMs now);
  Status write_deleted(Transaction& txn, const StreamRef& stream, TimeMs now);
  Status note_skipped(Transaction& txn, const StreamRef& stream, const StreamPosition& from,
                      const StreamBatch& batch, TimeMs now);
  Status write_position(Transaction& txn, const StreamRef& stream, const StreamBatch& batch,
                        const BatchCounts& counts, TimeMs now);
  Result<std::int64_t> resolve(Identity& identity, const StreamRef& stream, const StreamTree& tree,
                               const std::string& entry_id);
  Result<std::string> noise_of(Identity& identity, const Met& met, StreamTree& tree,
                               std::int64_t parent);

  EventLog& log_;
  BodyStore& bodies_;
  TimeMs near_;                       // of the entry before, in the order of the stream
  std::optional<Identity> identity_;  // of the batch at hand
  std::unordered_map<std::string, StreamTree> trees_;
  std::deque<std::string> tree_order_;
};

// The person who speaks (schema/events.md, scope `sender`): the host's sender id, else the peer of
// a direct chat, else the owner on an operator surface.
std::string sender_of(const Entry& entry, std::string_view role, std::string_view session_key);

}  // namespace clawmark
