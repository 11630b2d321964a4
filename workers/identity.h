#pragma once
// Which message an entry is: recognises one message under several carriers, sessions and entry ids.
//
// 1. By entry id within the agent: a UUID alone; an 8-hex id with role and time (or text hash) too.
// 2. By an alias that was sighted before.
// 3. By content: same session, role, time of saying, text hash, class and tool call ids, unless the
//    host tells the two apart (key of submission, answered call): an entry that it wrote again
//    under a new id (compaction, rotation).
// 4. Rows of a carrier with whole seconds or insertion times (LCM): role and text in the same
// session, by
//    second, else in order of occurrence, each row standing for one message. The same the other way
//    round, when such a row came first.
// Absence never means anything here.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"
#include "sources/source.h"

namespace clawmark {

// An entry with where it was met.
struct Met {
  const Entry* entry = nullptr;
  std::string agent, carrier, stream, session_id, session_key;
  std::string role;      // user, assistant, tool, system, other
  TimeMs said;           // the message's own time, else the entry's
  bool guessed = false;  // `said` is by its place: the carrier shows no usable time
  bool coarse() const { return entry->time_step_ms > 1; }
};

// "user|assistant|tool|system|other" of a role as the host writes it.
std::string plain_role(std::string_view role);
TimeMs time_said(const Entry& entry);
bool is_uuid(std::string_view id);

// Dedupe key of message.observed.
std::string message_key(const Met& met, std::int64_t occurrence);
std::string message_key_prefix(const Met& met);

// What is known of a message that is in the log.
struct KnownMessage {
  Seq message;
  std::string entry_id, session_id, session_key, role, noise, entry_class;
  Hash256 hash;
  TimeMs occurred;
};

// Lives for one batch of a stream: some of what it looks up is looked up once.
class Identity {
 public:
  explicit Identity(Database& db) : db_(db) {}

  // The message that this entry is, if the log has it.
  Result<std::optional<Seq>> recognise(const Met& met);
  // By id only (parents, branches): the one of this session where an 8-hex id names several.
  Result<std::optional<Seq>> find_id(std::string_view agent, std::string_view entry_id,
                                     std::string_view session_id);
  Result<std::optional<KnownMessage>> known(Seq message);
  // Whether a user took it away: its text is not kept again, whoever shows it.
  Result<bool> is_forgotten(Seq message, const Met& met, std::string_view sender);
  // How many messages have a key with this prefix: the occurrence number of the next.
  Result<std::int64_t> count_prefix(std::string_view prefix);
  // Remembers what content identity needs (message_contents).
  Status remember(const Met& met, Seq message);
  // A message.sighted was written under this agent.
  void sighted() { any_sighted_.reset(); }
  // A precise carrier has shown a message that a coarse one showed first.
  Status claim(const Met& met, Seq message);

 private:
  struct Candidate {
    Seq message;
    std::string session_id;
    TimeMs said;
    char origin = 0;  // 'p' precise, 'c' coarse with entry id, 'u' coarse without
    std::uint64_t key_hash = 0, exact_hash = 0, distinct_hash = 0;
    Hash256 text_hash;
  };
  Status known_by_tombstone(KnownMessage& message);
  Result<std::optional<Seq>> by_short_id(const Met& met);
  Result<std::optional<Seq>> by_alias(const Met& met);
  Result<std::optional<Seq>> by_exact_content(const Met& met);
  static bool calls_others(const Met& met, const Candidate& candidate);
  Result<std::optional<Seq>> coarse_by_content(const Met& met);
  Result<std::optional<Seq>> precise_by_coarse(const Met& met);
  Result<std::vector<Candidate>> candidates(const Met& met, const Hash256& hash,
                                            std::int64_t from_ms, std::int64_t to_ms);
  Result<bool> has_locator(Seq message, std::string_view carrier);
  Result<bool> has_place(Seq message, const Met& met);
  Result<bool> any_coarse();
  Result<bool> any_sighted(const std::string& agent);
  const std::string& stem_of(std::string_view role, const Hash256& hash);
  bool same_session(const Met& met, const Candidate& candidate) const;

  Database& db_;
  std::optional<bool> any_coarse_, any_sighted_;
  std::string sighted_agent_, stem_, stem_role_;
  Hash256 stem_hash_;
};

}  // namespace clawmark
