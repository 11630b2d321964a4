#pragma once
// One OpenClaw transcript entry: JSON text → Entry. Used by every carrier that keeps entries as
// JSON: files, archives, the agent database. Shapes: reference of OpenClaw 2026.3 – 2026.9 (entry
// `type`, `message.role`, string or block content).
//
// The text of a message is its string content, or its blocks of type "text" joined by '\n'. Lone
// surrogate escapes and ill-formed UTF-8 become U+FFFD before anything is hashed, so that text and
// hash are the same in every run.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sources/source.h"

namespace clawmark {

struct ParsedEntry {
  std::string type;           // "session", "message", "leaf", …
  bool parent_given = false;  // the member parentId is there, if only as null
  Entry entry;  // session_id only for a header (its id); place and order are the carrier's
};

// Fed piece by piece, so that a line of any length needs memory only for what is kept of it: text
// up to kEntryTextMax, beyond that head and tail of kEntryExcerptBytes each; bytes and hash are
// always of the whole.
class EntryParser {
 public:
  enum class Keep { kBounded, kWholeText };
  explicit EntryParser(Keep keep = Keep::kBounded);
  ~EntryParser();
  EntryParser(const EntryParser&) = delete;
  EntryParser& operator=(const EntryParser&) = delete;

  void feed(std::string_view piece);
  // Ends the entry and makes ready for the next. Error: poison, stage "entry", reason "syntax",
  // "too_deep", "not_object", "no_type" or "no_message".
  Result<ParsedEntry> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Result<ParsedEntry> parse_entry(std::string_view json_text);

// Sender from the metadata blocks that OpenClaw 2026.3 wrote before a user's text; leaves `entry`
// alone when there are none. Looks at entry.text only.
void read_envelope_sender(Entry& entry);

}  // namespace clawmark
