// Relations, episodes and decisions that follow one another.

#include <algorithm>
#include <deque>

#include "projections/graph_fold.h"
#include "projections/graph_names.h"
#include "projections/graph_rows.h"

namespace clawmark {
namespace {

constexpr std::size_t kSlotClaimsMax = 5000;

}  // namespace

EdgeClaim read_edge_claim(Statement& row) {
  const json::object body = parse_object(row.text(2));
  EdgeClaim claim;
  claim.to_type = row.string(0);
  claim.to = row.string(1);
  claim.said = row.time(3);
  claim.at = {get_int(body, "at_ms", claim.said.value)};
  if (const auto until = get_int(body, "until_ms"); until > 0) claim.until = {{until}};
  claim.closes = get_bool(body, "closes");
  claim.confidence = std::clamp(get_double(body, "confidence", 0.8), 0.0, 1.0);
  claim.message = row.integer(4);
  claim.quote = row.string(5);
  claim.entry_id = row.string(6);
  claim.event = row.integer(7);
  return claim;
}

EpisodeClaim read_episode_claim(Statement& row) {
  EpisodeClaim claim;
  claim.body = row.string(0);
  const json::object body = parse_object(claim.body);
  claim.said = row.time(1);
  claim.message = row.integer(2);
  claim.quote = row.string(3);
  claim.event = row.integer(4);
  claim.entry_id = row.string(5);
  claim.title = get_string(body, "title");
  claim.description = words_said(get_string(body, "description"), claim.quote);
  claim.salience = std::clamp(get_double(body, "salience"), 0.0, 1.0);
  claim.nodes = strings_of(body, "nodes");
  return claim;
}

// All decisions that settle the same thing, or end one another, are looked at together.
Status GraphFold::settle_slot_of(const GraphDirt::Key& first) {
  const auto& [agent, holder, type, name] = first;
  struct Link {
    std::string slot, choice, replaces, key;
  };
  std::set<std::string> keys{name}, slots, choices, replaced;
  std::deque<Link> todo;
  const auto take = [&](Statement& row) {
    todo.push_back({row.string(0), row.string(1), row.string(2), row.string(3)});
  };
  CLAWMARK_TRY(tables_.each(
      "SELECT slot, choice, replaces, key FROM graph_claims__g# WHERE agent = ?1 AND holder = ?2 "
      "AND kind = 'node' AND type = ?3 AND key = ?4",
      take, agent, holder, type, name));
  while (!todo.empty() && keys.size() < kSlotClaimsMax) {
    const Link link = std::move(todo.front());
    todo.pop_front();
    keys.insert(link.key);
    if (!link.slot.empty() && slots.insert(link.slot).second) {
      CLAWMARK_TRY(tables_.each(
          "SELECT slot, choice, replaces, key FROM graph_claims__g# WHERE agent = ?1 AND holder = "
          "?2 AND kind = 'node' AND type = ?3 AND slot = ?4 AND slot <> ''",
          take, agent, holder, type, link.slot));
    }
    if (!link.replaces.empty() && replaced.insert(link.replaces).second) {
      CLAWMARK_TRY(tables_.each(
          "SELECT slot, choice, replaces, key FROM graph_claims__g# WHERE agent = ?1 AND holder = "
          "?2 AND kind = 'node' AND type = ?3 AND choice = ?4 AND choice <> ''",
          take, agent, holder, type, link.replaces));
    }
    if (!link.choice.empty() && choices.insert(link.choice).second) {
      CLAWMARK_TRY(tables_.each(
          "SELECT slot, choice, replaces, key FROM graph_claims__g# WHERE agent = ?1 AND holder = "
          "?2 AND kind = 'node' AND type = ?3 AND replaces = ?4 AND replaces <> ''",
          take, agent, holder, type, link.choice));
    }
  }
  if (slots.empty() && replaced.empty()) return Ok{};
  std::vector<NodeClaim> claims;
  std::set<std::string> roots;
  for (const auto& key : keys) {
    CLAWMARK_ASSIGN(const std::string root, root_of({agent, holder, type, key}));
    if (!roots.insert(root).second) continue;
    CLAWMARK_ASSIGN(auto own, node_claims({agent, holder, type, root}));
    for (auto& claim : own) {
      claim.key = root;
      if (!claim.only_status) claims.push_back(std::move(claim));
    }
  }
  for (const auto& [key, state] : settle_slots(std::move(claims))) {
    CLAWMARK_TRY(tables_.run(
        "UPDATE graph_nodes__g# SET valid_from_ms = ?5, valid_to_ms = ?6, superseded_by = ?7, slot "
        "= ?8 WHERE agent = ?1 AND holder = ?2 AND type = ?3 AND key = ?4",
        agent, holder, type, key, state.from, state.to, state.superseded_by, state.slot));
  }
  return Ok{};
}

Status GraphFold::settle_edge_group(const std::string& agent, const std::string& holder,
                                    const std::string& type, const std::string& from_type,
                                    const std::string& from_said, const std::string& slot,
                                    const std::string& to_type, const std::string& to_said) {
  const bool single = is_single_valued(type, from_type, slot);
  CLAWMARK_ASSIGN(const std::string from, root_of({agent, holder, from_type, from_said}));
  CLAWMARK_ASSIGN(const std::string to, root_of({agent, holder, to_type, to_said}));
  CLAWMARK_ASSIGN(auto froms, members_of({agent, holder, from_type, from}));
  CLAWMARK_ASSIGN(auto tos, members_of({agent, holder, to_type, to}));
  // What was written before under a name that now means something else goes too.
  if (from != from_said) froms.push_back(from_said);
  if (to != to_said) tos.push_back(to_said);
  if (single) tos = {""};
  std::vector<EdgeClaim> claims;
  for (const auto& from_key : froms) {
    for (const auto& to_key : tos) {
      CLAWMARK_TRY(tables_.run(
          "DELETE FROM graph_edges__g# WHERE agent = ?1 AND from_key = ?2 AND from_type = ?3 AND "
          "holder = ?4 AND type = ?5 AND slot = ?6 AND (?7 = '' OR (to_key = ?7 AND to_type = ?8))",
          agent, from_key, from_type, holder, type, slot, to_key, to_type));
      CLAWMARK_TRY(tables_.each(
          "SELECT c.to_type, c.to_key, c.body, c.said_ms, c.message, c.quote, m.entry_id, c.seq "
          "FROM graph_claims__g# c JOIN graph_messages__g# m ON m.message = c.message WHERE "
          "c.agent = "
          "?1 AND c.holder = ?2 AND c.kind = 'edge' AND c.type = ?3 AND c.key = ?4 AND c.slot = ?5 "
          "AND (?6 = '' OR (c.to_key = ?6 AND c.to_type = ?7)) AND c.state = 'live'",
          [&](Statement& row) { claims.push_back(read_edge_claim(row)); }, agent, holder, type,
          from_type + "\x1f" + from_key, slot, to_key, to_type));
    }
  }
  for (auto& claim : claims) {
    CLAWMARK_ASSIGN(claim.to, root_of({agent, holder, claim.to_type, claim.to}));
  }
  for (const auto& interval : settle_edges(std::move(claims), single)) {
    if (interval.to_type == from_type && interval.to == from) continue;  // merged into itself
    CLAWMARK_TRY(tables_.run(
        "INSERT INTO graph_edges__g#(agent, holder, from_type, from_key, type, slot, to_type, "
        "to_key, from_ms, until_ms, confidence, last_ms, message, quote, seq, until_seq) "
        "VALUES(?1, "
        "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        agent, holder, from_type, from, type, slot, interval.to_type, interval.to, interval.from,
        interval.until, interval.confidence, interval.last, interval.message, interval.quote,
        interval.event, interval.until_event));
  }
  return Ok{};
}

Status GraphFold::settle_episode(const GraphDirt::Key& key) {
  const auto& [agent, holder, type, name] = key;
  std::vector<EpisodeClaim> claims;
  CLAWMARK_TRY(tables_.each(
      "SELECT c.body, c.said_ms, c.message, c.quote, c.seq, m.entry_id FROM graph_claims__g# c "
      "JOIN "
      "graph_messages__g# m ON m.message = c.message WHERE c.agent = ?1 AND c.holder = ?2 AND "
      "c.kind = 'episode' AND c.type = ?3 AND c.key = ?4 AND c.state = 'live'",
      [&](Statement& row) { claims.push_back(read_episode_claim(row)); }, agent, holder, type,
      name));
  const auto episodes = settle_episodes(std::move(claims));
  json::array times;
  for (const auto& episode : episodes) times.emplace_back(episode.occurred.value);
  CLAWMARK_TRY(tables_.run(
      "DELETE FROM graph_episodes__g# WHERE agent = ?1 AND holder = ?2 AND type = ?3 AND key = ?4 "
      "AND occurred_ms NOT IN (SELECT value FROM json_each(?5))",
      agent, holder, type, name, to_text(json::value(times))));
  for (const auto& episode : episodes) {
    json::array list;
    for (const auto& node : episode.nodes) list.emplace_back(node);
    CLAWMARK_TRY(tables_.run(
        "INSERT INTO graph_episodes__g#(agent, holder, type, key, title, description, salience, "
        "occurred_ms, nodes, message, quote, seq) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
        "?11, ?12) ON CONFLICT DO UPDATE SET title = excluded.title, description = "
        "excluded.description, salience = excluded.salience, nodes = excluded.nodes, message = "
        "excluded.message, quote = excluded.quote, seq = excluded.seq",
        agent, holder, type, name, episode.title, episode.description, episode.salience,
        episode.occurred, to_text(json::value(list)), episode.message, episode.quote,
        episode.event));
  }
  return Ok{};
}

// A name means something else now: what was said of relations from or to it is settled again.
Status GraphFold::redo_edges_of(const std::string& agent, const std::string& holder,
                                const std::string& type, const std::string& key) {
  const auto take = [&](Statement& row) {
    const std::string from = row.string(1);
    const auto mark = from.find('\x1f');
    dirt_.edges.insert({agent, holder, row.string(0), from.substr(0, mark), from.substr(mark + 1),
                        row.string(2), row.string(3), row.string(4)});
  };
  CLAWMARK_TRY(tables_.each(
      "SELECT type, key, slot, to_type, to_key FROM graph_claims__g# WHERE agent = ?1 AND holder = "
      "?2 AND kind = 'edge' AND (key = ?3 OR (to_type = ?4 AND to_key = ?5))",
      take, agent, holder, type + "\x1f" + key, type, key));
  return Ok{};
}

}  // namespace clawmark
