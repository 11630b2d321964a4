// Names of the closed lists, and the check of evidence.

#include <algorithm>

#include "base/graph_types.h"
#include "base/utf8.h"
#include "models/evidence.h"
#include "models/graph.h"
#include "models/made_up.h"
#include "models/summary.h"

namespace clawmark {
namespace {

constexpr std::size_t kStateTokens = 400;  // one paragraph

class Check {
 public:
  explicit Check(std::span<const WindowMessage> window) : window_(window) {
    for (const WindowMessage& message : window) {
      all_ += message.text + "\n";
      SaidWords* heard[] = {&everyone_, is_person(message) ? &people_ : nullptr};
      for (SaidWords* words : heard) {
        if (words == nullptr) continue;
        words->add(message.text);
        words->add(message.speaker);
      }
      if (is_person(message)) speakers_.push_back(fold_case(trim(message.speaker)));
    }
  }

  // `says`: what the evidence of an item must support, one after the other.
  template <class Item>
  void item(Item& item, std::initializer_list<std::string_view> says) const {
    item.verified = true;
    for (const std::string_view text : says) {
      if (item.verified) supported(item, text);
    }
  }

  // A member that holds what no person said is emptied.
  void member(std::string& text, GraphAnswer& answer) const {
    if (text.empty() || people_.made_up(text).empty()) return;
    text.clear();
    answer.drop("made_up");
  }
  void members(std::vector<std::string>& texts, GraphAnswer& answer) const {
    for (auto& text : texts) member(text, answer);
    std::erase(texts, "");
  }

  // Quoted under a person's name, so it must be that person's words.
  template <class Item>
  void description(Item& item, GraphAnswer& answer) const {
    if (item.description.empty() || !item.verified) return;
    const std::string wanted = collapse_space(fold_case(item.description));
    const std::string* longest = nullptr;
    for (const Evidence& evidence : item.evidence) {
      if (collapse_space(fold_case(evidence.quote)).find(wanted) != std::string::npos) return;
      if (longest == nullptr || evidence.quote.size() > longest->size()) longest = &evidence.quote;
    }
    const bool made_up = !people_.made_up(item.description).empty();
    item.description = longest == nullptr ? std::string() : collapse_space(*longest);
    answer.drop(made_up ? "made_up" : "not_said_so");
  }

  void state(GraphAnswer& answer) const {
    if (answer.state.empty()) return;
    const bool fine = check_summary(answer.state, all_, kStateTokens).empty() &&
                      everyone_.made_up(answer.state).empty();
    if (fine) return;
    answer.state.clear();
    answer.drop("made_up");
  }

 private:
  // The check of facts; then nothing may be named that no person named.
  template <class Item>
  void supported(Item& item, std::string_view says) const {
    const std::string name = fold_case(trim(says));
    const bool speaker = std::find(speakers_.begin(), speakers_.end(), name) != speakers_.end();
    ExtractedFact fact;
    if (!speaker) fact.value = says;
    fact.evidence = item.evidence;
    verify_evidence({&fact, 1}, window_);
    item.verified = fact.verified;
    item.why = std::move(fact.why);
    if (!item.verified) return;
    item.evidence = std::move(fact.evidence);
    if (const std::string word = people_.made_up(says); !word.empty()) {
      item.verified = false;
      item.why = "nobody said a name or number in it";
    }
  }

  std::span<const WindowMessage> window_;
  std::string all_;
  SaidWords people_, everyone_;
  std::vector<std::string> speakers_;
};

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
  const Check check(window);
  for (auto& node : answer.nodes) {
    check.item(node, {node.name});
    check.description(node, answer);
    for (std::string* text : {&node.reason, &node.slot, &node.choice, &node.replaces}) {
      check.member(*text, answer);
    }
    check.members(node.aliases, answer);
  }
  for (auto& edge : answer.edges) {
    check.item(edge, {edge.from, edge.to});
    check.member(edge.slot, answer);
  }
  for (auto& episode : answer.episodes) {
    check.item(episode, {episode.title});
    check.description(episode, answer);
    check.members(episode.nodes, answer);
  }
  for (auto& merge : answer.merges) check.item(merge, {""});
  check.state(answer);
}

}  // namespace clawmark
