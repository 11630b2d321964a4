#pragma once
// A world with the graph folded beside the rest, and short ways to say what a graph answer said.

#include "log/graph_events.h"
#include "projections/graph.h"
#include "projections/graph_projection.h"
#include "world.h"

namespace clawmark::testing_world {

inline json::object evidence_item(json::object item, const std::string& holder, Seq message,
                                  const std::string& quote) {
  item["holder"] = holder;
  item["verified"] = true;
  item["evidence"] = json::array{json::object{{"message", message.value}, {"quote", quote}}};
  if (item.if_contains("confidence") == nullptr) item["confidence"] = 0.9;
  return item;
}

struct GraphWorld : World {
  GraphWorld() {
    graph = make_graph_projection();
    Projection* list[] = {graph.get()};
    EXPECT_TRUE(ensure_projections(db(), list).ok());
  }

  json::object node(const std::string& type, const std::string& name, Seq message,
                    json::object more = {}, const std::string& quote = "said so") const {
    more["type"] = type;
    more["name"] = name;
    return evidence_item(std::move(more), holder, message, quote);
  }
  json::object edge(const std::string& type, const std::string& from_type, const std::string& from,
                    const std::string& to_type, const std::string& to, Seq message,
                    json::object more = {}, const std::string& quote = "said so") const {
    more["type"] = type;
    more["from_type"] = from_type;
    more["from"] = from;
    more["to_type"] = to_type;
    more["to"] = to;
    return evidence_item(std::move(more), holder, message, quote);
  }
  json::object episode(const std::string& type, const std::string& title, Seq message,
                       double salience = 0.8, const std::string& quote = "said so") const {
    json::object more{{"type", type}, {"title", title}, {"salience", salience}};
    return evidence_item(std::move(more), holder, message, quote);
  }

  // A graph.completed event of these parts: "nodes", "edges", "episodes", "merges", "prose", ….
  Seq completed(json::object payload, const std::vector<Seq>& covered = {}) {
    json::array list;
    for (const Seq message : covered) list.push_back(message.value);
    payload["messages"] = std::move(list);
    payload["session_id"] = "s1";
    payload["holder"] = holder;
    NewEvent event;
    event.type = event_type::kGraphCompleted;
    event.scope.agent = agent;
    event.dedupe_key = "graph:test:" + std::to_string(++events_);
    event.occurred = day(0);
    event.payload = std::move(payload);
    return append(std::move(event));
  }
  Seq nodes(std::vector<json::object> items) { return completed({{"nodes", array(items)}}); }
  Seq edges(std::vector<json::object> items) { return completed({{"edges", array(items)}}); }
  static json::array array(std::vector<json::object>& items) {
    json::array out;
    for (auto& item : items) out.push_back(std::move(item));
    return out;
  }

  void fold_graph(std::size_t batch = 100) {
    const int generation = live_generation(db(), "graph").value();
    for (;;) {
      const auto passed = fold_step(db(), *graph, generation, batch, clock.now());
      ASSERT_TRUE(passed.ok()) << describe(passed.error());
      if (*passed == 0) return;
    }
  }
  GraphScope scope(TimeMs now = day(365)) const { return {agent, {holder}, now, {}}; }
  // "type name" of all that is visible, by type and name.
  std::vector<std::string> things() {
    fold_graph();
    return rows("SELECT type || ' ' || name FROM graph_nodes WHERE visible = 1 ORDER BY type, key");
  }
  std::string status_of(const std::string& name, const GraphScope& as) {
    fold_graph();
    const auto found = find_nodes(db(), as, name, 5);
    return found.ok() && found->size() == 1 ? found->front().status : "?";
  }
  std::string graph_digest() {
    fold_graph();
    return digest(*graph);
  }
  std::int64_t counter(const std::string& name) {
    fold_graph();
    const auto found = rows("SELECT value FROM graph_counters WHERE name = '" + name + "'");
    return found.empty() ? 0 : std::stoll(found[0]);
  }

  std::unique_ptr<Projection> graph;

 private:
  int events_ = 0;
};

}  // namespace clawmark::testing_world
