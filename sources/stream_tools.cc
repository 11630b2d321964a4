#include "sources/stream_tools.h"

#include "base/hash.h"
#include "base/scope.h"
#include "base/utf8.h"

namespace clawmark {

void note_skip(StreamBatch& batch, SkippedLine skipped) {
  constexpr std::size_t kKept = 20;
  if (batch.skipped.size() < kKept) batch.skipped.push_back(std::move(skipped));
  ++batch.skipped_total;
}

Result<SkippedLine> stop_of(const Error& error, const std::string& file, std::int64_t byte) {
  SkippedLine stop{kRestOfStream, error.reason, file, byte};
  if (error.stage == "zstd") {
    stop.reason = error.reason == "cut" ? "cut_short" : "damaged";
    return stop;
  }
  const bool own =
      error.reason == "permission" || error.reason == "missing" || error.reason == "too_big";
  if (!own || error.kind == ErrorKind::kRetriable) return error;
  return stop;
}

Result<StreamBatch> stopped_batch(const StreamPosition& after, const Error& error,
                                  const std::string& file, std::int64_t byte) {
  StreamBatch batch;
  batch.next = after;
  CLAWMARK_ASSIGN(batch.stopped, stop_of(error, file, byte));
  return batch;
}

void stamp_entry(Entry& entry, const StreamInfo& stream) {
  entry.session_id = stream.session_id;
  entry.session_key = stream.session_key;
  if (entry.role != "user") return;
  const auto key = parse_session_key(stream.session_key);
  if (entry.sender_id.empty() && entry.entry_class == "chat" && key.lane == Lane::kDirect) {
    entry.sender_id = key.peer.substr(0, key.peer.find(':'));
  }
  if (entry.channel.empty() && !entry.sender_id.empty()) entry.channel = key.channel;
}

bool is_ignored(std::string_view session_key, const std::vector<std::string>& ignore) {
  if (session_key.empty()) return false;
  if (parse_session_key(session_key).incognito) return true;
  for (const auto& glob : ignore) {
    if (glob_match(glob, session_key)) return true;
  }
  return false;
}

json::object parse_state(std::string_view text) {
  if (text.empty()) return {};
  auto parsed = parse_json(text);
  return parsed.ok() && parsed->is_object() ? std::move(parsed->get_object()) : json::object{};
}

std::string short_hash(std::string_view data) {
  return to_hex(sha256(data)).substr(0, 16);
}

std::size_t weight(const Entry& entry) {
  return entry.text.size() + 256;
}

bool by_newest(const StreamInfo& a, const StreamInfo& b) {
  return a.newest != b.newest ? a.newest > b.newest : a.key < b.key;
}

}  // namespace clawmark
