#pragma once
// The world model: things, relations with the times in which they held, and what happened, computed
// from what people said (graph.completed) in the order in which it was said. Each thing belongs to
// those who heard of it (holder); a reader sees the holders that its wall opens, laid over each
// other: the newest word of any of them counts.
//
// Views: graph_nodes, graph_edges, graph_episodes, graph_aliases, graph_claims (each statement,
// with its state live|withdrawn|forgotten), graph_evidence, graph_merges, graph_counters (what was
// dropped, by reason).

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/limits_world.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

// Whose things, and as of when.
struct GraphScope {
  std::string agent;
  std::vector<std::string> holders;
  TimeMs now;                                 // for decay
  std::optional<TimeMs> at;                   // only what had been said by then; else everything
  std::optional<Seq> through = std::nullopt;  // and only what the log knew at this position
  double half_life_days = kDecayHalfLifeDays;
  bool is_then() const { return at || through; }
  // What was said later, or recorded later, is left out.
  TimeMs last_said() const { return at && !through ? *at : TimeMs{INT64_MAX}; }
  std::int64_t last_seq() const { return through ? through->value : INT64_MAX; }
};

// Where a line comes from.
struct Citation {
  std::int64_t message = 0;
  std::string entry_id, session_id, session_key, speaker;
  TimeMs said;
};

struct GraphNodeRow {
  std::string type, key, name, description, status, reason, slot, choice, replaces;
  std::vector<std::string> aliases, holders;
  double confidence = 0, effective = 0;
  bool stated = false;
  std::optional<TimeMs> due, valid_to;
  TimeMs first, last, status_at, valid_from;
  std::string superseded_by;               // key
  std::int64_t mentions = 0, message = 0;  // the newest that spoke of it
  std::string quote;
  std::int64_t description_message = 0, reason_message = 0;  // where those were said
};

struct GraphEdgeRow {
  std::string type, from_type, from, to_type, to, slot;  // keys
  TimeMs from_time;
  std::optional<TimeMs> until;
  std::int64_t until_event = 0;  // that told of its end; 0: none did
  double confidence = 0;
  TimeMs last;
  std::int64_t message = 0;
  std::string quote;
};

struct GraphEpisodeRow {
  std::string type, title, description;
  double salience = 0;
  TimeMs occurred;
  std::vector<std::string> nodes;
  std::int64_t message = 0;
  std::string quote;
};

struct GraphTextRow {      // prose or state of a chunk
  std::int64_t event = 0;  // graph.completed
  std::string session_id, text, model, method;
  int depth = 0;                      // 0: of a chunk of messages
  std::vector<std::int64_t> sources;  // events of the summaries below it
  TimeMs said;
  std::int64_t message = 0;
};

// How fast confidence fades: base × 2^(−age / (half-life × factor of the type)). What was stated
// never does; ages clamp at 0.
double decay_factor(std::string_view type);
double effective_node_confidence(std::string_view type, double confidence, bool stated, TimeMs last,
                                 TimeMs now, double half_life_days = kDecayHalfLifeDays);

// After so many half-lives without a word it is flagged as stale.
double half_lives_until_stale(std::string_view type, double confidence, bool stated);

struct NodeQuery {
  std::string type;                   // empty: all
  std::vector<std::string> statuses;  // empty: all
  bool current_only = false;          // without what was superseded
  std::size_t limit = 100;
};
// Newest first. Things of several holders in sight are one row. A task that was blocked is "active"
// again once all that it was blocked by is over, whoever said so.
Result<std::vector<GraphNodeRow>> list_nodes(Database& db, const GraphScope& scope,
                                             const NodeQuery& query);
// Things of one type that may be out of date: not over, and effectively less sure than
// kStaleConfidence. The last confirmed first.
Result<std::vector<GraphNodeRow>> stale_nodes(Database& db, const GraphScope& scope,
                                              std::string_view type, std::size_t limit);
// Things of that name or alias, of any type; exact keys before aliases before prefixes.
Result<std::vector<GraphNodeRow>> find_nodes(Database& db, const GraphScope& scope,
                                             std::string_view name, std::size_t limit);
Result<std::optional<GraphNodeRow>> get_node(Database& db, const GraphScope& scope,
                                             std::string_view type, std::string_view key);
// Relations of a thing in either direction; ended ones too when asked.
Result<std::vector<GraphEdgeRow>> edges_of(Database& db, const GraphScope& scope,
                                           std::string_view type, std::string_view key, bool ended,
                                           std::size_t limit);
// What a task waits for and who does it, still in force: type and name of the other end, newest
// first. What is done blocks nothing.
Result<std::vector<std::pair<std::string, std::string>>> ties_of_task(Database& db,
                                                                      const GraphScope& scope,
                                                                      const GraphNodeRow& task);
// Things that share words with a text, best first.
Result<std::vector<GraphNodeRow>> search_nodes(Database& db, const GraphScope& scope,
                                               std::string_view text, std::size_t limit);

struct EpisodeQuery {
  double salience_min = 0;
  std::string type;  // empty: all
  std::string text;  // not empty: those that share words with it
  std::size_t limit = 20;
};
// Newest first.
Result<std::vector<GraphEpisodeRow>> list_episodes(Database& db, const GraphScope& scope,
                                                   const EpisodeQuery& query);

// Breadth first, each thing once (rings end), at most `nodes_max` things.
struct GraphWalk {
  struct Step {
    int depth = 0;
    GraphNodeRow node;
  };
  std::vector<Step> nodes;  // by depth, then name
  std::vector<GraphEdgeRow> edges;
  bool cut = false;  // there is more
};
Result<GraphWalk> walk_graph(Database& db, const GraphScope& scope, const GraphNodeRow& start,
                             int depth, std::size_t nodes_max);

// kind "prose" or "state", newest first.
Result<std::vector<GraphTextRow>> graph_texts(Database& db, const GraphScope& scope,
                                              std::string_view kind, std::size_t limit);
Result<std::optional<GraphTextRow>> graph_text(Database& db, const GraphScope& scope,
                                               std::string_view kind, std::int64_t event);

Result<std::map<std::int64_t, Citation>> citations(Database& db,
                                                   const std::set<std::int64_t>& messages);

// Everything said of one thing, newest first, with its state: for "why".
struct GraphClaimRow {
  std::int64_t event = 0, message = 0;
  std::string kind, state, quote, body;
  TimeMs said;
};
Result<std::vector<GraphClaimRow>> claims_of(Database& db, const GraphScope& scope,
                                             std::string_view type, std::string_view key,
                                             std::size_t limit);

}  // namespace clawmark
