// The second half of the graph fold: what stands, and what follows from it.

#include <algorithm>

#include "base/utf8.h"
#include "projections/graph.h"
#include "projections/graph_fold.h"
#include "projections/graph_names.h"
#include "projections/graph_rows.h"

namespace clawmark {
namespace {

constexpr std::size_t kTellingChars = 4;
constexpr int kMergeHopsMax = 8;  // names of names; a ring ends here, too

bool takes_turns(const std::string& type) {
  return type == "decision" || type == "constraint";
}

// A short value is in everything.
bool tells(std::string_view quote, std::string_view value) {
  return count_code_points(value) >= kTellingChars &&
         fold_case(quote).find(fold_case(value)) != std::string::npos;
}

}  // namespace

NodeClaim read_node_claim(Statement& row) {
  const json::object body = parse_object(row.text(1));
  NodeClaim claim;
  claim.key = row.string(0);
  claim.name = get_string(body, "name");
  claim.status = get_string(body, "status");
  claim.reason = get_string(body, "reason");
  claim.choice_name = get_string(body, "choice");
  claim.aliases = strings_of(body, "aliases");
  claim.confidence = std::clamp(get_double(body, "confidence", 0.8), 0.0, 1.0);
  claim.stated = get_bool(body, "stated");
  claim.only_status = get_bool(body, "only_status");
  if (const auto due = get_int(body, "due_ms"); due > 0) claim.due = TimeMs{due};
  claim.slot = row.string(2);
  claim.choice = row.string(3);
  claim.replaces = row.string(4);
  claim.said = row.time(5);
  claim.message = row.integer(6);
  claim.quote = row.string(7);
  claim.entry_id = row.string(8);
  claim.description = words_said(get_string(body, "description"), claim.quote);
  return claim;
}

Status GraphFold::restand(const std::vector<Seq>& messages) {
  std::set<std::int64_t> claims;
  for (const Seq message : messages) {
    CLAWMARK_TRY(tables_.each(
        "SELECT DISTINCT claim FROM graph_evidence__g# WHERE message = ?1",
        [&](Statement& row) { claims.insert(row.integer(0)); }, message.value));
  }
  for (const std::int64_t claim : claims) CLAWMARK_TRY(settle_claim(claim));
  return Ok{};
}

Result<GraphFold::Passage> GraphFold::passage(std::int64_t message, const std::string& quote) {
  bool told = false, gone = false;
  CLAWMARK_TRY(tables_.each(
      "SELECT f.quote, f.value FROM graph_facts__g# f JOIN graph_let_go__g# g ON g.agent = f.agent "
      "AND "
      "g.holder = f.holder AND g.subject = f.subject AND g.key = f.key WHERE f.message = ?1 AND "
      "g.at_ms >= (SELECT occurred_ms FROM graph_messages__g# WHERE message = ?1)",
      [&](Statement& row) {
        told = true;
        gone = gone || quotes_overlap(row.text(0), quote) || tells(quote, row.text(1));
      },
      message));
  if (gone) return Passage::kForgotten;
  if (told) return Passage::kStands;
  CLAWMARK_ASSIGN(const bool source, ledger_.is_source_only({message}));
  return source ? Passage::kSetAside : Passage::kStands;
}

Status GraphFold::settle_claim(std::int64_t claim) {
  struct Evidence {
    std::int64_t message;
    std::string quote;
    TimeMs occurred;
  };
  std::vector<Evidence> all;
  CLAWMARK_TRY(tables_.each(
      "SELECT e.message, e.quote, m.occurred_ms FROM graph_evidence__g# e JOIN graph_messages__g# "
      "m ON m.message = e.message WHERE e.claim = ?1 ORDER BY m.occurred_ms, m.entry_id, e.quote",
      [&](Statement& row) { all.push_back({row.integer(0), row.string(1), row.time(2)}); }, claim));
  const Evidence* newest = nullptr;
  bool any_gone = false, any_forgotten = false;
  bool any_told = false, all_told = !all.empty();
  for (const Evidence& one : all) {
    CLAWMARK_ASSIGN(const Standing standing, ledger_.standing({one.message}));
    CLAWMARK_ASSIGN(const Passage words, passage(one.message, one.quote));
    const bool gone = words != Passage::kStands;
    any_gone = any_gone || gone || standing != Standing::kActive;
    any_forgotten = any_forgotten || gone;
    any_told = any_told || words == Passage::kForgotten;
    all_told = all_told && words == Passage::kForgotten;
    if (!gone && standing == Standing::kActive) newest = &one;
  }
  std::string kind, agent, holder, type, key, slot, to_type, to_key;
  CLAWMARK_TRY(tables_.each(
      "SELECT kind, agent, holder, type, key, slot, to_type, to_key FROM graph_claims__g# WHERE id "
      "= ?1",
      [&](Statement& row) {
        kind = row.string(0);
        agent = row.string(1);
        holder = row.string(2);
        type = row.string(3);
        key = row.string(4);
        slot = row.string(5);
        to_type = row.string(6);
        to_key = row.string(7);
      },
      claim));
  const bool whole = kind == "prose" || kind == "state";
  const bool stands = newest != nullptr && !(whole && any_gone);
  CLAWMARK_ASSIGN(
      const auto apart,
      tables_.query_int("SELECT 1 FROM graph_dissolved__g# d JOIN graph_claims__g# c ON "
                        "c.seq = d.seq WHERE c.id = ?1 AND c.kind = 'prose'",
                        claim));
  const bool live = stands && !apart;
  const char* state = live            ? "live"
                      : stands        ? "dissolved"
                      : any_forgotten ? "forgotten"
                                      : "withdrawn";
  CLAWMARK_TRY(
      tables_.run("UPDATE graph_claims__g# SET state = ?2, said_ms = ?3, message = ?4, quote = ?5 "
                  "WHERE id = ?1",
                  claim, state, live ? newest->occurred : TimeMs{0}, live ? newest->message : 0,
                  live ? newest->quote : ""));
  if (all_told || (whole && any_told)) {
    // What was forgotten is not kept beside the log either. What was only set aside may return,
    // when it becomes known which passage it was.
    CLAWMARK_TRY(tables_.run("UPDATE graph_claims__g# SET body = '{}' WHERE id = ?1", claim));
    CLAWMARK_TRY(
        tables_.run("UPDATE OR REPLACE graph_evidence__g# SET quote = '' WHERE claim = ?1", claim));
  }
  if (kind == "node") dirt_.nodes.insert({agent, holder, type, key});
  if (kind == "episode") dirt_.episodes.insert({agent, holder, type, key});
  if (kind == "edge") {
    const auto mark = key.find('\x1f');
    dirt_.edges.insert(
        {agent, holder, type, key.substr(0, mark), key.substr(mark + 1), slot, to_type, to_key});
  }
  return Ok{};
}

Result<std::string> GraphFold::root_of(const GraphDirt::Key& from) {
  const auto& [agent, holder, type, key] = from;
  std::string at = key;
  for (int hop = 0; hop < kMergeHopsMax; ++hop) {
    std::string next;
    CLAWMARK_TRY(tables_.each(
        "SELECT into_key FROM graph_merges__g# WHERE agent = ?1 AND holder = ?2 AND type = ?3 AND "
        "from_key = ?4 AND undone = 0 ORDER BY source = 'user' DESC, at_ms DESC, into_key LIMIT 1",
        [&](Statement& row) { next = row.string(0); }, agent, holder, type, at));
    if (next.empty() || next == key) break;  // a ring: where it began
    at = next;
  }
  return at;
}

Result<std::vector<std::string>> GraphFold::members_of(const GraphDirt::Key& root) {
  const auto& [agent, holder, type, key] = root;
  std::vector<std::string> members{key};
  for (std::size_t at = 0; at < members.size() && members.size() < 1000; ++at) {
    std::vector<std::string> more;
    CLAWMARK_TRY(tables_.each(
        "SELECT from_key FROM graph_merges__g# WHERE agent = ?1 AND holder = ?2 AND type = ?3 AND "
        "into_key = ?4 AND undone = 0 ORDER BY from_key",
        [&](Statement& row) { more.push_back(row.string(0)); }, agent, holder, type, members[at]));
    for (auto& name : more) {
      if (std::find(members.begin(), members.end(), name) != members.end()) continue;
      CLAWMARK_ASSIGN(const std::string its, root_of({agent, holder, type, name}));
      if (its == key) members.push_back(std::move(name));
    }
  }
  return members;
}

Result<std::vector<NodeClaim>> GraphFold::node_claims(const GraphDirt::Key& root) {
  const auto& [agent, holder, type, key] = root;
  CLAWMARK_ASSIGN(const auto members, members_of(root));
  std::vector<NodeClaim> claims;
  for (const auto& member : members) {
    CLAWMARK_TRY(tables_.each(
        "SELECT c.key, c.body, c.slot, c.choice, c.replaces, c.said_ms, c.message, c.quote, "
        "m.entry_id FROM graph_claims__g# c JOIN graph_messages__g# m ON m.message = c.message "
        "WHERE c.agent = ?1 AND c.holder = ?2 AND c.kind = 'node' AND c.type = ?3 AND c.key = ?4 "
        "AND c.state = 'live'",
        [&](Statement& row) {
          claims.push_back(read_node_claim(row));
          if (member != key) {
            claims.back().aliases.push_back(claims.back().name);
            claims.back().name.clear();
          }
        },
        agent, holder, type, member));
  }
  return claims;
}

Status GraphFold::settle_dirt() {
  std::set<GraphDirt::Key> roots, nodes;
  nodes.swap(dirt_.nodes);
  for (const auto& key : nodes) {
    CLAWMARK_ASSIGN(const std::string root, root_of(key));
    const auto& [agent, holder, type, name] = key;
    if (root != name) {  // what stood under its own name does so no longer
      CLAWMARK_TRY(write_node(key, {}));
    }
    roots.insert({agent, holder, type, root});
  }
  for (const auto& key : roots) CLAWMARK_TRY(settle_one_node(key));
  for (const auto& key : roots) {
    if (takes_turns(std::get<2>(key))) CLAWMARK_TRY(settle_slot_of(key));
  }
  for (const auto& key : dirt_.episodes) CLAWMARK_TRY(settle_episode(key));
  for (const auto& [agent, holder, type, from_type, from, slot, to_type, to] : dirt_.edges) {
    CLAWMARK_TRY(settle_edge_group(agent, holder, type, from_type, from, slot, to_type, to));
  }
  dirt_ = {};
  return Ok{};
}

Status GraphFold::settle_one_node(const GraphDirt::Key& key) {
  CLAWMARK_ASSIGN(auto claims, node_claims(key));
  return write_node(key, settle_node(std::move(claims)).value_or(NodeState{}));
}

Status GraphFold::write_node(const GraphDirt::Key& key, const NodeState& state) {
  const auto& [agent, holder, type, name] = key;
  CLAWMARK_TRY(tables_.run(
      "DELETE FROM graph_aliases__g# WHERE agent = ?1 AND holder = ?2 AND type = ?3 AND key = ?4 "
      "AND alias IN (SELECT value FROM json_each((SELECT aliases ->> '$.keys' FROM graph_nodes__g# "
      "WHERE agent = ?1 AND holder = ?2 AND type = ?3 AND key = ?4)))",
      agent, holder, type, name));
  if (state.mentions == 0) {
    return tables_.run(
        "DELETE FROM graph_nodes__g# WHERE agent = ?1 AND holder = ?2 AND type = ?3 AND key = ?4",
        agent, holder, type, name);
  }
  json::array names, keys;
  for (const auto& alias : state.aliases) {
    const std::string alias_key = name_key(alias);
    if (alias_key.empty() || alias_key == name) continue;
    names.emplace_back(alias);
    keys.emplace_back(alias_key);
    CLAWMARK_TRY(
        tables_.run("INSERT OR IGNORE INTO graph_aliases__g#(agent, alias, holder, type, key) "
                    "VALUES(?1, ?2, ?3, ?4, ?5)",
                    agent, alias_key, holder, type, name));
  }
  const json::object aliases{{"names", std::move(names)}, {"keys", std::move(keys)}};
  return tables_.run(
      "INSERT INTO graph_nodes__g#(agent, holder, type, key, visible, name, description, status, "
      "status_ms, reason, slot, choice, replaces, aliases, confidence, source, due_ms, first_ms, "
      "last_ms, valid_from_ms, valid_to_ms, superseded_by, mentions, message, quote, lasts, "
      "description_message, reason_message) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
      "?19, ?18, "
      "NULL, '', ?20, ?21, ?22, ?23, ?24, ?25) ON CONFLICT DO UPDATE SET visible = "
      "excluded.visible, name = "
      "excluded.name, description = excluded.description, status = excluded.status, status_ms = "
      "excluded.status_ms, reason = excluded.reason, slot = excluded.slot, choice = "
      "excluded.choice, replaces = excluded.replaces, aliases = excluded.aliases, confidence = "
      "excluded.confidence, source = excluded.source, due_ms = excluded.due_ms, first_ms = "
      "excluded.first_ms, last_ms = excluded.last_ms, valid_from_ms = excluded.valid_from_ms, "
      "valid_to_ms = NULL, superseded_by = '', mentions = excluded.mentions, message = "
      "excluded.message, quote = excluded.quote, lasts = excluded.lasts, "
      "description_message = excluded.description_message, reason_message = "
      "excluded.reason_message",
      agent, holder, type, name, state.visible, state.name, state.description, state.status,
      state.status_at, state.reason, state.slot, state.choice, state.replaces, to_text(aliases),
      state.confidence, state.stated ? "user" : "extracted", state.due, state.first, state.last,
      state.mentions, state.message, state.quote,
      half_lives_until_stale(type, state.confidence, state.stated), state.description_message,
      state.reason_message);
}

}  // namespace clawmark
