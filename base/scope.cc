#include "base/scope.h"

#include <vector>

#include "base/utf8.h"

namespace clawmark {
namespace {

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(by);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join_from(const std::vector<std::string_view>& parts, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < parts.size(); ++i) {
    if (i > from) out.push_back(':');
    out.append(parts[i]);
  }
  return out;
}

bool is_incognito(const std::vector<std::string_view>& parts) {
  for (const auto part : parts) {
    if (part == "incognito" || part.starts_with("incognito-")) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(Lane lane) {
  switch (lane) {
    case Lane::kDirect:
      return "direct";
    case Lane::kGroup:
      return "group";
    case Lane::kCron:
      return "cron";
    case Lane::kSubagent:
      return "subagent";
    case Lane::kHeartbeat:
      return "heartbeat";
    case Lane::kHook:
      return "hook";
    case Lane::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Lane lane_from(std::string_view name) {
  for (const Lane lane :
       {Lane::kDirect, Lane::kGroup, Lane::kCron, Lane::kSubagent, Lane::kHeartbeat, Lane::kHook}) {
    if (name == to_string(lane)) return lane;
  }
  return Lane::kUnknown;
}

SessionKey parse_session_key(std::string_view key) {
  SessionKey out;
  const auto parts = split(key, ':');
  if (parts.size() < 3 || parts[0] != "agent" || parts[1].empty() || parts[2].empty()) return out;
  out.agent = parts[1];
  out.incognito = is_incognito(parts);
  const auto kind = parts[2];
  if (kind == "cron") {
    out.lane = Lane::kCron;
  } else if (kind == "subagent" || kind == "sub-agent" || key.ends_with(":active-memory") ||
             key.find(":active-memory:") != std::string_view::npos) {
    out.lane = Lane::kSubagent;
  } else if (kind == "heartbeat") {
    out.lane = Lane::kHeartbeat;
  } else if (kind == "hook" || kind == "webhook") {
    out.lane = Lane::kHook;
  } else if (kind == "main" || kind == "dashboard" || kind == "tui" || kind == "webchat") {
    out.lane = parts.size() > 3 && parts.back() == "heartbeat" ? Lane::kHeartbeat : Lane::kDirect;
    out.owner_surface = true;
  } else if (parts.size() >= 5 && (parts[3] == "direct" || parts[3] == "dm")) {
    out.lane = Lane::kDirect;
    out.channel = kind;
    out.peer = join_from(parts, 4);
  } else if (parts.size() >= 5 && (parts[3] == "group" || parts[3] == "channel")) {
    out.lane = Lane::kGroup;
    out.channel = kind;
    out.peer = join_from(parts, 4);
  } else if (parts.size() >= 4 && kind == "direct") {
    out.lane = Lane::kDirect;
    out.peer = join_from(parts, 3);
  } else if (parts.size() == 3) {
    out.lane = Lane::kDirect;  // a name given through the API or the command line
  }
  return out;
}

std::string person_id(std::string_view channel, std::string_view sender_id) {
  const auto id = trim(sender_id);
  if (id.empty() || id == "unknown" || id == "null" || id == "undefined" || id == "0") return {};
  const auto where = trim(channel);
  return where.empty() ? std::string(id) : std::string(where) + ":" + std::string(id);
}

}  // namespace clawmark
