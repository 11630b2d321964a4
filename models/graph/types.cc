// Names of the closed lists, and the check of evidence.

#include "base/graph_types.h"
#include "models/graph.h"

namespace clawmark {
namespace {

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
