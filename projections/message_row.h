#pragma once
// Reading a message's row. Inside projections/ only.

#include "base/sqlite.h"
#include "projections/messages.h"

namespace clawmark {

// Columns 0 to 18 of "SELECT … FROM messages m"; more may follow them.
inline constexpr char kMessageColumns[] =
    "m.seq, m.agent, m.entry_id, m.session_id, m.session_key, m.parent, m.role, m.class, m.noise, "
    "m.lane, m.sender, m.speaker, m.audience, m.occurred_ms, m.bytes, m.sha256, m.carrier, "
    "m.state, m.recallable";
inline constexpr int kMessageColumnCount = 19;

MessageRow read_message_row(const Statement& row);

}  // namespace clawmark
