#pragma once
// Small things that all adapters share.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sources/source.h"

namespace clawmark {

// Keeps the first 20 of a batch and counts all.
void note_skip(StreamBatch& batch, SkippedLine skipped);
// What an error says of one stream; the error itself when it is of the whole carrier. `byte`: where
// in its content.
Result<SkippedLine> stop_of(const Error& error, const std::string& file, std::int64_t byte);
// A batch in which nothing was read, or the error.
Result<StreamBatch> stopped_batch(const StreamPosition& after, const Error& error,
                                  const std::string& file, std::int64_t byte = -1);
// The stream's identity on an entry, and the channel that its session key names when the host gave
// none.
void stamp_entry(Entry& entry, const StreamInfo& stream);
// Matches a glob of `ignore`, or names a conversation that must not be remembered (incognito).
bool is_ignored(std::string_view session_key, const std::vector<std::string>& ignore);
// Position or anchor as an object; empty object when it is not one.
json::object parse_state(std::string_view text);
// 16 hex digits.
std::string short_hash(std::string_view data);
// What an entry weighs in a batch, in bytes.
std::size_t weight(const Entry& entry);
bool by_newest(const StreamInfo& a, const StreamInfo& b);

}  // namespace clawmark
