#pragma once
// Read-only carriers of OpenClaw's history behind one interface. An adapter never writes, keeps no
// handle open between calls, reads one bounded batch at a time, and says what drifted instead of
// guessing.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/scope.h"

namespace clawmark {

struct ToolCall {
  std::string call_id;
  std::string name;
};

// What a line or row is, once parsed. One parser (sources/entry_parser.h) makes it for all
// carriers.
enum class EntryKind {
  kMessage,  // something said, or a tool's result
  kReset,    // /new, /reset, idle or daily rollover
  kCompaction,
  kLeaf,   // the branch now continues from target_id
  kOther,  // header, model change, custom data, label, …: only its place in the tree matters
};

struct Entry {
  EntryKind kind = EntryKind::kOther;
  std::string entry_id;   // as the host gave it: UUID or 8 hex
  std::string parent_id;  // entry id; empty for a root or when the carrier keeps no tree
  std::string target_id;  // kLeaf
  std::string session_id;
  std::string session_key;
  TimeMs time;  // of the entry (ISO `timestamp`)
  TimeMs
      message_time;  // of the message (`message.timestamp`, the channel's send time); 0: not given
  // The carrier shows a time in another unit, or one that cannot be (schema/events.md). `time` and
  // `message_time` are righted, or 0 where nothing usable is shown.
  bool time_off = false;
  std::string
      role;  // "user", "assistant", "toolResult", "system", "custom", …; as the host wrote it
  std::string entry_class;  // fixtures' vocabulary: chat, toolResult, delivery-mirror,
                            // gateway-injected, internal_system, excluded-from-context
  std::string noise;        // schema/events.md, `noise`
  std::string
      text;  // raw, valid UTF-8, text blocks joined by '\n'; an oversized one is head + mark + tail
  std::int64_t bytes = 0;  // of the whole raw text, also when `text` is cut
  Hash256 hash;            // SHA-256 of the whole raw text
  std::vector<ToolCall> tools;
  // By what the host itself tells equal messages apart: the call that a result answers, the key
  // under which a channel or a tool submitted it. Empty where it says none (old versions, LCM).
  std::string distinct_by;
  std::string channel, sender_id, sender_name;  // of a user message, when the host recorded them
  bool sender_is_owner = false;
  std::string reason;      // kReset
  std::string place;       // where the carrier keeps it: handed back to bodies()
  std::int64_t order = 0;  // within the session, as the carrier gives it

  // Steps of `time`: 1, or 1000 where the carrier keeps whole seconds (LCM). The same message has
  // floor(time / step) equal in both.
  std::int64_t time_step_ms = 1;
  // Hashes of the same message's text in the form that another carrier may hold (LCM: the text
  // joined from the parts, the original of an externalised payload).
  std::vector<Hash256> other_hashes;
  // Set on a kOther entry: `entry_id` (may be empty) names a second copy of the message `alias_of`
  // (its entry id, or place when it has none), which this carrier already gave.
  std::string alias_of;
};

// One session in one carrier.
struct StreamInfo {
  std::string key;  // stable name of the stream inside its source, independent of file names
  std::string session_id, session_key, agent;
  TimeMs newest;     // as the carrier says without reading it all; 0: not known
  bool live = true;  // false: archive
  bool deleted =
      false;  // deleted by the user at the host; its entries are read, marked, never recalled
  std::string deleted_evidence;  // "archive", "tombstone", "file", "lcm"
  // Changes whenever the stream may give something new or otherwise; empty: unknown, read it. A
  // stream whose tip equals that of its last read to the end may be passed over.
  std::string tip;
};

// A saved place in a stream. `position` and `anchor` are the adapter's own notation (JSON text),
// opaque elsewhere.
struct StreamPosition {
  int epoch = 0;
  std::string position;  // empty: from the start
  std::string anchor;    // what must still be there for the position to be trusted
};

// A stream was found rewritten, replaced, shrunk, renamed or restored: it is read again from the
// start of the new epoch; known messages are recognised by identity.
struct EpochChange {
  int epoch = 0;
  std::string reason;
};

// Instead of a line's number: all that follows in the stream.
inline constexpr std::int64_t kRestOfStream = -1;

struct SkippedLine {
  std::int64_t line = 0;   // physical line number (files) or row (databases), from 1
  std::string reason;      // "syntax", "not_object", "no_message", "too_long", "zstd", …; of the
                           // rest of a stream: "cut_short", "damaged", "permission", "missing", …
  std::string file;        // where: the file, or the database and the session in it
  std::int64_t byte = -1;  // offset of the line in its file; -1: a row
};

struct StreamBatch {
  std::vector<Entry> entries;
  StreamPosition next;
  bool at_end = true;  // nothing more now (a half-written line is not "more")
  std::optional<EpochChange> epoch;
  std::vector<SkippedLine> skipped;
  std::int64_t skipped_total = 0;  // as `skipped` keeps only the first 20
  // This stream alone cannot be read on from here (a damaged archive, no permission for its file):
  // what came before is in `entries`, at_end is true, and `next` is where to go on once it is well.
  std::optional<SkippedLine> stopped;
  // Entries that were read before and that the carrier no longer holds in this session. Counted
  // only: what its owner prunes or moves is not deleted.
  std::int64_t gone = 0;
  // Entry ids of messages of this session that lie off the active path now; nullopt: this carrier
  // cannot tell. Given with the last batch of a read (at_end) whenever it may have changed.
  std::optional<std::vector<std::string>> inactive;
  std::size_t bytes = 0;
};

enum class SourceState {
  kOk,
  kAbsent,
  kNotInitialised,
  kBusy,
  kIncompatible,
  kBroken,
  kStale,
  kForbidden
};
std::string_view to_string(SourceState state);

struct SourceHealth {
  SourceState state = SourceState::kOk;
  std::string reason;   // bounded: "missing_column", "not_a_database", "corrupt", "permission", …
  std::string message;  // names the path, the thing and the remedy
  std::string schema_fingerprint;
  std::vector<std::string>
      notes;  // "2 unknown columns ignored", "header id differs from file name", …
};

class MessageSource {
 public:
  virtual ~MessageSource() = default;
  virtual std::string_view carrier() const = 0;  // "agent-db", "transcripts", "lcm"
  virtual std::string path() const = 0;          // the database, or the agent's sessions folder
  virtual SourceHealth validate() = 0;           // cheap; never throws, never writes
  // All streams that exist now, newest first. Error: retriable (busy, io) or fatal (corrupt,
  // drift).
  virtual Result<std::vector<StreamInfo>> streams() = 0;
  // The next entries after `after`: at most items_max and about kSourceBatchBytes. Error: of the
  // carrier; what only this stream suffers from is told in StreamBatch::stopped.
  virtual Result<StreamBatch> read(const StreamInfo& stream, const StreamPosition& after,
                                   std::size_t items_max) = 0;
  // Raw texts by (stream key, place); nullopt where the carrier no longer has it. The caller checks
  // the hash.
  struct Wanted {
    std::string stream, place, entry_id;
    // Known: what stands at the place under another id counts, too, when it has this hash (a host
    // that rewrites a transcript gives the same words new ids).
    std::optional<Hash256> hash = {};
  };
  virtual std::vector<std::optional<std::string>> bodies(std::span<const Wanted> wanted) = 0;
  // A value that differs after any change to the carrier since it was last asked; "" = look anyway.
  // Must be cheap (stat, PRAGMA data_version).
  virtual std::string change_token() = 0;
};

// Which carriers to read (`source`): auto = all that exist.
enum class SourceChoice { kAuto, kLcm, kTranscripts, kAgentDb };

struct SourceOptions {
  SourceChoice choice = SourceChoice::kAuto;
  std::string state_dir;        // OpenClaw's: default $OPENCLAW_STATE_DIR, else ~/.openclaw
  std::string transcripts_dir;  // CLAWMARK_TRANSCRIPTS_DIR: a further sessions folder; may be empty
  std::string lcm_path;         // CLAWMARK_LCM_DB_PATH; empty: looked for as reference says
  std::vector<std::string> ignore_sessions;  // globs over session keys
};

struct OpenSource {
  std::unique_ptr<MessageSource> source;
  std::string agent;  // empty: the carrier holds several agents (LCM), taken from the session key
  int preference =
      0;  // witness of a message that several hold: lower wins (LCM 0, agent-db 1, transcripts 2)
};

// Finds every carrier under the options. Called again on each round: agents and files come and go.
std::vector<OpenSource> discover_sources(const SourceOptions& options, const Clock& clock);

}  // namespace clawmark
