#include "projections/messages_fold.h"

#include "base/scope.h"
#include "log/event_log.h"
#include "projections/messages.h"

namespace clawmark {
namespace {

constexpr char kBlankClass[] = "forgotten";  // of a message whose event was blanked

// Lanes in which people and agent talk; of an unplaced conversation it is not known yet.
bool listens(std::string_view lane) {
  return lane == "direct" || lane == "group" || lane == "unknown";
}

// Whose conversation a direct session is, when nobody is named in the message itself.
std::string session_audience(std::string_view session_key, std::string_view session_id) {
  const SessionKey key = parse_session_key(session_key);
  if (key.owner_surface) return "person:owner";
  if (key.lane == Lane::kDirect && !key.channel.empty() && !key.peer.empty()) {
    // A thread of the same person: "101:thread:7".
    const std::string_view peer = key.peer;
    const std::string person = person_id(key.channel, peer.substr(0, peer.find(":thread:")));
    if (!person.empty()) return "person:" + person;
  }
  return "session:" + std::string(session_key.empty() ? session_id : session_key);
}

bool is_person(std::string_view role, std::string_view entry_class, std::string_view noise) {
  return role == "user" && entry_class == "chat" &&
         (noise.empty() || noise == "command" || noise == "ack" || noise == "empty");
}

}  // namespace

Status MessagesFold::fold(const Event& event) {
  if (event.redacted) return Ok{};
  const std::string& type = event.type;
  if (type == event_type::kMessageObserved) return observed(event);
  if (type == event_type::kMessageSighted) return sighted(event);
  if (type == event_type::kSessionMarked) return marked(event);
  if (type == event_type::kSessionBranch) {
    CLAWMARK_ASSIGN(const auto changed, ledger_.branch(event));
    return restand(changed);
  }
  if (type == event_type::kSessionDeleted) {
    const std::string session_id = get_string(event.payload, "session_id");
    CLAWMARK_TRY(tables_.run(
        "INSERT INTO sessions__g#(agent, session_id, session_key, lane, messages, first_ms, "
        "last_ms, deleted, last_reset_ms) VALUES(?1, ?2, ?3, ?4, 0, 0, 0, 1, 0) "
        "ON CONFLICT DO UPDATE SET deleted = 1",
        event.scope.agent, session_id, event.scope.session_key, to_string(event.scope.lane)));
    CLAWMARK_ASSIGN(const auto changed, ledger_.remove_session(event.scope.agent, session_id));
    return restand(changed);
  }
  if (type == event_type::kMessageForgotten) return forgotten(event);
  if (type == event_type::kSessionForgotten || type == event_type::kPersonForgotten) {
    CLAWMARK_ASSIGN(const auto changed, ledger_.forget(event));
    return restand(changed);
  }
  return Ok{};
}

Status MessagesFold::observed(const Event& event) {
  Place place;
  place.seq = event.seq;
  place.agent = event.scope.agent;
  place.session_id = get_string(event.payload, "session_id");
  place.session_key = event.scope.session_key.empty() ? get_string(event.payload, "session_key")
                                                      : event.scope.session_key;
  place.lane = to_string(event.scope.lane);
  place.sender = event.scope.sender;
  place.role = get_string(event.payload, "role");
  place.entry_class = get_string(event.payload, "class");
  place.noise = get_string(event.payload, "noise");
  place.occurred = event.occurred;
  place.person = is_person(place.role, place.entry_class, place.noise);
  if (const auto parent = get_optional_int(event.payload, "parent")) place.parent = Seq{*parent};
  place.rootless = true;
  if (place.parent) {
    CLAWMARK_ASSIGN(const auto there, tables_.query_int("SELECT 1 FROM messages__g# WHERE seq = ?1",
                                                        place.parent->value));
    place.rootless = !there;
  }
  CLAWMARK_TRY(ledger_.observe(event));
  CLAWMARK_TRY(ledger_.sight(place.seq, place.agent, place.session_id, place.session_key));
  CLAWMARK_TRY(insert_message(event, place));
  CLAWMARK_TRY(set_audience(place));
  if (place.person) CLAWMARK_TRY(readdress_followers(place));
  CLAWMARK_TRY(count_in_session(event, place.session_id, place.session_key));
  if (place.role == "user" && place.entry_class == "chat") CLAWMARK_TRY(note_person(event));
  return restand({place.seq});
}

Status MessagesFold::insert_message(const Event& event, const Place& place) {
  const auto hash = hash_from_hex(get_string(event.payload, "sha256"));
  return tables_.run(
      "INSERT INTO messages__g#(seq, agent, entry_id, session_id, session_key, parent, role, "
      "class, "
      "noise, lane, sender, speaker, audience, occurred_ms, bytes, chars, sha256, carrier, "
      "position, "
      "state, recallable, person, rootless) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
      "?12, '', ?13, ?14, ?15, ?16, ?17, ?18, '', 0, ?19, ?20)",
      place.seq.value, place.agent, get_string(event.payload, "entry_id"), place.session_id,
      place.session_key,
      place.parent ? std::optional<std::int64_t>(place.parent->value) : std::nullopt, place.role,
      place.entry_class, place.noise, place.lane, place.sender,
      get_string(event.payload, "speaker"), place.occurred, get_int(event.payload, "bytes"),
      get_int(event.payload, "chars"), hash.value_or(Hash256{}),
      get_string(event.payload, "carrier"), get_int(event.payload, "position"), place.person,
      place.rootless);
}

Status MessagesFold::sighted(const Event& event) {
  const Seq message{get_int(event.payload, "message")};
  CLAWMARK_ASSIGN(const auto there,
                  tables_.query_int("SELECT 1 FROM messages__g# WHERE seq = ?1", message.value));
  if (!there) return Ok{};
  const std::string session_id = get_string(event.payload, "session_id");
  const std::string session_key = get_string(event.payload, "session_key", event.scope.session_key);
  const std::string entry_id = get_string(event.payload, "entry_id");
  if (get_bool(event.payload, "alias")) {
    CLAWMARK_TRY(
        tables_.run("INSERT OR IGNORE INTO message_aliases__g#(agent, entry_id, message) "
                    "VALUES(?1, ?2, ?3)",
                    event.scope.agent, entry_id, message.value));
  }
  CLAWMARK_ASSIGN(const auto known,
                  tables_.query_int("SELECT 1 FROM @_sightings__g# WHERE message = ?1 AND "
                                    "session_id = ?2",
                                    message.value, session_id));
  CLAWMARK_TRY(ledger_.sight(message, event.scope.agent, session_id, session_key));
  if (!known) CLAWMARK_TRY(count_in_session(event, session_id, session_key));
  CLAWMARK_TRY(adopt_key(message, event));
  return restand({message});
}

// A message whose own session key was not known (an archive) takes that of the first sighting that
// has one.
Status MessagesFold::adopt_key(Seq message, const Event& sighting) {
  const std::string key = get_string(sighting.payload, "session_key", sighting.scope.session_key);
  if (key.empty()) return Ok{};
  CLAWMARK_ASSIGN(auto place, place_of(message));
  if (!place || !place->session_key.empty()) return Ok{};
  Lane lane = sighting.scope.lane;
  if (lane == Lane::kUnknown) lane = parse_session_key(key).lane;
  CLAWMARK_TRY(
      tables_.run("UPDATE messages__g# SET session_key = ?2, lane = ?3, sender = CASE "
                  "WHEN sender = '' THEN ?4 ELSE sender END WHERE seq = ?1",
                  message.value, key, to_string(lane), sighting.scope.sender));
  CLAWMARK_ASSIGN(place, place_of(message));
  CLAWMARK_TRY(set_audience(*place));
  return place->person ? readdress_followers(*place) : Status(Ok{});
}

Status MessagesFold::count_in_session(const Event& event, std::string_view session_id,
                                      std::string_view session_key) {
  return tables_.run(
      "INSERT INTO sessions__g#(agent, session_id, session_key, lane, messages, first_ms, last_ms, "
      "deleted, last_reset_ms) VALUES(?1, ?2, ?3, ?4, 1, ?5, ?5, 0, 0) ON CONFLICT DO UPDATE SET "
      "messages = messages + 1, first_ms = CASE WHEN first_ms = 0 THEN excluded.first_ms ELSE "
      "min(first_ms, excluded.first_ms) END, last_ms = max(last_ms, excluded.last_ms), "
      "lane = CASE WHEN session_key = '' THEN excluded.lane ELSE lane END, "
      "session_key = CASE WHEN session_key = '' THEN excluded.session_key ELSE session_key END",
      event.scope.agent, session_id, session_key, to_string(event.scope.lane), event.occurred);
}

// The newest word of a person says their name and whether they own the agent.
Status MessagesFold::note_person(const Event& event) {
  const std::string& sender = event.scope.sender;
  if (sender.empty()) return Ok{};
  const bool owner = sender == "owner" || get_bool(event.payload, "sender_is_owner");
  const std::string channel =
      sender.substr(0, sender.find(':') == std::string::npos ? 0 : sender.find(':'));
  return tables_.run(
      "INSERT INTO people__g#(agent, person, is_owner, name, channel, seen_ms, seen_seq) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET is_owner = excluded.is_owner, "
      "name = CASE WHEN excluded.name = '' THEN name ELSE excluded.name END, "
      "seen_ms = excluded.seen_ms, seen_seq = excluded.seen_seq "
      "WHERE (excluded.seen_ms, excluded.seen_seq) > (seen_ms, seen_seq)",
      event.scope.agent, sender, owner, get_string(event.payload, "speaker"), channel,
      event.occurred, event.seq.value);
}

Status MessagesFold::marked(const Event& event) {
  if (get_string(event.payload, "kind") != "reset") return Ok{};
  return tables_.run(
      "INSERT INTO sessions__g#(agent, session_id, session_key, lane, messages, first_ms, last_ms, "
      "deleted, last_reset_ms) VALUES(?1, ?2, ?3, ?4, 0, 0, 0, 0, ?5) ON CONFLICT DO UPDATE SET "
      "last_reset_ms = max(last_reset_ms, excluded.last_reset_ms)",
      event.scope.agent, get_string(event.payload, "session_id"), event.scope.session_key,
      to_string(event.scope.lane), event.occurred);
}

// Of a message whose own event is blank by now its tombstone keeps the place: who hears the answers
// to it is still told by who spoke.
Status MessagesFold::forgotten(const Event& event) {
  CLAWMARK_ASSIGN(const auto changed, ledger_.forget(event));
  for (const Seq message : changed) {
    CLAWMARK_ASSIGN(const auto known, place_of(message));
    CLAWMARK_ASSIGN(const auto observed, EventLog::get(tables_.db(), message));
    if (known || !observed || !observed->redacted || message >= event.seq) continue;
    Event stand_in = *observed;
    stand_in.payload = {{"session_id", get_string(event.payload, "session_id")},
                        {"role", get_string(event.payload, "role")}};
    Place place;
    place.seq = message;
    place.agent = stand_in.scope.agent;
    place.session_id = get_string(event.payload, "session_id");
    place.session_key = stand_in.scope.session_key;
    place.lane = to_string(stand_in.scope.lane);
    place.sender = stand_in.scope.sender;
    place.role = get_string(event.payload, "role");
    place.entry_class = kBlankClass;
    place.occurred = stand_in.occurred;
    place.person = place.role == "user" && get_bool(event.payload, "person", true);
    place.rootless = true;
    CLAWMARK_TRY(ledger_.sight(message, place.agent, place.session_id, place.session_key));
    CLAWMARK_TRY(insert_message(stand_in, place));
    CLAWMARK_TRY(set_audience(place));
    if (place.person) CLAWMARK_TRY(readdress_followers(place));
  }
  return restand(changed);
}

Result<bool> MessagesFold::is_recallable(const Place& place) {
  if (place.entry_class != "chat" || !place.noise.empty() || !listens(place.lane)) return false;
  if (place.role != "user" && place.role != "assistant") return false;
  return !parse_session_key(place.session_key).incognito;
}

Status MessagesFold::restand(const std::vector<Seq>& messages) {
  for (const Seq message : messages) {
    CLAWMARK_ASSIGN(const auto place, place_of(message));
    if (!place) continue;
    CLAWMARK_ASSIGN(const Standing standing, ledger_.standing(message));
    CLAWMARK_ASSIGN(const bool open, is_recallable(*place));
    CLAWMARK_TRY(tables_.run("UPDATE messages__g# SET state = ?2, recallable = ?3 WHERE seq = ?1",
                             message.value, to_string(standing),
                             open && standing == Standing::kActive));
  }
  return Ok{};
}

Result<std::optional<MessagesFold::Place>> MessagesFold::place_of(Seq seq) {
  std::optional<Place> out;
  CLAWMARK_TRY(tables_.each(
      "SELECT agent, session_id, session_key, lane, sender, role, class, noise, audience, parent, "
      "occurred_ms, person, rootless FROM messages__g# WHERE seq = ?1",
      [&](Statement& row) {
        Place& p = out.emplace();
        p.seq = seq;
        p.agent = row.string(0);
        p.session_id = row.string(1);
        p.session_key = row.string(2);
        p.lane = row.string(3);
        p.sender = row.string(4);
        p.role = row.string(5);
        p.entry_class = row.string(6);
        p.noise = row.string(7);
        p.audience = row.string(8);
        if (!row.is_null(9)) p.parent = Seq{row.integer(9)};
        p.occurred = row.time(10);
        p.person = row.integer(11) != 0;
        p.rootless = row.integer(12) != 0;
      },
      seq.value));
  return out;
}

Result<std::string> MessagesFold::audience_of(const Place& place) {
  if (place.lane == "group") return "group:" + place.session_key;
  if (place.lane == "unknown") return std::string(kUnplacedHolder);
  if (place.lane != "direct") {
    return "session:" + (place.session_key.empty() ? place.session_id : place.session_key);
  }
  if (place.person && !place.sender.empty()) return "person:" + place.sender;
  if (place.person) return session_audience(place.session_key, place.session_id);
  std::string found;
  if (!place.rootless) {
    CLAWMARK_TRY(tables_.each(
        "SELECT audience FROM messages__g# WHERE seq = ?1",
        [&](Statement& row) { found = row.string(0); }, place.parent->value));
  } else {
    CLAWMARK_TRY(tables_.each(
        "SELECT audience FROM messages__g# WHERE agent = ?1 AND session_id = ?2 AND person = 1 AND "
        "(occurred_ms, seq) < (?3, ?4) ORDER BY occurred_ms DESC, seq DESC LIMIT 1",
        [&](Statement& row) { found = row.string(0); }, place.agent, place.session_id,
        place.occurred, place.seq.value));
  }
  return found.empty() ? session_audience(place.session_key, place.session_id) : found;
}

// Sets the audience of a message and of all that take theirs from it.
Status MessagesFold::set_audience(const Place& first) {
  std::vector<Place> todo{first};
  while (!todo.empty()) {
    const Place place = std::move(todo.back());
    todo.pop_back();
    CLAWMARK_ASSIGN(const std::string audience, audience_of(place));
    if (audience == place.audience) continue;
    CLAWMARK_TRY(tables_.run("UPDATE messages__g# SET audience = ?2 WHERE seq = ?1",
                             place.seq.value, audience));
    std::vector<Seq> children;
    CLAWMARK_TRY(tables_.each(
        "SELECT seq FROM messages__g# WHERE parent = ?1 AND person = 0",
        [&](Statement& row) { children.push_back({row.integer(0)}); }, place.seq.value));
    for (const Seq child : children) {
      CLAWMARK_ASSIGN(auto next, place_of(child));
      if (next) todo.push_back(std::move(*next));
    }
  }
  return Ok{};
}

// Messages without a known parent go by the person's message before them: those after a person's
// message that has just come in, up to the next person's.
Status MessagesFold::readdress_followers(const Place& person) {
  std::vector<Seq> followers;
  CLAWMARK_TRY(tables_.each(
      "SELECT seq FROM messages__g# WHERE agent = ?1 AND session_id = ?2 AND person = 0 AND "
      "rootless = 1 AND (occurred_ms, seq) > (?3, ?4) AND occurred_ms <= coalesce((SELECT "
      "occurred_ms "
      "FROM messages__g# WHERE agent = ?1 AND session_id = ?2 AND person = 1 AND "
      "(occurred_ms, seq) > (?3, ?4) ORDER BY occurred_ms, seq LIMIT 1), 9223372036854775807)",
      [&](Statement& row) { followers.push_back({row.integer(0)}); }, person.agent,
      person.session_id, person.occurred, person.seq.value));
  for (const Seq follower : followers) {
    CLAWMARK_ASSIGN(auto place, place_of(follower));
    if (place) CLAWMARK_TRY(set_audience(*place));
  }
  return Ok{};
}

Result<bool> MessagesFold::touched_by(Seq event) {
  CLAWMARK_ASSIGN(const auto found,
                  tables_.query_int("SELECT 1 FROM messages__g# WHERE seq = ?1 AND class <> ?2",
                                    event.value, kBlankClass));
  return found.has_value();
}

}  // namespace clawmark
