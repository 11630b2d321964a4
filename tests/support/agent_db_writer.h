#pragma once
// Writes agents/<id>/agent/openclaw-agent.sqlite as OpenClaw 2026.9 does (user_version 23): WAL,
// STRICT tables, zstd payloads, generations, active-branch index, session windows and nodes,
// archives, tombstones.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/conversation.h"
#include "tests/support/host_db.h"

namespace clawmark::support {

class AgentDbWriter {
 public:
  // Opens or makes the database below an OpenClaw state folder. The connection stays open, as the
  // gateway's does.
  AgentDbWriter(std::string state_dir, std::string agent);

  // A session with all its items. The Era of the texts is that of the header; migrated sessions
  // keep version 3.
  void write(const Conversation& conversation, Era era = Era::kDatabase4);
  // Further items of a session that was written (from index `first` of the conversation on).
  void append(const Conversation& conversation, std::size_t first, Era era = Era::kDatabase4);
  void append_json(const std::string& session_id, const std::string& event_json, std::int64_t ms);

  // /new and /reset: one reset row, the same session, the same generation.
  void reset(const std::string& session_id, const std::string& id, std::int64_t ms,
             const std::string& reason = "new");
  // Rewind: a new session id under the same key, all history copied with the same entry ids, then a
  // leaf row; the old window stays. `target` is the entry from which the branch goes on.
  void rewind(const std::string& session_id, const std::string& new_session_id,
              const std::string& target, const std::string& leaf_id, std::int64_t ms);
  // Fork: a new key and session id; history up to and with `last_entry` copied with the same entry
  // ids.
  void fork(const std::string& session_id, const std::string& new_session_id,
            const std::string& new_key, const std::string& last_entry, std::int64_t ms);
  // Deletion by the user: rows gone, archive row, file
  // sessions/<id>.jsonl.deleted.<time>.<generation>.zst. Returns the path of that file.
  std::string remove(const std::string& session_id, std::int64_t ms);
  // The host's own retention: rows and window gone, nothing kept.
  void prune(const std::string& session_id);
  // `openclaw memory forget`.
  void tombstone(const std::string& session_id, std::int64_t ms);
  // Rewrites one row in place (annotation, redaction) and rotates the generation.
  void rewrite_row(const std::string& session_id, std::int64_t seq, const std::string& event_json,
                   std::int64_t ms);
  // Deletes rows with seq >= from, inserts the items from there on, and rotates the generation.
  void replace_suffix(const Conversation& conversation, std::int64_t from, std::size_t first_item,
                      std::int64_t ms);
  void rotate_generation(const std::string& session_id, std::int64_t ms);

  std::int64_t row_count(const std::string& session_id);
  std::string event_json(const std::string& session_id, std::int64_t seq);  // decompressed
  void checkpoint();  // what a clean shutdown leaves: an empty WAL
  HostDb& db() { return *db_; }
  const std::string& path() const { return path_; }

 private:
  void ensure_schema();
  void ensure_session(const Conversation& conversation, std::int64_t ms);
  void insert(const std::string& session_id, std::int64_t seq, const std::string& event_json);
  void reindex(const std::string& session_id, std::int64_t ms);
  void copy_rows(const std::string& from, const std::string& to, std::int64_t last_seq);
  std::int64_t seq_of(const std::string& session_id, const std::string& event_id);

  std::string state_dir_, agent_, path_;
  Ids ids_;
  std::unique_ptr<HostDb> db_;
};

}  // namespace clawmark::support
