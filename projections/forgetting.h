#pragma once
// What a wish to forget means: which messages it takes away, which facts rest on them, and the
// events that say so (message.forgotten, session.forgotten, person.forgotten, fact.forgotten).
// Reads only; the events are appended by the writer.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/event.h"
#include "projections/facts.h"
#include "projections/messages.h"

namespace clawmark {

// All of a session that is not gone yet, wherever else it was copied, in order of time.
Result<std::vector<MessageRow>> messages_of_session(Database& db, std::string_view agent,
                                                    std::string_view session_id);
// A person's own messages, oldest first.
Result<std::vector<MessageRow>> messages_of_person(Database& db, std::string_view agent,
                                                   std::string_view person);
// What was answered to these messages, by the agent and its tools, up to the next person's word.
Result<std::vector<MessageRow>> answers_to(Database& db, std::span<const MessageRow> messages);
// The messages that a fact was concluded from, in any of its versions.
Result<std::vector<MessageRow>> evidence_of(Database& db, const Fact& fact);
// Messages of these holders said within `ms` before `at`, newest first: where a stated fact may
// have come from.
Result<std::vector<MessageRow>> said_shortly_before(Database& db, std::string_view agent,
                                                    const std::vector<std::string>& audiences,
                                                    TimeMs at, std::int64_t ms);
// Live facts that lose their evidence with these messages.
Result<std::vector<Fact>> facts_resting_on(Database& db, std::span<const MessageRow> messages,
                                           TimeMs as_of);
// How many other messages that can still be recalled hold exactly the same text.
Result<std::int64_t> copies_of(Database& db, std::span<const MessageRow> messages);

// `keep_facts`: only shown and read no more; what else was concluded from them stays. Messages
// whose event cannot be found are left out.
Result<std::vector<NewEvent>> message_tombstones(Database& db, std::span<const MessageRow> messages,
                                                 bool keep_facts, std::string_view why, TimeMs now);
NewEvent session_tombstone(const Scope& scope, std::string_view session_id, TimeMs now);
NewEvent person_tombstone(const Scope& scope, std::string_view person, TimeMs now);

// Hashes of these messages' texts that no message which may still be shown has as well.
Result<std::vector<Hash256>> orphaned_texts(Database& db, std::span<const MessageRow> messages);

// Messages that a rule or a deletion at the source took away and that have no tombstone of their
// own yet; at most `limit`. Of deletions at the source only those recorded up to `before`.
Result<std::vector<MessageRow>> untombed(Database& db, TimeMs before, std::size_t limit);

}  // namespace clawmark
