#pragma once
// Writes agents/<id>/sessions/*.jsonl and sessions.json as OpenClaw up to 2026.7 does, and what its
// lifecycle and the migration to the agent database leave behind.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/agent_db_writer.h"
#include "tests/support/conversation.h"

namespace clawmark::support {

class TranscriptWriter {
 public:
  // `state_dir` is OpenClaw's state folder; the sessions folder is made.
  TranscriptWriter(std::string state_dir, std::string agent, Era era = Era::kFiles3);

  // Writes the file and enters the session in sessions.json. Returns the file's path.
  std::string write(const Conversation& conversation);
  void append(const Conversation& conversation, std::size_t first);
  // Bytes as they are: half lines, garbage, CRLF.
  void append_raw(const std::string& session_id, std::string_view bytes);
  // The whole file anew (new inode), as truncation and rewriting do.
  void rewrite(const Conversation& conversation);
  // /new, /reset: the file is renamed to .jsonl.reset.<time> (same inode); the key gets a new
  // session at once, whose file comes with its first message; the index remembers the family.
  // Returns the new path.
  std::string reset(const std::string& session_id, std::int64_t ms);
  // Deletion: renamed to .jsonl.deleted.<time>, entry gone from sessions.json. Returns the new
  // path.
  std::string remove(const std::string& session_id, std::int64_t ms);
  // What `openclaw doctor --fix` of 2026.9 does: live sessions go row by row into the database with
  // their ids, files move to session-sqlite-import-archive/; .reset files stay.
  void migrate(AgentDbWriter& database, std::int64_t ms);

  std::string path(const std::string& session_id) const;
  const std::string& folder() const { return folder_; }
  void write_index();  // sessions.json, replaced atomically

 private:
  std::string agent_folder_, folder_;
  Era era_;
  std::map<std::string, Conversation> live_;  // by session id
  std::map<std::string, std::vector<std::string>>
      families_;                                  // key → earlier sessions, oldest first
  std::map<std::string, std::int64_t> reset_ms_;  // key → time of the newest reset
};

// The whole content of a transcript file.
std::string transcript_text(const Conversation& conversation, Era era);

}  // namespace clawmark::support
