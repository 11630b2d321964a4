#include "serve/caller.h"

#include <algorithm>
#include <cctype>

#include "base/utf8.h"
#include "projections/messages.h"
#include "projections/overview.h"

namespace clawmark {
namespace {

constexpr std::size_t kWordMax = 512;  // a longer id is no id
constexpr char kAgentHolder[] = "agent";
constexpr char kOwnerHolder[] = "person:owner";

std::string word(const json::object& object, std::string_view key) {
  const std::string text(trim(get_string(object, key)));
  return text.size() > kWordMax || !is_valid_utf8(text) ? std::string() : text;
}

bool is_background(std::string_view trigger) {
  return trigger == "cron" || trigger == "heartbeat" || trigger == "memory" || trigger == "hook";
}

bool is_closed_lane(Lane lane) {
  return lane == Lane::kCron || lane == Lane::kSubagent || lane == Lane::kHeartbeat ||
         lane == Lane::kHook;
}

bool is_allowed(std::span<const std::string> globs, std::string_view session_key) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_match(glob, session_key); });
}

Sight refused(Sight sight, Refusal why) {
  sight.refusal = why;
  return sight;
}

void open_person(Sight& sight, const std::string& person, bool owner) {
  const std::string holder = "person:" + person;
  sight.scope.sender = person;
  sight.home = holder;
  sight.writable = {holder};
  if (owner && holder != kOwnerHolder) sight.writable.emplace_back(kOwnerHolder);
  sight.audiences = sight.writable;
  sight.holders = sight.writable;
  sight.holders.emplace_back(kAgentHolder);
  if (owner) sight.writable.emplace_back(kAgentHolder);
}

void open_group(Sight& sight, const std::string& session_key, const std::string& person) {
  const std::string family = group_family(session_key);
  sight.scope.sender = person;
  sight.subject = person;
  sight.home = "group:" + session_key;
  sight.writable = {sight.home};
  // A thread's people are among the group's; the group's are not all in the thread.
  if (family != session_key) sight.writable.push_back("group:" + family);
  sight.audiences = sight.writable;
  sight.holders = sight.writable;
  sight.holders.emplace_back(kAgentHolder);
}

void open_session(Sight& sight, const std::string& session_key) {
  sight.home = "session:" + session_key;
  sight.writable = {sight.home};
  sight.audiences = sight.writable;
  sight.holders = {sight.home, kAgentHolder};
}

// The host's memory_search says nothing about the sender: there, "no sender" is no sign of the
// owner.
bool others_use(const Caller& caller, const std::string& agent, Database& db) {
  if (caller.trigger != "memory_search") return false;
  return has_strangers(db, agent, caller.session_key).value_or(true);
}

// A direct chat whose key names one person that is known, while another one is said to speak. (The
// host may also key a chat by a name of its own: nobody has spoken under that.)
bool is_anothers_chat(const SessionKey& key, const std::string& speaker, const std::string& agent,
                      Database& db) {
  if (speaker.empty() || key.channel.empty() || key.peer.empty()) return false;
  const std::string peer = person_id(key.channel, key.peer.substr(0, key.peer.find(":thread:")));
  if (peer.empty() || peer == speaker) return false;
  return is_known_person(db, agent, peer).value_or(true);
}

// "telegram:101": a channel, a colon, and an id of that channel.
bool names_person(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view channel = text.substr(0, colon), id = text.substr(colon + 1);
  const bool word = std::all_of(channel.begin(), channel.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  return word && !id.starts_with(':') && !person_id(channel, id).empty();
}

}  // namespace

Caller parse_caller(const json::object& object) {
  Caller out;
  out.agent = word(object, "agent");
  out.session_key = word(object, "session_key");
  out.session_id = word(object, "session_id");
  out.channel = word(object, "channel");
  out.sender_id = word(object, "sender_id");
  out.trigger = word(object, "trigger");
  out.sender_is_owner = get_bool(object, "sender_is_owner");
  return out;
}

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "none";
    case Refusal::kNoAgent:
      return "no_agent";
    case Refusal::kAgentMismatch:
      return "agent_mismatch";
    case Refusal::kNoSessionKey:
      return "no_session_key";
    case Refusal::kUnknownKey:
      return "unknown_key";
    case Refusal::kNoSender:
      return "no_sender";
    case Refusal::kSharedSurface:
      return "shared_surface";
    case Refusal::kOtherPerson:
      return "other_person";
    case Refusal::kLane:
      return "lane";
    case Refusal::kIncognito:
      return "incognito";
  }
  return "none";
}

std::string_view Sight::skipped() const {
  switch (refusal) {
    case Refusal::kNone:
      return "";
    case Refusal::kLane:
      return "lane";
    case Refusal::kIncognito:
      return "incognito";
    default:
      return "no_identity";
  }
}

std::string group_family(std::string_view session_key) {
  for (const std::string_view mark : {":thread:", ":topic:"}) {
    session_key = session_key.substr(0, session_key.find(mark));
  }
  return std::string(session_key);
}

Sight sight_of(const Caller& caller, std::span<const std::string> open_lanes, Database& db) {
  const SessionKey key = parse_session_key(caller.session_key);
  Sight sight;
  sight.scope.session_key = caller.session_key;
  sight.scope.lane = key.lane;
  sight.scope.agent = caller.agent.empty() ? key.agent : caller.agent;
  const std::string& agent = sight.scope.agent;
  if (key.incognito || caller.session_key.find("incognito") != std::string::npos) {
    return refused(std::move(sight), Refusal::kIncognito);
  }
  if (agent.empty()) return refused(std::move(sight), Refusal::kNoAgent);
  if (!key.agent.empty() && key.agent != agent) {
    sight.scope.agent.clear();
    return refused(std::move(sight), Refusal::kAgentMismatch);
  }
  const bool background = is_background(caller.trigger) || is_closed_lane(key.lane);
  if (background && !is_allowed(open_lanes, caller.session_key)) {
    return refused(std::move(sight), Refusal::kLane);
  }
  sight.holders = {kAgentHolder};
  if (caller.session_key.empty()) return refused(std::move(sight), Refusal::kNoSessionKey);
  if (key.lane == Lane::kUnknown) return refused(std::move(sight), Refusal::kUnknownKey);

  const std::string& channel = caller.channel.empty() ? key.channel : caller.channel;
  const std::string person =
      person_id(key.channel.empty() ? channel : key.channel, caller.sender_id);
  if (key.lane == Lane::kGroup) {
    open_group(sight, caller.session_key, person);
    return sight;
  }
  if (is_anothers_chat(key, person, agent, db)) {
    return refused(std::move(sight), Refusal::kOtherPerson);
  }
  if (!person.empty()) {
    open_person(sight, person, caller.sender_is_owner || is_owner(db, agent, person));
    return sight;
  }
  const bool sender_is_bad = !caller.sender_id.empty();  // "unknown", "null": said, but no one
  if (background || sender_is_bad) return refused(std::move(sight), Refusal::kNoSender);
  if (key.owner_surface) {
    if (others_use(caller, agent, db)) return refused(std::move(sight), Refusal::kSharedSurface);
    open_person(sight, "owner", true);
    return sight;
  }
  if (!key.channel.empty() || !key.peer.empty())
    return refused(std::move(sight), Refusal::kNoSender);
  open_session(sight, caller.session_key);
  return sight;
}

Result<Sight> sight_as(std::string_view agent, std::string_view as) {
  Sight sight;
  sight.scope.agent = std::string(agent);
  sight.scope.lane = Lane::kDirect;
  if (agent.empty()) return make_error(ErrorKind::kInvalid, "caller", "no_agent", "name an agent");
  if (as == kAgentHolder) {
    sight.home = kAgentHolder;
    sight.writable = sight.holders = {kAgentHolder};
    return sight;
  }
  if (as == "owner" || as == kOwnerHolder) {
    open_person(sight, "owner", true);
    return sight;
  }
  if (as.starts_with("agent:")) {
    const SessionKey key = parse_session_key(as);
    if (key.agent != agent || key.incognito) {
      return make_error(ErrorKind::kInvalid, "caller", "bad_as",
                        "this session key belongs to another agent, or to none");
    }
    sight.scope.session_key = std::string(as);
    sight.scope.lane = key.lane;
    if (key.lane == Lane::kGroup) {
      open_group(sight, sight.scope.session_key, {});
    } else if (key.owner_surface) {
      open_person(sight, "owner", true);
    } else if (const auto person = person_id(key.channel, key.peer); !person.empty()) {
      open_person(sight, person, false);
    } else {
      open_session(sight, sight.scope.session_key);
    }
    return sight;
  }
  if (as.starts_with("group:") && parse_session_key(as.substr(6)).lane == Lane::kGroup) {
    open_group(sight, std::string(as.substr(6)), {});
    return sight;
  }
  if (as.starts_with("session:") && as.size() > 8) {
    open_session(sight, std::string(as.substr(8)));
    return sight;
  }
  const std::string_view person = as.starts_with("person:") ? as.substr(7) : as;
  if (!names_person(person) || as.starts_with("group:")) {
    return make_error(
        ErrorKind::kInvalid, "caller", "bad_as",
        "there is nobody called " + std::string(prefix_bytes(as, kWordMax)) +
            ": say agent, owner, a person with the channel (telegram:101), group: with the whole "
            "session key, or a session key");
  }
  open_person(sight, std::string(person), false);
  return sight;
}

}  // namespace clawmark
