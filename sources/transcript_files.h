#pragma once
// Names in a sessions folder, and what the index sessions.json says of them.
//
//   <id>.jsonl                                 live
//   <id>.jsonl.reset.<time>                    archive of a reset: read
//   <id>.jsonl.deleted.<time>[.<gen>][.zst]    deleted by the user: read, marked deleted
//   <id>.jsonl.bak…                            copy: read as an archive
//   <key>.<id>.jsonl.imported-<ms>             moved aside by the migration to the agent database:
//   archive
//   *.trajectory.*, *.checkpoint.*, *.lock, sessions.json, .*, everything else: not chats, ignored

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/source.h"

namespace clawmark {

enum class FileKind { kLive, kReset, kDeleted, kImported, kBackup };

struct TranscriptName {
  FileKind kind = FileKind::kLive;
  std::string stem;   // the session id as the name has it
  std::string stamp;  // after the kind: time, generation
  bool zstd = false;
};
std::optional<TranscriptName> parse_transcript_name(std::string_view name);

struct TranscriptFile {
  std::string path;
  TranscriptName name;
  std::string header_id;  // of the first line, "" when there is none yet
  std::string key;        // of the stream
  std::string session_id, session_key;
  bool deleted = false;
  std::int64_t size = 0, mtime_ms = 0;
  std::string tip;
};

struct TranscriptListing {
  std::vector<TranscriptFile> files;
  std::vector<std::string> notes;  // header id and name differ, …
};

// Lists the folders (first: live sessions) and gives each file its stream key: the name's id, with
// the header's id when that is another one, so that it survives a rename to .reset; a second file
// of the same key gets its kind and stamp added.
TranscriptListing list_transcripts(const std::vector<std::string>& folders);

// Session id → session key from the text of sessions.json (both layouts) .
void read_session_index(std::string_view text, std::map<std::string, std::string>& keys);

// Differs after any change to a listed file or an index; "" when something changed too recently to
// be sure.
std::string transcripts_change_token(const std::vector<std::string>& folders);

}  // namespace clawmark
