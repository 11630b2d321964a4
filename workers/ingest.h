#pragma once
// ingest: what the carriers hold, into the log. Goes round all carriers and their streams, newest
// sessions first; carriers that keep the tree and milliseconds (agent database, files) before LCM,
// whose rows are then matched against them. A carrier that drifts, breaks, disappears or goes
// silent is reported; the others go on.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "log/body_store.h"
#include "log/store.h"
#include "sources/source.h"
#include "workers/ingest_writer.h"
#include "workers/port.h"

namespace clawmark {

struct IngestOptions {
  std::function<std::vector<OpenSource>()> discover;
  std::vector<std::string> ignore_sessions;  // globs over session keys: never read
  // Carriers in the order in which they are found instead of precise ones first: for tests.
  bool order_as_found = false;
};

// Two folders of one agent may hold streams of the same name: the end of their position keys.
std::string path_suffix(std::string_view path);

class IngestPort final : public Port {
 public:
  IngestPort(Store& store, BodyStore& bodies, IngestOptions options);
  WorkerId id() const override { return {"ingest", 1}; }
  Result<std::shared_ptr<const Batch>> load(const Load& load, TimeMs now) override;
  Status commit(const Commit& commit, TimeMs now) override;
  Result<std::int64_t> pending(TimeMs now) override;
  void share() override;
  // Streams known and not yet read to the end in this round.
  std::size_t streams_left() const { return queue_.size(); }
  std::size_t streams_known() const { return streams_known_; }
  std::int64_t messages_ingested() const { return messages_ingested_; }

 private:
  struct Carrier {
    OpenSource open;
    std::string carrier, path, token;  // token: as of the start of this round
    std::string done_token;            // as of the last round that read it to the end
    bool in_round = false, failed = false, seen = false;
    bool was_read = false;         // to the end, in the round before
    std::set<std::string> listed;  // position keys of the streams of this round
    SourceHealth health;
    std::map<std::string, TimeMs> newest_by_agent;
    std::map<std::string, std::int64_t> counters;
    bool counters_changed = false;
  };
  struct Queued {
    std::shared_ptr<Carrier> carrier;
    StreamRef stream;
    bool first_read = true;
  };
  struct ReadBatch {
    Queued from;
    StreamPosition position;
    StreamBatch batch;
  };

  void begin_round(TimeMs now);
  Status note_absent(TimeMs now);
  void list_streams(const std::shared_ptr<Carrier>& carrier, TimeMs now);
  void recall_newest(Carrier& carrier);
  // Streams that cannot be read on (ingest_stops.cc).
  Status recall_stops();
  bool stop_changed(const StreamRef& stream, const StreamBatch& batch, TimeMs now);
  void stop_written(const StreamRef& stream, const StreamBatch& batch, TimeMs now);
  bool retry_due(const std::string& position_key, TimeMs now) const;
  bool any_retry_due(const Carrier& carrier, TimeMs now) const;
  Status forget_gone_stops(Carrier& carrier);
  std::vector<std::string> stop_notes(const Carrier& carrier) const;
  bool branch_changed(const StreamRef& stream, const StreamBatch& batch);
  bool is_ignored(std::string_view session_key) const;
  Result<bool> read_next(const Load& load, TimeMs now);
  Result<bool> read_stream(const Load& load, Queued next, StreamPosition position, TimeMs now);
  std::size_t items_read() const;
  std::size_t bytes_read() const;
  Result<StreamPosition> position_of(const StreamRef& stream);
  Status rewalk_if_needed(const ReadBatch& read);
  void source_failed(Carrier& carrier, const Error& error);
  Status write_all(const std::vector<ReadBatch>& reads, std::vector<BatchCounts>& counts,
                   TimeMs now);
  void put_back(std::vector<ReadBatch> reads, bool last);
  void committed(ReadBatch read, const BatchCounts& counts, TimeMs now);
  Status end_round(TimeMs now);
  Status sweep_vanished(const Carrier& carrier, TimeMs now);
  Status save_state(Transaction& txn, Carrier& carrier, TimeMs now);
  bool state_changed(Carrier& carrier, TimeMs now);
  std::optional<SourceHealth> silence(const Carrier& carrier, TimeMs now) const;

  Store& store_;
  IngestOptions options_;
  IngestWriter writer_;
  std::vector<std::shared_ptr<Carrier>> carriers_;
  std::deque<Queued> queue_;
  std::vector<ReadBatch> reads_;    // of the commit to come
  std::size_t batches_per_commit_;  // at most
  std::size_t alone_ = 0;           // streams still to be committed one by one, after a failure
  std::map<std::string, std::string> tips_;      // stream → tip when read to the end
  std::map<std::string, std::string> branches_;  // stream → inactive entries as last read
  struct Stop {
    std::string carrier;
    SkippedLine what;
    TimeMs tried;
  };
  // Streams that cannot be read on, as in skipped_lines, by position key. Nothing until recalled.
  std::optional<std::map<std::string, Stop>> stops_;
  std::set<std::string> deleted_noted_;  // streams whose deletion this process has written
  struct Shown {
    std::string state, reason;
    std::int64_t changes = 0;
    TimeMs newest;
  };
  std::map<std::pair<std::string, std::string>, Shown> shown_;  // as in source_states
  // Carriers and paths, as last looked at.
  std::optional<std::set<std::pair<std::string, std::string>>> found_;
  bool round_open_ = false;
  TimeMs round_started_;
  std::size_t streams_known_ = 0;
  std::int64_t messages_ingested_ = 0;
};

}  // namespace clawmark
