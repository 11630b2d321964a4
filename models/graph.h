#pragma once
// What a conversation says about the world: things and their status, relations, what happened.
// Built in by rules, or asked of an endpoint in one call that gives prose and JSON. Nothing counts
// without evidence: a message of a person and a quote that stands in it.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "models/model.h"

namespace clawmark {

// A thing was named, or something was said of it.
struct GraphNode {
  std::string type;         // project, component, decision, task, person, constraint, concept, file
  std::string name;         // as people say it: "E-SEAT-409"
  std::string description;  // one sentence
  std::string status;       // of a task: active, blocked, pending, done, cancelled; else empty
  std::string reason;       // of a decision: why
  std::string slot;         // of a decision: what it settles ("payment provider"); one at a time
  std::string choice;       // of a decision: what was chosen ("Stripe")
  std::string replaces;     // of a decision: what it ends ("Stripe")
  std::vector<std::string> aliases;
  double confidence = 0;
  bool stated = false;        // asked to be kept ("remember that …"): never decays
  bool only_status = false;   // says something of a thing that must be known already
  std::optional<TimeMs> due;  // a date in it
  std::vector<Evidence> evidence;
  bool verified = false;
  std::string why;
};

struct GraphEdge {
  std::string type;  // DECIDED_BY, DEPENDS_ON, …
  std::string from_type, from, to_type, to;
  std::string slot;             // not empty: one at a time for (from, type, slot)
  bool closes = false;          // it ended then, instead of beginning
  std::optional<TimeMs> at;     // when it began or ended; else when it was said
  std::optional<TimeMs> until;  // with a beginning: when it ended
  double confidence = 0;
  std::vector<Evidence> evidence;
  bool verified = false;
  std::string why;
};

struct GraphEpisode {
  std::string type;  // decision, plan_change, blocker, breakthrough, completion, error
  std::string title, description;
  double salience = 0;  // 0..1, once, when it is written
  std::vector<std::string> nodes;
  std::vector<Evidence> evidence;
  bool verified = false;
  std::string why;
};

// Two names of one thing, as a model proposes.
struct GraphMerge {
  std::string type, from, into;
  std::vector<Evidence> evidence;
  bool verified = false;
  std::string why;
};

struct GraphAnswer {
  std::string prose;  // clean: no JSON, also when the answer was cut; empty for the built-in kind
  std::string state;  // "where we left off", one paragraph; empty for the built-in kind
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  std::vector<GraphEpisode> episodes;
  std::vector<GraphMerge> merges;
  std::size_t dropped = 0;                                      // items, and members of items
  std::map<std::string, std::size_t, std::less<>> dropped_for;  // the same by reason
  bool cut = false;
  Usage usage;

  // Reasons: malformed, unknown_node_type, unknown_edge_type, unknown_episode_type, bad_merge,
  // no_json, too_many, made_up (what nobody said), not_said_so (a description in a model's words).
  void drop(std::string_view reason, std::size_t count = 1) {
    if (count == 0) return;
    dropped += count;
    dropped_for[std::string(reason)] += count;
  }
};

class GraphExtractor {
 public:
  virtual ~GraphExtractor() = default;
  virtual std::string model() const = 0;
  virtual std::string prompt_version() const = 0;
  virtual bool is_local() const = 0;
  virtual Result<GraphAnswer> extract_local(std::span<const WindowMessage> window,
                                            std::string_view zone) = 0;
  virtual HttpRequest plan(std::span<const WindowMessage> window, std::string_view zone) const = 0;
  // The same with less prose: the last answer's was no good.
  virtual HttpRequest plan_shorter(std::span<const WindowMessage> window,
                                   std::string_view zone) const {
    return plan(window, zone);
  }
  virtual Result<GraphAnswer> interpret(const Result<HttpResponse>& response,
                                        std::span<const WindowMessage> window) const = 0;
};

bool is_node_type(std::string_view type);
bool is_edge_type(std::string_view type);
bool is_episode_type(std::string_view type);

// As verify_evidence() for facts: takes out quotes that do not stand in a person's message, and
// what is left without any is not verified; nor is what names somebody or something, or holds a
// number, that no person said. A description that does not stand in its evidence gives way to the
// words that do; other members that hold what nobody said are emptied, as is such a state
// paragraph. Calling it again changes nothing.
void verify_graph(GraphAnswer& answer, std::span<const WindowMessage> window);

std::unique_ptr<GraphExtractor> make_builtin_graph_extractor();
std::unique_ptr<GraphExtractor> make_endpoint_graph_extractor(const EndpointOptions& options);

}  // namespace clawmark
