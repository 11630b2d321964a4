// The closed lists of the graph, and the check of its evidence.

#include <algorithm>
#include <array>

#include "models/graph.h"

namespace clawmark {
namespace {

constexpr std::array<std::string_view, 8> kNodeTypes = {
    "project", "component", "decision", "task", "person", "constraint", "concept", "file"};
constexpr std::array<std::string_view, 13> kEdgeTypes = {
    "DECIDED_BY", "DEPENDS_ON",  "AFFECTS",  "IMPLEMENTS", "CREATED", "COMPLETED",  "BLOCKED_BY",
    "REFERENCES", "CONTRADICTS", "SUPPORTS", "SUPERSEDES", "PART_OF", "ASSIGNED_TO"};
constexpr std::array<std::string_view, 6> kEpisodeTypes = {"decision",     "plan_change", "blocker",
                                                           "breakthrough", "completion",  "error"};

template <class List>
bool holds(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// One item of the answer under the check of facts: `says` is what its evidence must support (its
// own words; the ends of an edge are things of their own, checked as such).
template <class Item>
void verify_item(Item& item, std::string says, std::span<const WindowMessage> window) {
  ExtractedFact fact;
  fact.value = std::move(says);
  fact.evidence = item.evidence;
  verify_evidence({&fact, 1}, window);
  item.verified = fact.verified;
  item.why = std::move(fact.why);
  if (item.verified) item.evidence = std::move(fact.evidence);
}

}  // namespace

bool is_node_type(std::string_view type) {
  return holds(kNodeTypes, type);
}
bool is_edge_type(std::string_view type) {
  return holds(kEdgeTypes, type);
}
bool is_episode_type(std::string_view type) {
  return holds(kEpisodeTypes, type);
}

void verify_graph(GraphAnswer& answer, std::span<const WindowMessage> window) {
  for (auto& node : answer.nodes) verify_item(node, node.name, window);
  for (auto& edge : answer.edges) verify_item(edge, {}, window);
  for (auto& episode : answer.episodes) verify_item(episode, episode.title, window);
  for (auto& merge : answer.merges) verify_item(merge, {}, window);
}

}  // namespace clawmark
