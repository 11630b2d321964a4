#include "projections/graph_then.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "projections/graph_fold.h"
#include "projections/graph_rows.h"

namespace clawmark {
namespace {

constexpr std::size_t kRowsPerEdge = 4;  // relations end and begin again
constexpr int kMergeHopsMax = 8;

// Names of one type of one holder, and which other name each stands under.
class Roots {
 public:
  static Result<Roots> read(Database& db, const GraphScope& scope, const std::string& holder,
                            const std::string& type) {
    Roots roots;
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT from_key, into_key FROM graph_merges WHERE agent = ?1 AND holder = ?2 AND type = "
        "?3 AND undone = 0 ORDER BY from_key, source = 'user' DESC, at_ms DESC, into_key",
        [&](Statement& row) { roots.into_.emplace(row.string(0), row.string(1)); }, scope.agent,
        holder, type));
    return roots;
  }
  std::string of(const std::string& key) const {
    std::string at = key;
    for (int hop = 0; hop < kMergeHopsMax; ++hop) {
      const auto next = into_.find(at);
      if (next == into_.end() || next->second == key) break;  // a ring: where it began
      at = next->second;
    }
    return at;
  }
  std::vector<std::string> names(const std::string& root) const {
    std::vector<std::string> out{root};
    for (const auto& [from, into] : into_) {
      if (from != root && of(from) == root) out.push_back(from);
    }
    return out;
  }

 private:
  std::map<std::string, std::string> into_;
};

struct Group {
  std::string type, from_type, from, slot, to_type, to;
  auto operator<=>(const Group&) const = default;
};

// Which relations a thing may have had: each claim of that time belongs to an interval that is
// kept, and that began no later.
Result<std::set<Group>> groups_of(Database& db, const GraphScope& scope, const std::string& holder,
                                  const std::string& type, const std::string& key, bool from_it,
                                  std::size_t limit) {
  static const std::string kColumns =
      "SELECT type, from_type, from_key, slot, to_type, to_key FROM graph_edges WHERE agent = ?1 "
      "AND holder = ?2 AND ";
  static const std::string kThen =
      " AND from_ms <= ?5 AND seq <= ?6 ORDER BY from_ms DESC, type, from_type, from_key, to_type, "
      "to_key LIMIT ?7";
  std::set<Group> groups;
  CLAWMARK_TRY(for_rows(
      db,
      kColumns + (from_it ? "from_type = ?3 AND from_key = ?4" : "to_type = ?3 AND to_key = ?4") +
          kThen,
      [&](Statement& row) {
        Group group{row.string(0), row.string(1), row.string(2),
                    row.string(3), row.string(4), row.string(5)};
        if (is_single_valued(group.type, group.from_type, group.slot)) {
          group.to_type.clear();
          group.to.clear();
        }
        groups.insert(std::move(group));
      },
      scope.agent, holder, type, key, scope.last_said(), scope.last_seq(), limit * kRowsPerEdge));
  return groups;
}

Result<std::vector<EdgeInterval>> intervals_then(Database& db, const GraphScope& scope,
                                                 const std::string& holder, const Group& group) {
  std::vector<EdgeClaim> claims;
  CLAWMARK_ASSIGN(const auto froms, names_of_thing(db, scope, holder, group.from_type, group.from));
  for (const auto& from : froms) {
    CLAWMARK_TRY(for_rows(
        db,
        "SELECT c.to_type, c.to_key, c.body, c.said_ms, c.message, c.quote, m.entry_id, c.seq FROM "
        "graph_claims c JOIN graph_messages m ON m.message = c.message WHERE c.agent = ?1 AND "
        "c.holder = ?2 AND c.kind = 'edge' AND c.type = ?3 AND c.key = ?4 AND c.slot = ?5 AND "
        "c.state = 'live' AND c.said_ms <= ?6 AND c.seq <= ?7",
        [&](Statement& row) { claims.push_back(read_edge_claim(row)); }, scope.agent, holder,
        group.type, group.from_type + "\x1f" + from, group.slot, scope.last_said(),
        scope.last_seq()));
  }
  std::map<std::string, Roots> roots;
  for (auto& claim : claims) {
    if (!roots.contains(claim.to_type)) {
      CLAWMARK_ASSIGN(auto read, Roots::read(db, scope, holder, claim.to_type));
      roots.emplace(claim.to_type, std::move(read));
    }
    claim.to = roots.at(claim.to_type).of(claim.to);
  }
  const bool single = group.to.empty();
  if (!single) {
    std::erase_if(claims, [&](const EdgeClaim& claim) {
      return claim.to != group.to || claim.to_type != group.to_type;
    });
  }
  return settle_edges(std::move(claims), single);
}

}  // namespace

Result<std::vector<std::string>> names_of_thing(Database& db, const GraphScope& scope,
                                                const std::string& holder, const std::string& type,
                                                const std::string& key) {
  CLAWMARK_ASSIGN(const Roots roots, Roots::read(db, scope, holder, type));
  return roots.names(key);
}

Result<std::vector<GraphEdgeRow>> edges_then(Database& db, const GraphScope& scope,
                                             const std::string& holder, const std::string& type,
                                             const std::string& key, bool from_it, bool ended,
                                             std::size_t limit) {
  CLAWMARK_ASSIGN(const auto groups, groups_of(db, scope, holder, type, key, from_it, limit));
  const TimeMs at = scope.last_said();
  std::vector<GraphEdgeRow> edges;
  for (const Group& group : groups) {
    CLAWMARK_ASSIGN(const auto intervals, intervals_then(db, scope, holder, group));
    for (const EdgeInterval& interval : intervals) {
      const bool touches = from_it || (interval.to_type == type && interval.to == key);
      const bool to_itself = interval.to_type == group.from_type && interval.to == group.from;
      const bool over = interval.until && *interval.until <= at;
      if (!touches || to_itself || interval.from > at || (over && !ended)) continue;
      GraphEdgeRow edge;
      edge.type = group.type;
      edge.from_type = group.from_type;
      edge.from = group.from;
      edge.to_type = interval.to_type;
      edge.to = interval.to;
      edge.slot = group.slot;
      edge.from_time = interval.from;
      if (over) {
        edge.until = interval.until;
        edge.until_event = interval.until_event.value_or(0);
      }
      edge.confidence = interval.confidence;
      edge.last = interval.last;
      edge.message = interval.message;
      edge.quote = interval.quote;
      edges.push_back(std::move(edge));
    }
  }
  return edges;
}

Result<std::vector<GraphEpisodeRow>> episodes_then(Database& db, const GraphScope& scope,
                                                   const std::string& holder,
                                                   const std::string& type,
                                                   const std::string& key) {
  std::vector<EpisodeClaim> claims;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT c.body, c.said_ms, c.message, c.quote, c.seq, m.entry_id FROM graph_claims c JOIN "
      "graph_messages m ON m.message = c.message WHERE c.agent = ?1 AND c.holder = ?2 AND c.kind = "
      "'episode' AND c.type = ?3 AND c.key = ?4 AND c.state = 'live' AND c.said_ms <= ?5 AND c.seq "
      "<= ?6",
      [&](Statement& row) { claims.push_back(read_episode_claim(row)); }, scope.agent, holder, type,
      key, scope.last_said(), scope.last_seq()));
  std::vector<GraphEpisodeRow> rows;
  for (auto& episode : settle_episodes(std::move(claims))) {
    GraphEpisodeRow row;
    row.type = type;
    row.title = std::move(episode.title);
    row.description = std::move(episode.description);
    row.salience = episode.salience;
    row.occurred = episode.occurred;
    row.nodes.assign(episode.nodes.begin(), episode.nodes.end());
    row.message = episode.message;
    row.quote = std::move(episode.quote);
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::map<std::string, SlotState>> slots_then(Database& db, const GraphScope& scope,
                                                    const std::string& holder,
                                                    const std::string& type) {
  CLAWMARK_ASSIGN(const Roots roots, Roots::read(db, scope, holder, type));
  std::vector<NodeClaim> claims;
  CLAWMARK_TRY(for_rows(
      db,
      "SELECT c.key, c.body, c.slot, c.choice, c.replaces, c.said_ms, c.message, c.quote, "
      "m.entry_id FROM graph_claims c JOIN graph_messages m ON m.message = c.message WHERE c.agent "
      "= ?1 AND c.holder = ?2 AND c.kind = 'node' AND c.type = ?3 AND c.state = 'live' AND "
      "c.said_ms <= ?4 AND c.seq <= ?5",
      [&](Statement& row) {
        NodeClaim claim = read_node_claim(row);
        claim.key = roots.of(claim.key);
        if (!claim.only_status) claims.push_back(std::move(claim));
      },
      scope.agent, holder, type, scope.last_said(), scope.last_seq()));
  return settle_slots(std::move(claims));
}

}  // namespace clawmark
