#include "tests/sources/reading.h"

#include <gtest/gtest.h>

namespace clawmark::test {

std::vector<std::string> Drained::message_ids() const {
  std::vector<std::string> out;
  for (const auto& entry : entries) {
    if (entry.kind == EntryKind::kMessage) out.push_back(entry.entry_id);
  }
  return out;
}

std::vector<std::string> Drained::texts() const {
  std::vector<std::string> out;
  for (const auto& entry : entries) {
    if (entry.kind == EntryKind::kMessage) out.push_back(entry.text);
  }
  return out;
}

Drained drain(MessageSource& source, const StreamInfo& stream, StreamPosition from,
              std::size_t items) {
  Drained out;
  out.position = std::move(from);
  for (int round = 0; round < 100000; ++round) {
    auto batch = source.read(stream, out.position, items);
    if (!batch.ok()) {
      ADD_FAILURE() << describe(batch.error());
      return out;
    }
    if (batch->epoch) {
      out.epochs.push_back(*batch->epoch);
      EXPECT_EQ(batch->epoch->epoch, out.position.epoch + 1);
    }
    EXPECT_LE(batch->entries.size(), items);
    for (auto& entry : batch->entries) out.entries.push_back(std::move(entry));
    for (auto& skip : batch->skipped) out.skipped.push_back(skip);
    out.skipped_total += batch->skipped_total;
    if (batch->inactive) out.inactive = std::move(batch->inactive);
    EXPECT_TRUE(!batch->stopped || batch->at_end);
    out.stopped = std::move(batch->stopped);
    out.position = std::move(batch->next);
    if (batch->at_end) return out;
  }
  ADD_FAILURE() << "stream " << stream.key << " never ends";
  return out;
}

std::map<std::string, Drained> drain_all(MessageSource& source, std::size_t items) {
  std::map<std::string, Drained> out;
  const auto streams = source.streams();
  if (!streams.ok()) {
    ADD_FAILURE() << describe(streams.error());
    return out;
  }
  for (const auto& stream : *streams) out[stream.key] = drain(source, stream, {}, items);
  return out;
}

std::vector<StreamInfo> streams(MessageSource& source) {
  auto result = source.streams();
  EXPECT_TRUE(result.ok());
  return result.ok() ? std::move(result).value() : std::vector<StreamInfo>{};
}

StreamInfo stream_of(MessageSource& source, const std::string& session_id) {
  const auto streams = source.streams();
  EXPECT_TRUE(streams.ok());
  if (streams.ok()) {
    for (const auto& stream : *streams) {
      if (stream.session_id == session_id) return stream;
    }
  }
  ADD_FAILURE() << "no stream for session " << session_id;
  return {};
}

void expect_bodies_round_trip(MessageSource& source, const std::string& stream,
                              const std::vector<Entry>& entries) {
  std::vector<MessageSource::Wanted> wanted;
  std::vector<Hash256> hashes;
  for (const auto& entry : entries) {
    if (entry.kind != EntryKind::kMessage) continue;
    wanted.push_back({stream, entry.place, entry.entry_id});
    hashes.push_back(entry.hash);
  }
  const auto bodies = source.bodies(wanted);
  ASSERT_EQ(bodies.size(), wanted.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    ASSERT_TRUE(bodies[i].has_value()) << stream << " place " << wanted[i].place;
    EXPECT_EQ(to_hex(sha256(*bodies[i])), to_hex(hashes[i])) << "place " << wanted[i].place;
  }
}

}  // namespace clawmark::test
