#pragma once
// Large contents of messages, by content (file.explored). View graph_files. Whether one may be seen
// is asked of the message that holds it, so that it goes with it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

struct LargeFileRow {
  std::string id, name, mime, kind, summary;      // id: lf_ and 16 hex digits of the content's hash
  std::int64_t bytes = 0, tokens = 0, start = 0;  // start: in the message's text, in bytes
  bool whole = false;                             // the content is the message's whole text
  Seq message;
  std::string role, speaker, session_id, entry_id;
  Hash256 message_hash;  // of the message's whole text
  TimeMs said;
};

// Whose messages, and as of when.
struct FileScope {
  std::string agent;
  std::span<const std::string> audiences;
  TimeMs last_said{INT64_MAX};
  std::int64_t last_seq = INT64_MAX;
};

// Newest first, one row for each content.
Result<std::vector<LargeFileRow>> list_large_files(Database& db, const FileScope& scope,
                                                   std::size_t limit);
// The newest message that holds it.
Result<std::optional<LargeFileRow>> find_large_file(Database& db, const FileScope& scope,
                                                    std::string_view id);
// Contents of messages with this whole text, in the order in which they stand in it.
Result<std::vector<LargeFileRow>> large_files_of_text(Database& db, const FileScope& scope,
                                                      const Hash256& text);

}  // namespace clawmark
