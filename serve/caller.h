#pragma once
// Who is asking, and what that opens: the one place where walls are decided (design, section 6;
// docs/api.md). Everything comes from the host's own context; nothing that a model can set is
// looked at.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/scope.h"
#include "base/sqlite.h"

namespace clawmark {

// As sent by the host's plugin; any member may be empty.
struct Caller {
  std::string agent, session_key, session_id, channel, sender_id, trigger;
  bool sender_is_owner = false;
};

// Members of another type than expected count as missing.
Caller parse_caller(const json::object& object);

// Why a wall is closed. Counted in status under the name given by to_string().
enum class Refusal {
  kNone,
  kNoAgent,        // neither agent nor session key says which agent
  kAgentMismatch,  // agent and session key name different agents
  kNoSessionKey,
  kUnknownKey,     // a session key of no known shape
  kNoSender,       // a direct chat of a channel without a usable sender id
  kSharedSurface,  // no sender, on an owner's surface that others use, too
  kOtherPerson,    // a direct chat with one person, in which another one is said to speak
  kLane,           // cron, sub-agent, heartbeat, hook
  kIncognito,
};
constexpr std::size_t kRefusalCount = 10;
std::string_view to_string(Refusal refusal);

// What a caller may see and where its words are kept.
struct Sight {
  Scope scope;                         // for events written on the caller's behalf
  std::vector<std::string> holders;    // of facts; empty: none at all
  std::vector<std::string> audiences;  // of messages; empty: no recall
  std::vector<std::string> shared;     // of them, those that a setting of the operator opened
  std::string home;                    // holder of what this caller states; empty: it may not write
  std::vector<std::string> writable;   // holders in which it may change and forget; home first
  std::string subject;                 // in a group: the person that speaks
  Refusal refusal = Refusal::kNone;
  bool open() const { return refusal == Refusal::kNone; }
  // docs/api.md, `skipped`: "", "lane", "incognito" or "no_identity".
  std::string_view skipped() const;
};

// Session key without its thread: "agent:main:slack:group:C1:thread:9" →
// "agent:main:slack:group:C1".
std::string group_family(std::string_view session_key);

// `open_lanes`: globs over session keys whose lanes are closed by default but allowed by the
// operator; such a caller gets the agent's facts, and a person's only with a sender. Asks `db` who
// is an owner; an error there counts as "not an owner".
Sight sight_of(const Caller& caller, std::span<const std::string> open_lanes, Database& db);

// For the command line, where the operator says whose eyes to use: "agent", "owner",
// "person:telegram:101", "telegram:101", "group:<key>", "session:<key>", or a session key. Error:
// invalid, with the remedy.
Result<Sight> sight_as(std::string_view agent, std::string_view as);

}  // namespace clawmark
