#pragma once
// One batch of the graph fold. Inside projections/ only.
//
// A claim (one item of graph.completed) lives while any of its evidence does: a message that stands
// (projections/standing.h) and whose passage nobody had forgotten. What rests on claims is settled
// again whenever one of them comes, goes or returns, so the order of reading does not matter.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "log/event.h"
#include "log/graph_events.h"
#include "projections/graph_settle.h"
#include "projections/standing.h"
#include "projections/tables.h"

namespace clawmark {

// What must be settled again after a batch of changes.
struct GraphDirt {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;  // agent, holder,
                                                                               // type, key
  std::set<Key> nodes;
  std::set<Key> episodes;
  // Edges: agent, holder, type of edge, from_type, from_key, slot, to_type, to_key.
  std::set<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string,
                      std::string, std::string>>
      edges;
};

class GraphFold {
 public:
  GraphFold(Database& db, int generation)
      : tables_(db, "graph", generation), ledger_(tables_, true) {}

  Status fold(const Event& event);
  Result<bool> touched_by(Seq event);
  // Settles what the events changed. To be called after the last of a batch.
  Status finish() { return settle_dirt(); }

 private:
  struct Item;

  Status message_observed(const Event& event);
  Status message_sighted(const Event& event);
  Status extraction(const Event& event);
  Status forgotten(const Event& event);
  Status graph(const Event& event);
  Status merged(const Event& event, bool undone);
  Status dissolved(const Event& event);
  Status explored(const Event& event);
  Status take_items(const Event& event, const char* list, const char* kind);
  Status take_prose(const Event& event, const char* member);
  Result<std::optional<Item>> read_item(const Event& event, const char* kind,
                                        const json::object& item);
  Status insert(const Event& event, const Item& item);
  Status note_merge(const std::string& agent, const Item& item, TimeMs at, bool undone,
                    const char* source);
  Status count(std::string_view what, std::int64_t times = 1);
  Status count_dropped(const Event& event);

  Status restand(const std::vector<Seq>& messages);
  // Sets a claim's state, time and newest evidence; adds what rests on it to the dirt.
  Status settle_claim(std::int64_t claim);
  // What became of a passage of a message. Forgotten: it holds what a forgotten fact rests on. Of a
  // message that was forgotten as the source of a fact without a passage of its own, all is set
  // aside: nobody can tell which sentence it was.
  enum class Passage { kStands, kSetAside, kForgotten };
  Result<Passage> passage(std::int64_t message, const std::string& quote);
  Status settle_dirt();
  Status settle_one_node(const GraphDirt::Key& key);
  Status settle_slot_of(const GraphDirt::Key& key);
  Status settle_edge_group(const std::string& agent, const std::string& holder,
                           const std::string& type, const std::string& from_type,
                           const std::string& from_key, const std::string& slot,
                           const std::string& to_type, const std::string& to_key);
  Status settle_episode(const GraphDirt::Key& key);
  Result<std::string> root_of(const GraphDirt::Key& key);
  // All names that a root stands for, itself first.
  Result<std::vector<std::string>> members_of(const GraphDirt::Key& root);
  Result<std::vector<NodeClaim>> node_claims(const GraphDirt::Key& root);
  Status write_node(const GraphDirt::Key& key, const NodeState& state);
  Status redo_edges_of(const std::string& agent, const std::string& holder, const std::string& type,
                       const std::string& key);

  Tables tables_;
  StandingLedger ledger_;
  GraphDirt dirt_;
};

// A node claim as it is kept, from a row "key, body, slot, choice, replaces, said_ms, message,
// quote, entry_id".
NodeClaim read_node_claim(Statement& row);
// A relation, from "to_type, to_key, body, said_ms, message, quote, entry_id, seq".
EdgeClaim read_edge_claim(Statement& row);
// A telling, from "body, said_ms, message, quote, seq, entry_id".
EpisodeClaim read_episode_claim(Statement& row);

}  // namespace clawmark
