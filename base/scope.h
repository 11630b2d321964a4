#pragma once
// Where something was said, and by whom: agent, session key, lane, sender (design, section 6).

#include <optional>
#include <string>
#include <string_view>

namespace clawmark {

// What kind of conversation a session key names; rules in parse_session_key().
enum class Lane { kDirect, kGroup, kCron, kSubagent, kHeartbeat, kHook, kUnknown };

std::string_view to_string(Lane lane);
Lane lane_from(std::string_view name);  // kUnknown when not known

struct Scope {
  std::string agent;        // "main"; never empty in an event
  std::string session_key;  // "agent:main:telegram:direct:101", or empty
  Lane lane = Lane::kUnknown;
  std::string sender;  // "telegram:101", "owner", or empty when not known
  bool operator==(const Scope&) const = default;
};

struct SessionKey {
  std::string agent;  // empty when the key has another shape
  Lane lane = Lane::kUnknown;
  std::string channel;  // "telegram"; empty for main, dashboard, cron, …
  std::string peer;     // id of the person or group; may hold ':' parts (threads)
  bool incognito = false;
  // Operator surfaces without a channel (main, dashboard, …): their speaker is the owner.
  bool owner_surface = false;
};

// Shapes (reference: OpenClaw 2026.9, LCM): agent:A:main, agent:A:dashboard:ID,
// agent:A:CH:direct|dm:ID[:…], agent:A:CH:group|channel:ID[:thread:ID], agent:A:cron:JOB[:run:N],
// agent:A:subagent:ID, agent:A:heartbeat, agent:A:hook:…, agent:A:NAME (opened by API or command
// line: direct, no person of its own). Any agent id.
SessionKey parse_session_key(std::string_view key);

// A person's id across one channel: "telegram:101"; empty when sender is "", "unknown", "null", ….
std::string person_id(std::string_view channel, std::string_view sender_id);

}  // namespace clawmark
