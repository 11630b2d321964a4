#pragma once
// Reads sources as ingest does, into plain lists.

#include <map>
#include <string>
#include <vector>

#include "sources/source.h"

namespace clawmark::test {

struct Drained {
  std::vector<Entry> entries;
  std::vector<EpochChange> epochs;
  std::vector<SkippedLine> skipped;
  std::int64_t skipped_total = 0;
  std::optional<std::vector<std::string>> inactive;  // as given last
  std::optional<SkippedLine> stopped;                // by the last batch
  StreamPosition position;

  std::vector<std::string> message_ids() const;  // in order, with repetitions
  std::vector<std::string> texts() const;        // of messages
};

// Reads a stream to its end in batches of `items`.
Drained drain(MessageSource& source, const StreamInfo& stream, StreamPosition from = {},
              std::size_t items = 100);
// All streams to their ends; stream key → what came.
std::map<std::string, Drained> drain_all(MessageSource& source, std::size_t items = 100);
std::vector<StreamInfo> streams(MessageSource& source);
StreamInfo stream_of(MessageSource& source, const std::string& session_id);
// Does every message's body come back with its hash?
void expect_bodies_round_trip(MessageSource& source, const std::string& stream,
                              const std::vector<Entry>& entries);

}  // namespace clawmark::test
