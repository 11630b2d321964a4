#include "projections/graph_fold.h"

#include <algorithm>
#include <array>

#include "base/graph_types.h"
#include "base/utf8.h"
#include "projections/facts.h"
#include "projections/graph_names.h"
#include "projections/graph_screen.h"

namespace clawmark {
namespace {

constexpr std::array<std::string_view, 6> kStatuses = {"",        "active", "blocked",
                                                       "pending", "done",   "cancelled"};
// Why a worker left something out; others count as malformed.
constexpr std::array<std::string_view, 9> kDropReasons = {
    "malformed", "unknown_node_type", "unknown_edge_type", "unknown_episode_type", "bad_merge",
    "no_json",   "too_many",          "made_up",           "not_said_so"};

// What is said in a conversation. Only a person's own words can carry a claim; a summary also
// speaks of the answers.
bool is_said(const Event& event) {
  const Lane lane = event.scope.lane;
  const std::string role = get_string(event.payload, "role");
  return (role == "user" || role == "assistant") && get_string(event.payload, "class") == "chat" &&
         get_string(event.payload, "noise").empty() &&
         (lane == Lane::kDirect || lane == Lane::kGroup || lane == Lane::kUnknown);
}

}  // namespace

// An item of graph.completed, checked; `reason` not empty: it is kept and does not count.
struct GraphFold::Item {
  std::string kind, holder, type, key, to_type, to_key, slot, choice, replaces;
  std::int64_t ordinal = 0;  // among its kind in the event
  json::object body;
  std::vector<std::pair<std::int64_t, std::string>> evidence;
  std::string reason;
};

Status GraphFold::fold(const Event& event) {
  if (event.redacted) return Ok{};
  const std::string& type = event.type;
  if (type == event_type::kMessageObserved) return message_observed(event);
  if (type == event_type::kMessageSighted) return message_sighted(event);
  if (type == event_type::kExtractionCompleted) return extraction(event);
  if (type == event_type::kFactForgotten) return forgotten(event);
  if (type == event_type::kGraphCompleted) return graph(event);
  if (type == event_type::kSummaryCompleted) return take_prose(event, "text");
  if (type == event_type::kSummaryDissolved) return dissolved(event);
  if (type == event_type::kFileExplored) return explored(event);
  if (type == event_type::kGraphMerged) return merged(event, false);
  if (type == event_type::kGraphUnmerged) return merged(event, true);
  if (type == event_type::kSessionBranch) {
    CLAWMARK_ASSIGN(const auto changed, ledger_.branch(event));
    return restand(changed);
  }
  if (type == event_type::kMessageForgotten || type == event_type::kSessionForgotten ||
      type == event_type::kPersonForgotten) {
    CLAWMARK_ASSIGN(const auto changed, ledger_.forget(event));
    return restand(changed);
  }
  if (type == event_type::kSessionDeleted) {
    CLAWMARK_ASSIGN(
        const auto changed,
        ledger_.remove_session(event.scope.agent, get_string(event.payload, "session_id")));
    return restand(changed);
  }
  return Ok{};
}

Status GraphFold::message_observed(const Event& event) {
  if (!is_said(event)) return Ok{};
  const std::string session_id = get_string(event.payload, "session_id");
  const std::string session_key = get_string(event.payload, "session_key", event.scope.session_key);
  CLAWMARK_TRY(tables_.run(
      "INSERT OR IGNORE INTO graph_messages__g#(message, entry_id, agent, session_id, session_key, "
      "speaker, person, occurred_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
      event.seq.value, get_string(event.payload, "entry_id"), event.scope.agent, session_id,
      session_key, get_string(event.payload, "speaker"),
      get_string(event.payload, "role") == "user", event.occurred));
  CLAWMARK_TRY(ledger_.observe(event));
  return ledger_.sight(event.seq, event.scope.agent, session_id, session_key);
}

Status GraphFold::message_sighted(const Event& event) {
  const Seq message{get_int(event.payload, "message")};
  CLAWMARK_ASSIGN(
      const auto known,
      tables_.query_int("SELECT 1 FROM graph_messages__g# WHERE message = ?1", message.value));
  if (!known) return Ok{};
  CLAWMARK_TRY(ledger_.sight(message, event.scope.agent, get_string(event.payload, "session_id"),
                             get_string(event.payload, "session_key")));
  return restand({message});
}

// Which passages facts rest on: forgetting a fact forgets those.
Status GraphFold::extraction(const Event& event) {
  const auto* facts = find_array(event.payload, "facts");
  if (facts == nullptr) return Ok{};
  std::vector<Seq> touched;
  for (const auto& item : *facts) {
    if (!item.is_object() || !get_bool(item.get_object(), "verified")) continue;
    const json::object& fact = item.get_object();
    const auto* evidence = find_array(fact, "evidence");
    if (evidence == nullptr) continue;
    const std::string holder = get_string(fact, "holder"), subject = get_string(fact, "subject");
    const std::string key = get_string(fact, "key");
    CLAWMARK_ASSIGN(const auto gone,
                    tables_.query_int("SELECT 1 FROM graph_let_go__g# WHERE agent = ?1 AND "
                                      "holder = ?2 AND subject = ?3 AND key = ?4",
                                      event.scope.agent, holder, subject, key));
    for (const auto& one : *evidence) {
      if (!one.is_object()) continue;
      const std::int64_t message = get_int(one.get_object(), "message");
      CLAWMARK_TRY(
          tables_.run("INSERT OR IGNORE INTO graph_facts__g#(seq, message, agent, holder, subject, "
                      "key, quote, value) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                      event.seq.value, message, event.scope.agent, holder, subject, key,
                      get_string(one.get_object(), "quote"), get_string(fact, "value")));
      if (gone) touched.push_back({message});
    }
  }
  return restand(touched);
}

Status GraphFold::forgotten(const Event& event) {
  const std::string holder = get_string(event.payload, "holder");
  const std::string subject = get_string(event.payload, "subject");
  const std::string key = get_string(event.payload, "key");
  CLAWMARK_TRY(tables_.run(
      "INSERT INTO graph_let_go__g#(agent, holder, subject, key, at_ms) VALUES(?1, ?2, ?3, ?4, "
      "?5) ON CONFLICT DO UPDATE SET at_ms = max(at_ms, excluded.at_ms)",
      event.scope.agent, holder, subject, key, event.occurred));
  std::vector<Seq> messages;
  CLAWMARK_TRY(tables_.each(
      "SELECT DISTINCT message FROM graph_facts__g# WHERE agent = ?1 AND holder = ?2 AND subject = "
      "?3 AND key = ?4",
      [&](Statement& row) { messages.push_back({row.integer(0)}); }, event.scope.agent, holder,
      subject, key));
  return restand(messages);
}

// What was left out before the event was written.
Status GraphFold::count_dropped(const Event& event) {
  std::int64_t left = std::max<std::int64_t>(0, get_int(event.payload, "dropped"));
  if (const auto* reasons = find_object(event.payload, "dropped_for")) {
    for (const auto reason : kDropReasons) {
      const std::int64_t times = std::clamp<std::int64_t>(get_int(*reasons, reason), 0, left);
      CLAWMARK_TRY(count(reason, times));
      left -= times;
    }
  }
  return count("malformed", left);
}

Status GraphFold::graph(const Event& event) {
  CLAWMARK_TRY(count_dropped(event));
  CLAWMARK_TRY(take_items(event, "nodes", "node"));
  CLAWMARK_TRY(take_items(event, "edges", "edge"));
  CLAWMARK_TRY(take_items(event, "episodes", "episode"));
  CLAWMARK_TRY(take_items(event, "merges", "merge"));
  CLAWMARK_TRY(take_prose(event, "prose"));
  return take_prose(event, "state");
}

Status GraphFold::take_items(const Event& event, const char* list, const char* kind) {
  const auto* items = find_array(event.payload, list);
  if (items == nullptr) return Ok{};
  for (std::size_t at = 0; at < items->size(); ++at) {
    const json::value& value = (*items)[at];
    if (!value.is_object()) {
      CLAWMARK_TRY(count("malformed"));
      continue;
    }
    CLAWMARK_ASSIGN(auto item, read_item(event, kind, value.get_object()));
    if (!item) continue;
    item->ordinal = static_cast<std::int64_t>(at);
    if (item->kind == "merge") {
      if (item->reason.empty()) {
        CLAWMARK_TRY(note_merge(event.scope.agent, *item, event.occurred, false, "model"));
      }
      continue;
    }
    CLAWMARK_TRY(insert(event, *item));
  }
  return Ok{};
}

Result<std::optional<GraphFold::Item>> GraphFold::read_item(const Event& event, const char* kind,
                                                            const json::object& given) {
  using Answer = std::optional<Item>;
  Item item;
  item.kind = kind;
  item.holder = get_string(given, "holder");
  item.type = get_string(given, "type");
  item.body = given;
  item.body.erase("evidence");
  const bool node = item.kind == "node", edge = item.kind == "edge", merge = item.kind == "merge";
  const bool known = node || merge ? holds(kNodeTypes, item.type)
                     : edge        ? holds(kEdgeTypes, item.type)
                                   : holds(kEpisodeTypes, item.type);
  if (!known) {
    CLAWMARK_TRY(count(edge            ? "unknown_edge_type"
                       : node || merge ? "unknown_node_type"
                                       : "unknown_episode_type"));
    return Answer{};
  }
  std::string text;
  if (node) {
    item.key = name_key(get_string(given, "name"));
    item.slot = name_key(get_string(given, "slot"));
    item.choice = name_key(get_string(given, "choice"));
    item.replaces = name_key(get_string(given, "replaces"));
    text = get_string(given, "name") + "\n" + get_string(given, "description") + "\n" +
           get_string(given, "reason");
    if (!holds(kStatuses, get_string(given, "status"))) {
      CLAWMARK_TRY(count("unknown_status"));
      item.body.erase("status");
    }
  } else if (edge) {
    item.key = get_string(given, "from_type") + "\x1f" + name_key(get_string(given, "from"));
    item.to_type = get_string(given, "to_type");
    item.to_key = name_key(get_string(given, "to"));
    item.slot = name_key(get_string(given, "slot"));
    text = get_string(given, "from") + "\n" + get_string(given, "to");
    if (!holds(kNodeTypes, get_string(given, "from_type")) || !holds(kNodeTypes, item.to_type)) {
      CLAWMARK_TRY(count("unknown_node_type"));
      return Answer{};
    }
    const bool self = item.key == item.to_type + "\x1f" + item.to_key;
    if (item.key.ends_with("\x1f") || item.to_key.empty() || self) {
      CLAWMARK_TRY(count("malformed"));
      return Answer{};
    }
  } else if (merge) {
    item.key = name_key(get_string(given, "from"));
    item.to_key = name_key(get_string(given, "into"));
    if (!may_merge_names(item.key, item.to_key)) {
      CLAWMARK_TRY(count("merge_blocked"));
      return Answer{};
    }
  } else {
    item.key = name_key(get_string(given, "title"));
    text = get_string(given, "title") + "\n" + get_string(given, "description");
  }
  if (item.key.empty() || item.holder.empty()) {
    CLAWMARK_TRY(count("malformed"));
    return Answer{};
  }
  const auto* evidence = find_array(given, "evidence");
  if (evidence != nullptr && get_bool(given, "verified")) {
    for (const auto& one : *evidence) {
      if (!one.is_object()) continue;
      const std::int64_t message = get_int(one.get_object(), "message");
      CLAWMARK_ASSIGN(const auto there,
                      tables_.query_int("SELECT 1 FROM graph_messages__g# WHERE message = ?1 AND "
                                        "agent = ?2 AND person = 1",
                                        message, event.scope.agent));
      if (there) item.evidence.emplace_back(message, get_string(one.get_object(), "quote"));
    }
  }
  if (item.evidence.empty()) {
    CLAWMARK_TRY(count("unverified"));
    return Answer{};
  }
  // Its words may be shown as well as what is said of it.
  if (!text.empty()) {
    for (const auto& [message, quote] : item.evidence) text += "\n" + quote;
  }
  if (!screen_for_injection(text).empty()) {
    CLAWMARK_TRY(count("injection_blocked"));
    return Answer{};
  }
  const std::string description = get_string(given, "description");
  const bool said = std::any_of(item.evidence.begin(), item.evidence.end(), [&](const auto& one) {
    return words_said(description, one.second) == description;
  });
  if (!said) CLAWMARK_TRY(count("not_said_so"));
  return Answer(std::move(item));
}

// Prose speaks of all messages of the chunk: it stands while all of them do.
Status GraphFold::take_prose(const Event& event, const char* member) {
  std::string text = get_string(event.payload, member);
  const auto* messages = find_array(event.payload, "messages");
  const std::string holder = get_string(event.payload, "holder");
  // A cut is made of lines of ours: those that may not be shown are left out.
  const bool is_state = std::string_view(member) == "state";
  if (!is_state && get_string(event.payload, "method").starts_with("cut:")) {
    std::string shown = screened_lines(text);
    if (shown != text) CLAWMARK_TRY(count("injection_blocked"));
    text = std::move(shown);
  }
  if (trim(text).empty() || messages == nullptr || holder.empty()) return Ok{};
  if (!screen_for_injection(text).empty()) return count("injection_blocked");
  Item item;
  item.kind = std::string_view(member) == "text" ? "prose" : member;
  item.holder = holder;
  item.type = get_string(event.payload, "session_id");
  item.key = std::to_string(event.seq.value);
  item.body = {{"text", text},
               {"session_id", get_string(event.payload, "session_id")},
               {"model", get_string(event.payload, "model")},
               {"method", get_string(event.payload, "method")},
               {"depth", get_int(event.payload, "depth")}};
  if (const auto* sources = find_array(event.payload, "sources")) item.body["sources"] = *sources;
  for (const auto& message : *messages) {
    if (!message.is_int64()) continue;
    CLAWMARK_ASSIGN(const auto there,
                    tables_.query_int("SELECT 1 FROM graph_messages__g# WHERE message = ?1",
                                      message.get_int64()));
    if (there) item.evidence.emplace_back(message.get_int64(), "");
  }
  return item.evidence.empty() ? Status(Ok{}) : insert(event, item);
}

Status GraphFold::insert(const Event& event, const Item& item) {
  CLAWMARK_TRY(tables_.run(
      "INSERT INTO graph_claims__g#(seq, kind, ordinal, agent, holder, type, key, to_type, to_key, "
      "slot, choice, replaces, body, said_ms, message, quote, state) VALUES(?1, ?2, ?3, ?4, ?5, "
      "?6, "
      "?7, ?8, ?9, ?10, ?11, ?12, ?13, 0, 0, '', '')",
      event.seq.value, item.kind, item.ordinal, event.scope.agent, item.holder, item.type, item.key,
      item.to_type, item.to_key, item.slot, item.choice, item.replaces, to_text(item.body)));
  const std::int64_t claim = tables_.db().last_insert_rowid();
  for (const auto& [message, quote] : item.evidence) {
    CLAWMARK_TRY(
        tables_.run("INSERT OR IGNORE INTO graph_evidence__g#(claim, message, quote) "
                    "VALUES(?1, ?2, ?3)",
                    claim, message, quote));
  }
  return settle_claim(claim);
}

// A summary of summaries is taken apart: those below stand for themselves again.
Status GraphFold::dissolved(const Event& event) {
  const std::int64_t seq = get_int(event.payload, "summary");
  CLAWMARK_TRY(tables_.run("INSERT OR IGNORE INTO graph_dissolved__g#(seq) VALUES(?1)", seq));
  std::vector<std::int64_t> claims;
  CLAWMARK_TRY(tables_.each(
      "SELECT id FROM graph_claims__g# WHERE seq = ?1 AND kind = 'prose' AND agent = ?2",
      [&](Statement& row) { claims.push_back(row.integer(0)); }, seq, event.scope.agent));
  for (const std::int64_t claim : claims) CLAWMARK_TRY(settle_claim(claim));
  return Ok{};
}

// A large content of a message. Whether it may be seen is asked of the message when it is read.
Status GraphFold::explored(const Event& event) {
  const json::object& given = event.payload;
  const std::string id = get_string(given, "id");
  const std::int64_t message = get_int(given, "message");
  if (!id.starts_with("lf_") || message <= 0) return count("malformed");
  return tables_.run(
      "INSERT OR IGNORE INTO graph_files__g#(seq, agent, id, text_hash, message, entry_id, name, "
      "mime, kind, bytes, tokens, start, whole, said_ms, summary) VALUES(?1, ?2, ?3, ?4, ?5, ?6, "
      "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
      event.seq.value, event.scope.agent, id, get_string(given, "text_sha256"), message,
      get_string(given, "entry_id"), get_string(given, "name"), get_string(given, "mime"),
      get_string(given, "kind"), get_int(given, "bytes"), get_int(given, "tokens"),
      get_int(given, "start"), get_bool(given, "whole"), event.occurred,
      get_string(given, "summary"));
}

// graph.merged and graph.unmerged: a person's word, by when it was given.
Status GraphFold::merged(const Event& event, bool undone) {
  Item item;
  item.holder = get_string(event.payload, "holder");
  item.type = get_string(event.payload, "type");
  item.key = name_key(get_string(event.payload, "from"));
  item.to_key = name_key(get_string(event.payload, "into"));
  if (item.holder.empty() || item.key.empty() || !holds(kNodeTypes, item.type)) {
    return count("malformed");
  }
  return note_merge(event.scope.agent, item, event.occurred, undone, "user");
}

Status GraphFold::note_merge(const std::string& agent, const Item& item, TimeMs at, bool undone,
                             const char* source) {
  if (item.key == item.to_key) return count("malformed");
  // A person's word stands against a model's, whichever came later.
  CLAWMARK_TRY(tables_.run(
      "INSERT INTO graph_merges__g#(agent, holder, type, from_key, into_key, at_ms, undone, source)"
      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms, "
      "undone = excluded.undone, source = excluded.source WHERE (excluded.source = 'user', "
      "excluded.at_ms, excluded.undone) > (source = 'user', at_ms, undone)",
      agent, item.holder, item.type, item.key, item.to_key, at, undone, source));
  for (const std::string& key : {item.key, item.to_key}) {
    dirt_.nodes.insert({agent, item.holder, item.type, key});
    CLAWMARK_TRY(redo_edges_of(agent, item.holder, item.type, key));
  }
  return Ok{};
}

Status GraphFold::count(std::string_view what, std::int64_t times) {
  if (times <= 0) return Ok{};
  return tables_.run(
      "INSERT INTO graph_counters__g#(name, value) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET value "
      "= value + ?2",
      what, times);
}

Result<bool> GraphFold::touched_by(Seq event) {
  CLAWMARK_ASSIGN(
      const auto found,
      tables_.query_int("SELECT 1 FROM graph_claims__g# WHERE seq = ?1 UNION ALL SELECT 1 FROM "
                        "graph_messages__g# WHERE message = ?1 UNION ALL SELECT 1 FROM "
                        "graph_facts__g# WHERE seq = ?1 UNION ALL SELECT 1 FROM graph_files__g# "
                        "WHERE seq = ?1 UNION ALL SELECT 1 FROM events WHERE seq = ?1 AND type = "
                        "?2 LIMIT 1",
                        event.value, event_type::kGraphCompleted));  // counts, merges
  return found.has_value();
}

}  // namespace clawmark
