#pragma once
// The message index: identity, place in the tree, class, audience, whether it may be recalled.
//
// View messages: seq, agent, entry_id, session_id, session_key, parent, role, class, noise, lane,
// sender, speaker, audience (a holder), occurred_ms, bytes, chars, sha256, carrier, state
// ('active'|'rewound'|'deleted'), recallable (1: class chat, no noise, active, not deleted, lane
// direct, group or unknown, role user or assistant). View message_sessions: message, session_id,
// session_key, active. View people: agent, person, is_owner, name, channel. View sessions: agent,
// session_id, session_key, lane, messages, first_ms, last_ms, deleted, last_reset_ms.
//
// Audience of a person's message: person:<sender> in a direct lane (person:owner on an owner
// surface without a sender, session:<key> in a conversation opened by name), group:<key> in a
// group. Of any other message: that of the nearest person's message before it on its path, else of
// the session. Of a conversation that no index names (lane unknown): kUnplacedHolder, which opens
// to nobody but the operator, until a sighting tells the session's key.

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

inline constexpr char kUnplacedHolder[] = "unplaced";

struct MessageRow {
  Seq seq;
  std::string agent, entry_id, session_id, session_key, role, entry_class, noise, lane, sender,
      speaker, audience, carrier, state;
  std::optional<Seq> parent;
  TimeMs occurred;
  std::int64_t bytes = 0;
  Hash256 hash;
  bool recallable = false;
};

Result<std::optional<MessageRow>> find_message(Database& db, Seq seq);
Result<std::vector<MessageRow>> read_messages(
    Database& db, std::span<const Seq> seqs);  // order kept, unknown left out
// Messages first seen in this session (not what a fork or rewind copied into it), in order of time,
// for windows: seq > after, at most limit.
Result<std::vector<MessageRow>> session_messages(Database& db, std::string_view agent,
                                                 std::string_view session_id, Seq after,
                                                 std::size_t limit);
// Messages that the request already holds: of this session, said at or after `since`.
Result<std::vector<Seq>> window_messages(Database& db, std::string_view agent,
                                         std::string_view session_id, TimeMs since);
// The messages before and after this one in its session, by time; of those that may be recalled.
struct Neighbours {
  std::optional<Seq> previous, next;
};
Result<Neighbours> neighbours(Database& db, Seq seq);
// person:<id> of an owner, or "owner" itself.
bool is_owner(Database& db, std::string_view agent, std::string_view person);

}  // namespace clawmark
